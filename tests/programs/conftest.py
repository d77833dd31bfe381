"""Exclude the scripts from collection: `run.py` runs each library in a separate process."""

collect_ignore_glob = ["scripts/*", "run.py"]
