"""Run the tests as on other processors of this family: ``make machines``.

NumPy, OpenBLAS, the C library and LLVM choose code by the processor; environment variables make
them choose as on an older one. A newer processor cannot be simulated. ``python tests/machines avx2
tests/nn -k norm`` takes one machine and arguments of pytest.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from processors import MACHINES

_PROBE = """
from numpy._core._multiarray_umath import __cpu_dispatch__ as names, __cpu_features__ as have
print(*[name for name in names if have.get(name)])
"""


def _environment(machine):
    without, blas, library, _, _ = MACHINES[machine]
    probe = [sys.executable, "-c", _PROBE]
    features = subprocess.run(probe, capture_output=True, text=True, check=True).stdout.split()
    path = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {
        "NPY_DISABLE_CPU_FEATURES": " ".join(f for f in features if f.startswith(without)),
        "OPENBLAS_CORETYPE": blas,
        "OPENBLAS_NUM_THREADS": "1",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=" + ",".join(f"-{n}" for n in library.split(",") if n),
        "WENGERT_TESTED_MACHINE": machine,
        "PYTHONPATH": os.pathsep.join(path),
    }


def main(given):
    """Run pytest with the arguments on the machines that are named first, or on all."""
    machines = [name for name in given if name in MACHINES] or list(MACHINES)
    rest = [argument for argument in given if argument not in MACHINES]
    failed = []
    for machine in machines:
        began = time.monotonic()
        command = [sys.executable, "-m", "pytest", *rest]
        code = subprocess.run(command, env=_environment(machine)).returncode
        print(f"{machine}: {'failed' if code else 'passed'}, {time.monotonic() - began:.0f} s")
        if code:
            failed.append(machine)
    return f"failed on: {', '.join(failed)}" if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
