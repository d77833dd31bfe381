"""Speak GradBench's protocol on standard input and output: ``python -m benchmarks.gradbench``.

As an intermediary of the suite starts it::

    gradbench run --eval "gradbench repo eval gmm" --tool "python -m benchmarks.gradbench"
"""

from __future__ import annotations

import argparse
import sys

import benchmarks._measure  # noqa: F401 (one thread, as the suite has it, before NumPy comes)

# isort: split
from .protocol import compiler, serve


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--eager", action="store_true", help="compile nothing")
    options = parser.parse_args()
    compile = (lambda function: function) if options.eager else compiler()
    for response in serve(sys.stdin, compile):
        print(response, flush=True)


if __name__ == "__main__":
    main()
