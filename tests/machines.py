"""The tests as on other processors of this family: ``make machines``.

What NumPy, OpenBLAS, the C library and LLVM choose by the processor is chosen as on an older one,
by their environment variables and by what they are told of it. A processor that is newer than this
one cannot be had in this way. ``python tests/machines.py avx2 tests/nn -k norm`` takes one machine
and arguments of pytest.
"""

import os
import subprocess
import sys
import time

import pytest

# names of NumPy's dispatched features differ between its releases
_NEW = ("AVX512",)
_WIDE = (*_NEW, "X86_V4")
_ALL = (*_WIDE, "AVX2", "FMA3", "AVX", "F16C", "FMA4", "XOP", "SSE4", "SSSE3", "POPCNT", "X86_V3")

# For each machine: what NumPy lacks (beginnings of names), OpenBLAS's kernels, what the C library
# lacks, LLVM's processor, and what that lacks (beginnings of names)
MACHINES = {
    "sse": (_ALL, "Prescott", "AVX,AVX2,FMA,FMA4,AVX512F,ERMS", "nehalem", ("avx", "fma", "f16c")),
    "avx": (_ALL, "Sandybridge", "AVX2,FMA,FMA4,AVX512F", "sandybridge", ("avx2", "avx5", "fma")),
    "avx2": (_WIDE, "Haswell", "AVX512F,AVX512VL", "haswell", ("avx5",)),
    "zen": (_WIDE, "Zen", "AVX512F,AVX512VL", "znver2", ("avx5",)),
    "avx512": (_NEW, "SkylakeX", "", "skylake-avx512", ("avx512bf16", "avx512fp16", "amx")),
    # libraries that differ from each other: only one of them uses the vectors
    "plain-numpy": (_ALL, "Nehalem", "", "", ()),
    "plain-libraries": ((), "Prescott", "AVX,AVX2,FMA,FMA4,AVX512F", "nehalem", ("avx", "fma")),
}

_PROBE = """
from numpy._core._multiarray_umath import __cpu_dispatch__ as names, __cpu_features__ as have
print(*[name for name in names if have.get(name)])
"""


def _environment(machine):
    without, blas, library, _, _ = MACHINES[machine]
    probe = [sys.executable, "-c", _PROBE]
    features = subprocess.run(probe, capture_output=True, text=True, check=True).stdout.split()
    return os.environ | {
        "NPY_DISABLE_CPU_FEATURES": " ".join(f for f in features if f.startswith(without)),
        "OPENBLAS_CORETYPE": blas,
        "OPENBLAS_NUM_THREADS": "1",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join(f"-{n}" for n in library.split(",") if n),
        "WENGERT_TESTED_MACHINE": machine,
    }


def _told(machine):
    """Tell LLVM of another processor than this one."""
    cpu, without = MACHINES[machine][3:]
    if not cpu:
        return
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    for name in features:
        if name.startswith(without):
            features[name] = False
    binding.get_host_cpu_name = lambda: cpu
    binding.get_host_cpu_features = lambda: features


def main(given):
    """Run pytest with the arguments on the machines that are named first, or on all."""
    inside = os.environ.get("WENGERT_TESTED_MACHINE")
    if inside:
        _told(inside)
        return pytest.main(given)
    machines = [name for name in given if name in MACHINES] or list(MACHINES)
    rest = [argument for argument in given if argument not in MACHINES]
    failed = []
    for machine in machines:
        began = time.monotonic()
        command = [sys.executable, __file__, *rest]
        code = subprocess.run(command, env=_environment(machine)).returncode
        print(f"{machine}: {'failed' if code else 'passed'}, {time.monotonic() - began:.0f} s")
        if code:
            failed.append(machine)
    return f"failed on: {', '.join(failed)}" if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
