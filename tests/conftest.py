"""What holds for all tests."""

import gc
import os

# programs are looked at between the passes of the compiler
os.environ.setdefault("WENGERT_VERIFY", "1")


def pytest_collection_finish():
    # thousands of tests are objects themselves: every collection would go through them all
    gc.collect()
    gc.freeze()
