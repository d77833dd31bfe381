"""Exclude this folder's programs from collection."""

collect_ignore_glob = ["*.py"]
