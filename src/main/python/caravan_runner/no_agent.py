"""Stands in for Ray's dashboard agent: python no_agent.py SESSION_DIR NODE_ID

The raylet starts the agent, waits until its three ports are told in files, and ends when it ends. A Ray without its
dashboard's packages tells -1 for each, "not in use", and so does this, without the second of processor time that the agent
needs, and without the port that the agents of two Rays on one machine would both want.
"""

import os
import sys
import time

PORTS = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port")


def main(session, node):
    raylet = os.getppid()
    for name in PORTS:
        path = os.path.join(session, f"{name}_{node}")
        with open(path + ".part", "w", encoding="ascii") as f:
            f.write("-1")
        os.rename(path + ".part", path)
    while os.getppid() == raylet:
        time.sleep(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
