"""Test that the package's metadata is consistent and an installed package is complete."""

import pathlib
import re
import tomllib

import pytest

import wengert as wg
from wengert.datasets import digits

ROOT = pathlib.Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
TOOLS = {"test", "native", "dev", "parity", "docs", "matrix", "fuzz"}


def test_the_version_is_one():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE).group(1) == wg.__version__
    assert re.search(r"^## (\S+)", changes, re.MULTILINE).group(1) == wg.__version__


def test_the_pythons_that_are_named_are_those_with_wheels_and_tests():
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))
    wheels = SETTINGS["tool"]["cibuildwheel"]["build"]
    tested = re.findall(r'^    "(3\.\d+)": \(', (ROOT / "noxfile.py").read_text(), re.MULTILINE)
    assert named == tested and PROJECT["requires-python"] == f">={named[0]}"
    assert wheels.split() == [f"cp{version.replace('.', '')}-*" for version in named]


def test_the_size_in_the_readme_is_that_of_the_package():
    files = [path for path in (ROOT / "src").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    python = [path for path in files if "native" not in path.relative_to(ROOT / "src").parts[:2]]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    stated = float(re.search(r"^\| installed, in MB [^|]*\| ([\d.]+) ", readme, re.MULTILINE)[1])
    assert sum(path.stat().st_size for path in python) / 1e6 == pytest.approx(stated, abs=0.5)


def test_numpy_is_the_one_thing_that_is_needed():
    assert [re.match(r"\w+", one).group() for one in PROJECT["dependencies"]] == ["numpy"]


def test_all_brings_what_the_other_extras_bring():
    # but CuPy, which is for one kind of machine
    (everything,) = PROJECT["optional-dependencies"]["all"]
    named = set(re.search(r"\[(.*)\]", everything).group(1).split(","))
    assert named == set(PROJECT["optional-dependencies"]) - TOOLS - {"all", "cuda"}


@pytest.mark.parametrize("extra", sorted(PROJECT["optional-dependencies"]))
def test_what_an_extra_brings_is_explained(extra):
    if extra != "all":
        assert f"`{extra}`" in (ROOT / "docs" / "libraries.md").read_text(encoding="utf-8")


def test_data_and_types_come_with_the_package():
    assert (pathlib.Path(wg.__file__).parent / "py.typed").exists()
    assert digits().train_images.shape == (1442, 64)
