"""Test that the verifier finds invalid programs and names the pass that made them."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import wengert as wg
from wengert.compiler.ir.programs import Affine, Loop, Program, Step, Value
from wengert.compiler.ir.verifier import VerificationError, checked, is_on, verify, verify_trace
from wengert.compiler.tracing.exit import Effect
from wengert.prims.table import TABLE

F8 = np.dtype(np.float64)


def value(shape=(3,), dtype=F8, constant=None):
    return Value(np.dtype(dtype), shape, constant)


def step(name, args, outs, **params):
    return Step(TABLE[name], args, params, outs)


def sound():
    x, y, z = value(), value(), value()
    return Program([x, y], [step("add", [x, y], [z])], [z], [(z, x)])


def used_before():
    x, y, z = value(), value(), value()
    return Program([x], [step("add", [x, y], [z]), step("neg", [x], [y])], [z])


def computed_twice():
    x, y = value(), value()
    return Program([x], [step("neg", [x], [y]), step("exp", [x], [y])], [y])


def an_input_twice():
    x = value()
    return Program([x, x], [], [x])


def a_constant_input():
    x = value(constant=np.zeros(3))
    return Program([x], [], [x])


def another_shape():
    x, y = value(), value((4,))
    return Program([x], [step("neg", [x], [y])], [y])


def another_dtype():
    x, y = value(), value(dtype=np.float32)
    return Program([x], [step("neg", [x], [y])], [y])


def a_constant_of_another_shape():
    x, y, c = value(), value(), value(constant=np.zeros(4))
    return Program([x], [step("add", [x, c], [y])], [y])


def too_many_results():
    x, y, z = value(), value(), value()
    return Program([x], [step("neg", [x], [y, z])], [y])


def a_counter_outside_of_loops():
    x, y = value(), value(())
    return Program([x], [step("select", [x], [y], dim=0, index=Affine(0, 1))], [y])


def a_loop_of_another_dtype():
    x, y = value(()), value((), np.float32)
    a, b = value(()), value(())
    body = Program([a], [step("neg", [a], [b])], [b])
    return Program([x], [Loop(3, body, [x], [], [], [y])], [y])


def an_output_that_nothing_computes():
    return Program([value()], [], [value()])


def written_over_an_output():
    x, y, z = value(), value(), value()
    return Program([x, y], [step("add", [x, y], [z])], [z, x], [(z, x)])


def written_over_twice():
    x, y, z = value(), value(), value()
    steps = [step("neg", [x], [y]), step("exp", [x], [z])]
    return Program([x], steps, [y, z], [(y, x), (z, x)])


def written_in_another_shape():
    x, y = value((2, 2)), value((4,))
    return Program([x], [step("view", [x], [y], shape=(4,))], [y], [(y, x)])


def written_over_what_is_no_input():
    x, y, z = value(), value(), value()
    return Program([x], [step("neg", [x], [y]), step("neg", [y], [z])], [z], [(z, y)])


BROKEN = [
    *(used_before, computed_twice, an_input_twice, a_constant_input, another_shape),
    *(another_dtype, a_constant_of_another_shape, too_many_results, a_counter_outside_of_loops),
    *(a_loop_of_another_dtype, an_output_that_nothing_computes, written_over_an_output),
    *(written_over_twice, written_in_another_shape, written_over_what_is_no_input),
]


def test_a_sound_program_passes():
    assert is_on()
    verify(sound(), "nothing")


@pytest.mark.parametrize("broken", BROKEN, ids=lambda make: make.__name__)
def test_each_rule_can_fail(broken):
    with pytest.raises(VerificationError, match="after the pass 'a pass'"):
        verify(broken(), "a pass")


def test_a_pass_keeps_inputs_outputs_and_writes():
    program = sound()
    x, y = program.inputs
    out = value((3,), np.float32)
    with pytest.raises(VerificationError, match="'a pass' has changed the inputs"):
        checked("a pass", lambda p: Program([y, x], p.steps, p.outputs), program)
    cast = step("to_copy", [x], [out], dtype=np.dtype(np.float32))
    with pytest.raises(VerificationError, match="'a pass' has changed the outputs"):
        checked("a pass", lambda p: Program([x, y], [cast], [out]), program)
    with pytest.raises(VerificationError, match="'a pass' writes over an input of its own"):
        checked(
            "a pass", lambda p: Program(p.inputs, p.steps, p.outputs, [(p.outputs[0], y)]), program
        )


def test_a_broken_pass_is_named_where_functions_are_compiled(monkeypatch):
    def broken(program):
        return Program(program.inputs, program.steps[:-1], program.outputs, program.writes)

    monkeypatch.setattr(sys.modules["wengert.compiler.passes.roll"], "roll", broken)
    compiled = wg.compile(lambda x: (x * 2).exp(), backend="numpy", options={"measure": False})
    x = wg.ones(3)
    with pytest.raises(VerificationError, match="after the pass 'roll'"):
        for _ in range(2):
            compiled(x)


def left(needs=(), effects=(), origins=(), given=(), leaves=()):
    return SimpleNamespace(
        needs=lambda: needs,
        effects=effects,
        origins=origins,
        given=frozenset(given),
        leaves=leaves,
        backward=None,
    )


def test_traces_and_their_effects():
    x, y, z, other = value(), value(), value(), value((2,))
    steps = [step("neg", [x], [y])]
    write = Effect("write", 0, y)
    verify_trace([x], steps, left([y], [write], [(y, x)], [x]))
    for message, items, exit in [
        ("reads what nothing has computed", [step("neg", [z], [y])], left()),
        ("needs what nothing has computed", steps, left([z])),
        ("two effects 'write' on one place", steps, left([y], [write, write])),
        ("a write of nothing", steps, left([y], [Effect("write", 0)])),
        ("what is not a leaf", steps, left([y], [Effect("data", 0, leaf=3)])),
        ("does not grow", steps, left([y], [Effect("version", 0, writes=0)])),
        ("first version is not an input", steps, left([y], [write], [(y, z)], [x])),
        ("differ in dtype or shape", steps, left([y], [write], [(y, other)], [other])),
    ]:
        with pytest.raises(VerificationError, match=message):
            verify_trace([x], items, exit)
