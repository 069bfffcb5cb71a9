"""Imported by each Ray worker at its start, before it knows what it will run. Must stay light."""

from caravan_runner import compat

compat.forbid_installation()
