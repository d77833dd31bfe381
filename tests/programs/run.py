"""Run scripts in order with either library, and report what each printed.

``python run.py torch OUT SCRIPT ...`` runs them with PyTorch; with ``wengert`` in place of
``torch``, ours is installed under that name first. `OUT` becomes a JSON object: for each script
what it printed, and the exception that ended it, or null.
"""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
import traceback
import warnings
from pathlib import Path


def main(library: str, out: str, *scripts: str) -> None:
    warnings.simplefilter("ignore")
    if library == "wengert":
        from wengert.compat import install

        install("torch")
    found = {}
    for script in scripts:
        printed, error = io.StringIO(), None
        try:
            with contextlib.redirect_stdout(printed):
                runpy.run_path(script, run_name="__main__")
        except Exception:
            error = traceback.format_exc(limit=-3)
        found[Path(script).stem] = [printed.getvalue(), error]
    Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
