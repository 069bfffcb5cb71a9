"""The Python side of Caravan: checks recipes and runs one shard attempt with Data-Juicer on Ray."""
