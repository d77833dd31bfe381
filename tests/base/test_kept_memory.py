"""Test that the process keeps the memory of large arrays unless told otherwise."""

import subprocess
import sys

import pytest

import wengert as wg

PROGRAM = """
import resource, sys
import numpy as np
import wengert as wg

def faults(steps=4):
    x = wg.ones(1000, 1000, requires_grad=True)
    def step():
        (x * x + x * 2).sum().backward()
        x.grad = None
    step()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(steps):
        step()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / steps

def resident():
    return int(open("/proc/self/statm").read().split()[1])

found = [faults()]
kept = wg.cpu.memory_kept()
if wg.cpu.keep_memory(0):
    found += [wg.cpu.memory_kept() < kept, faults()]
    wg.cpu.keep_memory(256 << 20)
    found += [faults(), wg.cpu.memory_kept() > 4_000_000]
    before = resident()
    wg.cpu.empty_cache()
    found += [before - resident() > 977]
print(found)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
def test_pages_of_a_step_serve_the_next_one():
    def run(**variables):
        # neither the variables of a host nor those of a test run
        ran = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONPATH": ":".join(sys.path), **variables},
        )
        return eval(ran.stdout)

    found = run()
    if len(found) == 1:
        pytest.skip("another allocator")
    by_default, given_back, none, more, kept, emptied = found
    # an array has 977 pages
    assert by_default < 100 and none > 977 and more < 100
    assert given_back and kept and emptied
    # the host's word counts
    assert run(WENGERT_KEEP_MEMORY="0", MALLOC_TRIM_THRESHOLD_="65536")[0] > 977
    assert run(MALLOC_TRIM_THRESHOLD_="65536")[0] > 977


def test_less_than_nothing_is_refused():
    with pytest.raises(ValueError, match="keep_memory"):
        wg.cpu.keep_memory(-1)
