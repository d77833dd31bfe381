"""The pages of this folder are tested; its programs belong to Sphinx."""

collect_ignore_glob = ["*.py"]
