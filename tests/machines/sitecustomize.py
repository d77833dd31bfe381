"""Make LLVM target another processor in every process of ``make machines``."""

import os
from contextlib import suppress

from processors import MACHINES

with suppress(KeyError, ImportError):
    cpu, without = MACHINES[os.environ["WENGERT_TESTED_MACHINE"]][3:]
    if cpu:
        from llvmlite import binding

        features = binding.get_host_cpu_features()
        features.update((name, False) for name in features if name.startswith(without))
        binding.get_host_cpu_name = lambda: cpu
        binding.get_host_cpu_features = lambda: features
