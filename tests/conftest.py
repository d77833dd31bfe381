"""What holds for all tests."""

import gc


def pytest_collection_finish():
    # thousands of tests are objects themselves: every collection would go through them all
    gc.collect()
    gc.freeze()
