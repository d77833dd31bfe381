"""The scripts are run by `run.py`, each library in a process of its own, and not imported here."""

collect_ignore_glob = ["scripts/*", "run.py"]
