"""Test invariants of every derivative rule and every record."""

import dis
import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import wengert
import wengert.func
import wengert.sparse.rules as sparse_rules
from wengert.interp import batched, dual
from wengert.prims.families import elementwise
from wengert.prims.record import WORDS, Primitive, Rule, case
from wengert.prims.whole import TABLE
from wengert.tape import rules, specialise

RULES = {rule.where: rule for prim in TABLE.values() for rule in prim.rules if rule is not None}
SOURCE = Path(wengert.__file__).parent
ALONE = """
import importlib, json, os, sys
import wengert
from wengert.prims.record import TABLE
called = json.load(sys.stdin)
for module in (m for m in called if not TABLE.keys() >= {*called[m]}):
    child = os.fork()
    if not child:
        importlib.import_module(module)
        missing = {*called[module]} - TABLE.keys()
        if missing:
            print(module, "calls", *missing, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
"""Prints what modules call that is not loaded where each is imported alone with the package."""
# what has no meaning for every kind of value that a rule may see, or changes its dtype
FORBIDDEN_NAMES = {"payload", "astype", "item", "copy", "tolist", "numpy", "array", "asarray"}


def functions_of(function, seen=None):
    """`function` and every function of the records' files that it may call."""
    seen = {} if seen is None else seen
    code = function.__code__
    if code in seen:
        return seen
    seen[code] = function
    reached = [function.__globals__.get(name) for name in code.co_names]
    reached += [cell.cell_contents for cell in function.__closure__ or ()]
    for value in reached:
        if isinstance(value, types.FunctionType) and value.__module__.startswith("wengert.prims"):
            functions_of(value, seen)
    return seen


def codes_of(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def codes_of_rules():
    """For each rule: where it is, a code that runs in it, and the function that this is part of."""
    for where, rule in RULES.items():
        for outer, function in functions_of(rule.call).items():
            for code in codes_of(outer):
                yield where, code, function


def test_rules_use_operators_and_their_namespace_only():
    for where, code, function in codes_of_rules():
        for name in code.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, types.ModuleType):
                assert value.__name__ in {"math", "cmath"}, f"{where} uses {value.__name__}"
            module = getattr(value, "__module__", None) or ""
            assert not module.startswith("wengert.kernels"), f"{where} calls {name} directly"
            assert name not in FORBIDDEN_NAMES, f"{where} uses .{name}"


def test_the_constants_of_rules_are_python_numbers():
    # a NumPy scalar would change the dtype of what it meets
    for where, code, function in codes_of_rules():
        values = [function.__globals__.get(name) for name in code.co_names]
        values += [cell.cell_contents for cell in function.__closure__ or ()]
        for value in values:
            assert not isinstance(value, np.generic | np.ndarray), f"{where} uses {value!r}"


def test_rules_call_primitives_that_exist():
    for where, code, _ in codes_of_rules():
        parameters = code.co_varnames[: code.co_argcount]
        if "F" in parameters or "F" in code.co_freevars:
            for name in _attributes_of("F", code):
                assert name in TABLE, f"{where} calls F.{name}, which is not a primitive"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process for each module")
def test_what_a_module_calls_is_loaded_with_it():
    called = {}
    for where, code, _ in codes_of_rules():
        if "F" in code.co_varnames[: code.co_argcount] or "F" in code.co_freevars:
            home = RULES[where].call.__module__
            if home.startswith("wengert.prims."):
                called.setdefault(home, set()).update(_attributes_of("F", code))
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        if re.search("import .*\\bT\\b", text) and "cli" not in path.parts:
            home = ".".join(("wengert", *path.relative_to(SOURCE).with_suffix("").parts))
            names = set(re.findall(r"(?<![\w.])T\.(\w+)", text))
            called.setdefault(home.removesuffix(".__init__"), set()).update(names & set(TABLE))
    run = subprocess.run(
        [sys.executable, "-c", ALONE],
        input=json.dumps({home: sorted(names) for home, names in called.items()}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert not run.stdout + run.stderr


def _attributes_of(variable, code):
    """The names that `code` looks up on a local variable."""
    before = None
    for instruction in dis.get_instructions(code):
        if instruction.opname in {"LOAD_ATTR", "LOAD_METHOD"} and before == variable:
            yield instruction.argval
        elif instruction.opname.startswith("LOAD_"):
            names = (
                instruction.argval
                if isinstance(instruction.argval, tuple)
                else (instruction.argval,)
            )
            before = names[-1] if names else None
        elif instruction.opname not in {"PUSH_NULL", "PRECALL", "CACHE", "NOP"}:
            before = None


def test_a_name_is_registered_once():
    with pytest.raises(ValueError, match="registered twice"):
        elementwise("sin", np.sin, lin=lambda F, g: g)
    assert TABLE["sin"].rules[0].names == ("self",)


def test_the_table_cannot_be_written_to():
    with pytest.raises(TypeError):
        TABLE["sin"] = TABLE["cos"]


@pytest.mark.parametrize(
    "rule",
    [lambda F, g, unknown: g, lambda g, F: g, lambda F, g, other: g, lambda F: F],
    ids=["unknown name", "swapped", "another operation's name", "no cotangent"],
)
def test_a_rule_may_name_only_what_its_primitive_has(rule):
    with pytest.raises(ValueError, match=r"must be a function of F, g"):
        elementwise("never_registered", np.sin, lin=rule)
    assert "never_registered" not in TABLE


def test_a_rule_that_takes_the_rest_gets_the_parameters_that_it_does_not_name():
    prim = TABLE["avg_pool_backward"]
    (rule,) = prim.rules
    assert rule.names == prim.params
    seen = []

    class Recorder:
        def avg_pool1d(self, g, **params):
            seen.append((g, params))

    rule.call(Recorder(), "g", *[(9,) if name == "shape" else name for name in rule.names])
    assert seen == [("g", {name: name for name in prim.params if name != "shape"})]


def test_a_record_needs_one_rule_for_each_argument():
    with pytest.raises(ValueError, match="2 array arguments but 1 rules"):
        Primitive(
            "never_registered",
            np.add,
            family="general",
            args=("self", "other"),
            vjp=(lambda F, g: g,),
            cases=(case((), ()),),
        )
    assert "never_registered" not in TABLE


@pytest.mark.parametrize("facet", ["batching", "sparsity", "tangents"])
def test_a_record_says_only_words_for_which_there_is_a_rule(facet):
    with pytest.raises(ValueError, match=f"says {facet}='alng', which must be one of "):
        elementwise("never_registered", np.sin, lin=lambda F, g: g, **{facet: "alng"})
    assert "never_registered" not in TABLE
    rules = {"batching": batched._SHARED, "sparsity": sparse_rules._RULES, "tangents": dual.WAYS}
    assert WORDS[facet] == rules[facet].keys()


def test_records_name_what_exists():
    for name, prim in TABLE.items():
        for form in (prim.scalar, prim.rscalar):
            assert form is None or form in TABLE, name
        assert set(prim.fixed) <= set(prim.args), name
        assert re.search(r"Backward(s|\d(_copy)?)$", prim.node), prim.node
        assert repr(prim).startswith(f"<primitive {name}(")


@pytest.mark.parametrize("name", [prim.name for prim in TABLE.values() if prim.shared])
def test_rules_that_share_are_complete_and_name_what_their_parts_take(name):
    prim = TABLE[name]
    for rule in filter(None, prim.rules):
        assert {*prim.shared.names, *rule.own} == {*rule.names}


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("generated", [False, True])
def test_a_backward_pass_computes_once_what_rules_share(monkeypatch, generated, recorded):
    prim = TABLE["linalg_solve"]
    calls = []
    shared = prim.shared

    def counted(*given):
        calls.append(given)
        return shared.call(*given)

    monkeypatch.setattr(prim, "shared", Rule(counted, shared.names, shared.where))
    apply = specialise._apply_of(prim, recorded) if generated else rules.apply_rules
    A = wengert.tensor([[2.0, 1.0], [0.0, 3.0]], requires_grad=True)
    B = wengert.tensor([[1.0], [2.0]], requires_grad=True)
    node = wengert.linalg.solve(A, B).grad_fn
    g = wengert.ones(2, 1) if recorded else np.ones((2, 1), np.float32)
    slopes = apply(node, g, True, node.edges)
    assert len(calls) == 1
    assert [tuple(slope.shape) for slope in slopes] == [(2, 2), (2, 1)]
