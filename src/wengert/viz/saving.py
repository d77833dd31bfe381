"""Layer 9 · viz: writing pictures to files, in the format of the file name's suffix.

SVG, HTML and DOT are text and need nothing. PNG needs a converter: first come
the programs that draw our own SVG, then Graphviz, which computes its own layout.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from wengert.tape.sites import warn

_SECONDS = 120
_LARGEST = 12_000.0  # the maximum number of pixels per side that converters draw
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def save(
    path: str | os.PathLike[str],
    forms: Mapping[str, Callable[[], str]],
    picture: Callable[[], str],
) -> Path:
    """Write a picture to a file, in the format of its name's suffix.

    Parameters
    ----------
    forms: For each suffix, the function that returns the text of the file.
    picture: Returns the SVG on a light background from which a PNG is made.

    Returns
    -------
    Path: The file that was written: another one instead of ``.png``, with a warning, if there is no
        converter.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in forms and suffix != ".png":
        known = ", ".join([*forms, ".png"])
        raise ValueError(
            f"cannot tell what to write into {os.fspath(path)!r}: the name should end in one of "
            f"{known}"
        )
    folder = target.parent
    if not folder.is_dir():
        raise FileNotFoundError(
            f"the folder {os.fspath(folder)!r} for {target.name!r} does not exist; make it first, "
            "or give another path"
        )
    if suffix != ".png":
        _write(target, forms[suffix]())
        return target
    light = picture()
    failed = []
    for name, convert in png_by(light, forms[".dot"]() if ".dot" in forms else None).items():
        with tempfile.TemporaryDirectory() as place:
            result = Path(place) / "picture.png"
            try:
                convert(Path(place), result)
            except Exception as error:  # it is another program or an unknown library
                failed.append(f"{name} ({type(error).__name__})")
                continue
            if result.is_file() and result.read_bytes()[:4] == b"\x89PNG":
                shutil.copyfile(result, target)
                return target
            failed.append(f"{name} (no file)")
    other = target.with_suffix(".svg")
    _write(other, forms[".svg"]())
    reason = f"which failed: {', '.join(failed)}" if failed else "which was not found"
    warn(
        f"PNG output needs the Graphviz program or another converter, {reason}; wrote {other.name} "
        "instead (no extra software needed).",
        UserWarning,
    )
    return other


def _write(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
        file.write(text)


def png_by(svg: str, dot: str | None = None) -> dict[str, Callable[[Path, Path], None]]:
    """Return the available PNG converters by name, the best first.

    Each is called with a folder for its temporary files and the file to write.
    """
    width, height = _size(svg)
    scale = min(2.0, _LARGEST / max(width, height))
    ways: dict[str, Callable[[Path, Path], None]] = {}

    def source(place: Path, text: str, name: str) -> str:
        _write(place / name, text)
        return str(place / name)

    if program := shutil.which("rsvg-convert"):

        def by_rsvg(place: Path, result: Path, program: str = program) -> None:
            _run(program, f"--zoom={scale}", "-o", result, source(place, svg, "in.svg"))

        ways["rsvg-convert"] = by_rsvg
    if importlib.util.find_spec("cairosvg") is not None:

        def by_cairosvg(place: Path, result: Path) -> None:
            library = importlib.import_module("cairosvg")
            library.svg2png(bytestring=svg.encode(), write_to=str(result), scale=scale)

        ways["cairosvg"] = by_cairosvg
    if program := shutil.which("inkscape"):

        def by_inkscape(place: Path, result: Path, program: str = program) -> None:
            wide = f"--export-width={round(width * scale)}"
            given = source(place, svg, "in.svg")
            _run(program, "--export-type=png", wide, f"--export-filename={result}", given)

        ways["inkscape"] = by_inkscape
    if program := next(filter(None, map(shutil.which, _BROWSERS)), None):

        def by_browser(place: Path, result: Path, program: str = program) -> None:
            page = f"<!doctype html><style>*{{margin:0}}svg{{display:block}}</style>{svg}"
            _run(
                program,
                "--headless",
                "--disable-gpu",
                "--hide-scrollbars",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                *(["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []),
                f"--user-data-dir={place / 'profile'}",
                f"--force-device-scale-factor={scale}",
                f"--window-size={round(width)},{round(height)}",
                "--default-background-color=00000000",
                f"--screenshot={result}",
                Path(source(place, page, "in.html")).as_uri(),
            )

        ways[Path(program).name] = by_browser
    if dot is not None and (program := shutil.which("dot")):

        def by_dot(place: Path, result: Path, program: str = program) -> None:
            _run(program, "-Tpng", "-Gdpi=144", "-o", result, source(place, dot, "in.dot"))

        ways["dot"] = by_dot
    return ways


def _size(svg: str) -> tuple[float, float]:
    found = re.search(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', svg)
    return (float(found[1]), float(found[2])) if found else (800.0, 600.0)


def _run(*words: str | Path) -> None:
    subprocess.run(
        [str(word) for word in words],
        check=True,
        timeout=_SECONDS,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
