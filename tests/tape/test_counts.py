"""Test that the cost of one operation, in counted calls, matches the committed figures."""

import importlib.util
import shutil
from pathlib import Path

import pytest

from wengert.tape.compiled import IS_COMPILED

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
BUILD = "compiled" if IS_COMPILED else "python"


@pytest.fixture(scope="module")
def counts():
    spec = importlib.util.spec_from_file_location("counts", BENCHMARKS / "counts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def figures(counts):
    found = counts.committed(BUILD)
    if not found:
        pytest.skip(f"benchmarks/counts.toml has no figures for Python {counts.VERSION}, {BUILD}")
    return found


def assert_none(grown):
    assert not grown, "if this is meant: python benchmarks/counts.py --write\n" + "\n".join(grown)


def test_no_operation_executes_or_keeps_a_tenth_more_than_its_figure(counts, figures):
    assert_none(counts.grown(figures, counts.in_python(BUILD)))


@pytest.mark.skipif(not IS_COMPILED, reason="the processor's instructions show compiled modules")
@pytest.mark.skipif(not shutil.which("valgrind"), reason="needs valgrind")
def test_no_operation_takes_a_tenth_more_of_the_processor_than_its_figure(counts, figures):
    assert_none(counts.grown(figures, counts.on_processor()))


def test_a_count_that_grew_by_more_than_a_tenth_is_told(counts):
    figures = {"bytecode": {"product": 100.0, "sine": 100.0, "sum": 0.0}}
    assert counts.grown(figures, {"bytecode": {"product": 110.0, "sine": 90.0, "sum": 0.4}}) == []
    found = counts.grown(figures, {"bytecode": {"product": 111.0, "sine": 99.0, "sum": 1.0}})
    assert [line.split(":")[0] for line in found] == ["product", "sum"]
    assert "111" in found[0] and "100" in found[0]


def test_memory_that_hardly_differs_is_not_told(counts):
    figures = {"bytes at peak": {"product": 0.0}}
    assert counts.grown(figures, {"bytes at peak": {"product": 8.0}}) == []
    assert counts.grown(figures, {"bytes at peak": {"product": 9.0}})


def test_a_case_without_a_figure_is_told(counts):
    assert "no figure" in counts.grown({"bytecode": {}}, {"bytecode": {"product": 1.0}})[0]


def test_what_is_written_is_read_again(counts, tmp_path, monkeypatch):
    monkeypatch.setattr(counts, "FIGURES", tmp_path / "counts.toml")
    monkeypatch.setattr(counts, "VERSION", "3.0")
    assert counts.committed("python") == {}
    counts.write({"python": {"bytecode": {"product": 100.04}}})
    monkeypatch.setattr(counts, "VERSION", "3.1")
    counts.write({"python": {"bytecode": {"product": 90.0}}})
    counts.write({"compiled": {"bytecode": {"product, not recorded": 0.0}}})
    assert counts.committed("python")["bytecode"] == {"product": 90.0}
    assert counts.committed("compiled")["bytecode"] == {"product, not recorded": 0.0}
    monkeypatch.setattr(counts, "VERSION", "3.0")
    assert counts.committed("python") == {"bytecode": {"product": 100.0}}


def test_a_part_of_callgrinds_is_read(counts, tmp_path):
    own, other = f"/somewhere{counts.OURS}tape/record.so", "/lib/libpython.so"
    text = f"""\
version: 1
events: Ir
ob={own}
fl=record.c
fn=apply
10 7
cob={other}
cfn=PyObject_Call
calls=3 20
10 500
cfn=inner
calls=2 30
11 40
12 1
ob={other}
fn=PyObject_Call
20 500
totals: 508
"""
    (tmp_path / "part.2").write_text(text)
    found = counts._part(tmp_path / "part.2")
    assert found == {"processor, in modules": 8, "calls out of modules": 3}
