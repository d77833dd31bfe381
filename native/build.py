"""Compile what every operation goes through: ``python native/build.py``.

The modules of the tape are made by Cython from the package's own files, whose types the ``.pxd``
beside them adds. The functions of large arrays are C. All are put into ``src/wengert/native``,
where their packages find them first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

HERE = Path(__file__).parent
ROOT = HERE.parent
TAPE = ROOT / "src" / "wengert" / "tape"
INTO = ROOT / "src" / "wengert" / "native"
WORK = ROOT / "build" / "native"
MODULES = (
    *("accumulate", "anomaly", "backward", "base", "engine", "masked", "record", "sites", "views"),
)
"""Compiled as they are; what else is hot is written by generate.py."""
FLAGS = [] if sys.platform == "win32" else ["-O3", "-g0"]
# nothing asks the C library for errors, and loops have no branches that could trap
EXACT = [*FLAGS, *(["-fno-math-errno", "-fno-trapping-math"] if FLAGS else [])]
DIRECTIVES = {"annotation_typing": False, "auto_pickle": False, "binding": True}


def _prepare() -> Path:
    """A tree of what is compiled: Cython finds the types of other modules by their place in it."""
    shutil.rmtree(WORK, ignore_errors=True)
    package = WORK / "wengert" / "tape"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    for name in MODULES:
        shutil.copy(TAPE / f"{name}.py", package)
    for file in (*TAPE.glob("*.pxd"), HERE / "sequence.pyx", HERE / "sums.pyx", HERE / "arrays.h"):
        shutil.copy(file, package)
    # the records are read by the package as it is in Python; the paths of an isolated build stay
    paths = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": paths, "WENGERT_NATIVE": "0"}
    command = [sys.executable, str(HERE / "generate.py")]
    subprocess.run([*command, str(package / "recorded.pyx")], check=True, env=environment)
    return package


def build() -> list[Path]:
    """Compile everything; returns the files made."""
    package = _prepare()
    before = Path.cwd()
    os.chdir(WORK)
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
        vector = Extension(
            "wengert.kernels.vector",
            [str(HERE / "vector.c")],
            include_dirs=[numpy.get_include()],
            extra_compile_args=EXACT,
        )
        made = cythonize(extensions, language_level=3, compiler_directives=DIRECTIVES)
        setup(
            name="wengert-native",
            ext_modules=[*made, vector],
            script_args=["-q", "build_ext", "--build-lib", str(WORK / "made")],
        )
    finally:
        os.chdir(before)
    shutil.rmtree(INTO, ignore_errors=True)
    shutil.copytree(WORK / "made" / "wengert", INTO)
    return sorted(path for path in INTO.rglob("*") if path.is_file())


if __name__ == "__main__":
    for path in build():
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size:,} bytes")
