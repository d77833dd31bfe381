"""The programs of this folder are not tests."""

collect_ignore_glob = ["*.py"]
