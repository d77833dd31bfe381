"""Layer 4 · tape: nodes, saved values, versions, modes, the engine, and T, which records."""

import os as _os

_WANTED = _os.environ.get("WENGERT_NATIVE")
_COMPILED = _os.path.join(_os.path.dirname(__path__[0]), "native", "tape")

if _WANTED != "0" and _os.path.isdir(_COMPILED):
    # NOTE [compiled modules], in `wengert.tape.compiled`
    __path__.insert(0, _COMPILED)
elif _WANTED == "1":
    raise ImportError(
        "WENGERT_NATIVE=1 asks for compiled modules, which are not there: run native/build.py in a "
        "source checkout, or install a wheel that has them"
    )
