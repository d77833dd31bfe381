"""Compile the code that every operation runs: ``native/build.py [--cache FOLDER] [--into FOLDER]``.

Cython compiles the modules of the tape from the package's own files, with types from the ``.pxd``
files next to them. The functions of large arrays are written in C. All results go to
``src/wengert/native``, where their packages look first, or to the folder after ``--into``. A cache
keeps builds of the same source by the same compiler, since compiling takes a third as long as the
tests.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import Cython
import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

HERE = Path(__file__).parent
ROOT = HERE.parent
TAPE = ROOT / "src" / "wengert" / "tape"
INTO = ROOT / "src" / "wengert" / "native"
MODULES = (
    *("accumulate", "anomaly", "backward", "base", "engine", "masked", "record", "sites", "views"),
)
"""Modules that are compiled unchanged; generate.py writes the other hot code."""
FLAGS = [] if sys.platform == "win32" else ["-O3", "-g0"]
# nothing reads errno, and loops have no branches that could trap
EXACT = [*FLAGS, *(["-fno-math-errno", "-fno-trapping-math"] if FLAGS else [])]
PARALLEL = os.cpu_count() or 1
KEPT = 8
"""The number of builds that a cache keeps."""
DIRECTIVES = {"annotation_typing": False, "auto_pickle": False, "binding": True}


def _prepare(work: Path) -> Path:
    """Make a tree of the sources to compile, in which Cython finds the types of other modules."""
    package = work / "wengert" / "tape"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    for name in MODULES:
        shutil.copy(TAPE / f"{name}.py", package)
    for file in (*TAPE.glob("*.pxd"), *HERE.glob("*.pyx"), HERE / "arrays.h"):
        shutil.copy(file, package)
    # the records come from the package in pure Python; the paths of an isolated build are kept
    paths = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": paths, "WENGERT_NATIVE": "0"}
    command = [sys.executable, str(HERE / "generate.py")]
    subprocess.run([*command, str(package / "recorded.pyx")], check=True, env=environment)
    return package


def _digest(package: Path) -> str:
    """Return a hash of all inputs of the build: sources, compilers and flags."""
    compiler = [os.environ.get(name) for name in ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS")]
    command = sysconfig.get_config_vars("CC", "CFLAGS", "EXT_SUFFIX")
    asked = shutil.which(str(compiler[0] or command[0] or "cc").split()[0])
    said = subprocess.run([asked, "--version"], capture_output=True).stdout if asked else b""
    versions = (sys.version, numpy.__version__, Cython.__version__, said)
    digest = hashlib.sha256(repr((compiler, command, versions)).encode())
    for file in (*sorted(package.iterdir()), HERE / "vector.c", Path(__file__)):
        if file.is_file():
            digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:32]


def _install(made: Path, into: Path) -> list[Path]:
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(made, into, copy_function=shutil.copy)  # with the current time
    return sorted(path for path in into.rglob("*") if path.is_file())


def build(cache: Path | None = None, into: Path = INTO) -> list[Path]:
    """Compile everything, or take it from `cache`; return the files, which are in `into`."""
    # a folder of its own: builds for several Pythons run at the same time
    with tempfile.TemporaryDirectory() as work:
        return _install(_made(Path(work), cache), into)


def _made(work: Path, cache: Path | None) -> Path:
    package = _prepare(work)
    if cache is None:
        return _compile(work, package)
    kept = cache / _digest(package)
    if not kept.is_dir():
        made = _compile(work, package)
        cache.mkdir(parents=True, exist_ok=True)
        # atomic, in case of concurrent builds
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            whole = shutil.copytree(made, Path(folder) / "made")
            if not kept.is_dir():
                whole.rename(kept)
        ages = sorted(cache.iterdir(), key=lambda path: path.stat().st_mtime)
        for old in ages[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)
    return kept


def _compile(work: Path, package: Path) -> Path:
    """Compile everything; return the folder of the results."""
    before = Path.cwd()
    os.chdir(work)
    try:
        extensions = [
            Extension(
                f"wengert.tape.{name}",
                [f"wengert/tape/{name}.{suffix}"],
                include_dirs=[numpy.get_include(), str(package)],
                define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
                extra_compile_args=FLAGS,
            )
            for suffix, names in (("py", MODULES), ("pyx", ("recorded", "sequence", "sums")))
            for name in names
        ]
        reducing = Extension(
            "wengert.kernels.reducing",
            ["wengert/tape/reducing.pyx"],
            include_dirs=[numpy.get_include()],
            define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
            extra_compile_args=FLAGS,
        )
        vector = Extension(
            "wengert.kernels.vector",
            [str(HERE / "vector.c")],
            include_dirs=[numpy.get_include()],
            extra_compile_args=EXACT,
        )
        made = cythonize(
            [*extensions, reducing],
            language_level=3,
            compiler_directives=DIRECTIVES,
            nthreads=PARALLEL,
        )
        setup(
            name="wengert-native",
            ext_modules=[*made, vector],
            script_args=["-q", "build_ext", f"--parallel={PARALLEL}", "--build-lib", "made"],
        )
    finally:
        os.chdir(before)
    return work / "made" / "wengert"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compile what every operation goes through.")
    parser.add_argument("--cache", type=Path, help="a folder of what was compiled before")
    parser.add_argument("--into", type=Path, default=INTO, help="the folder of the results")
    for path in build(**vars(parser.parse_args())):
        print(f"{path}  {path.stat().st_size:,} bytes")
