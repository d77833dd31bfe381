"""Layer 0 · base: PyTorch's modules that re-export other modules' names, as a table (`elsewhere`).

The rows are in ``places.txt``, which says how to read them; modules that have no meaning here, in
`base.refused`.
"""

from __future__ import annotations

from collections import defaultdict
from importlib.resources import files

from wengert.base.refused import REASONS, ROWS

_REASONS = {
    **REASONS,
    "kernels": (
        "it is a kernel of PyTorch's own build. Use the function of nn.functional that it is for"
    ),
    "sized": "numbers and shapes are those of each call; no symbol stands for all of them",
}
_PACKAGE = {"torch": ""}


def _rows(text: str) -> dict[str, dict[str, list[str]]]:
    """Parse lines ``module:``, ``    source: names`` and, further indented, more of its names."""
    rows: dict[str, dict[str, list[str]]] = {}
    module = source = ""
    for line in text.splitlines():
        words = line.split()
        if line[:8].isspace():
            rows[module][source] += words
        elif line[0] == " ":
            source = words[0].removesuffix(":")
            rows[module][source] = words[1:]
        elif line[0] != "#":
            module = line.removesuffix(":")
            rows[module] = {}
    return rows


_ROWS = _rows(files("wengert.base").joinpath("places.txt").read_text(encoding="utf-8"))


def _refuses(module: str) -> bool:
    """Return whether a module has only refused names."""
    return bool(_ROWS[module]) and all(source[0] == "!" for source in _ROWS[module])


_ABOUT = "Names of PyTorch's module, from where they stand here."
_ABOUT_REFUSED = "Names of PyTorch that are not offered here, and say why when they are used."


def _tables() -> tuple[dict[str, dict[str, tuple[str, str]]], dict[str, dict[str, str]]]:
    names: defaultdict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    refused = {path: dict.fromkeys(found, _REASONS[kind]) for path, (kind, found) in ROWS.items()}
    for module, sources in _ROWS.items():
        path = _PACKAGE.get(module, module)
        for source, words in sources.items():
            if source[0] == "!":
                single = dict.fromkeys(words, _REASONS[source[1:]])
                refused.setdefault(path, {}).update(single)
                continue
            for word in words:
                new, _, old = word.partition("=")
                names[path][new] = _PACKAGE.get(source, source), old or new
    # a name that exists here is not refused
    for path, shown in names.items():
        refused[path] = {n: why for n, why in refused.get(path, {}).items() if n not in shown}
    return dict(names), refused


NAMES, REFUSED = _tables()
"""The re-exported names of each module, with their source; and its refused names."""
MODULES = {
    **dict.fromkeys(
        # the parent packages of rows, too
        [path[:at] for path in (*ROWS, *_ROWS) for at, c in enumerate(path) if c == "."],
        _ABOUT,
    ),
    **dict.fromkeys([*ROWS, *REFUSED], _ABOUT_REFUSED),
    **dict.fromkeys([_PACKAGE.get(path, path) for path in _ROWS if not _refuses(path)], _ABOUT),
}
"""The modules made from rows, unless they have a file, with their docstrings."""
