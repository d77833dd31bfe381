"""The package as it is installed, on every Python and NumPy that it supports: ``make matrix``.

A session builds an sdist, makes a wheel of that, installs it into an environment of its own, and
runs the tests on what was installed. Pythons that are not on this machine are left out.
"""

from pathlib import Path

import nox

nox.options.sessions = ["matrix"]
nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = True

# The releases of NumPy that have wheels for a Python.
SUPPORTED = {
    "3.11": ("2.0", "2.1", "2.2", "2.3", "2.4"),
    "3.12": ("2.0", "2.1", "2.2", "2.3", "2.4", "2.5"),
    "3.13": ("2.1", "2.2", "2.3", "2.4", "2.5"),
    "3.14": ("2.3", "2.4", "2.5"),
}

# What can depend on a version: the tape and what stands on it, protocols, files, the package.
TESTS = [
    *(f"tests/{part}" for part in ("autograd", "base", "cli", "func", "interp", "nn", "numpy")),
    *(f"tests/{part}" for part in ("ops", "optim", "packaging", "semantics", "tape", "tensor")),
]


@nox.session
@nox.parametrize(
    ("python", "numpy"),
    [(python, numpy) for python, releases in SUPPORTED.items() for numpy in releases],
)
def matrix(session: nox.Session, numpy: str) -> None:
    """Build, install, and test: ``nox -s matrix -p 3.12 -- tests/tape`` for a part of it."""
    built = Path(session.create_tmp())
    for old in built.glob("wengert-*"):
        old.unlink()
    session.install("build")
    session.run("python", "-m", "build", "--outdir", str(built), silent=True)
    (wheel,) = built.glob("*.whl")
    session.install(f"numpy=={numpy}.*", f"{wheel.resolve()}[test]")
    session.run("python", "-c", "import numpy, sys; print(sys.version, 'NumPy', numpy.__version__)")
    session.run(
        "python", "-m", "pytest", "-q", "-n", "auto", "-m", "not slow and not torch",
        *(session.posargs or TESTS),
        env={"OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
