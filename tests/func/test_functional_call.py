"""Test modules as functions of their parameters, under names that packages use."""

import pytest

import wengert as wg


def test_a_module_has_other_parameters_in_a_context():
    line = wg.nn.Linear(1, 1, bias=False)
    own = line.weight
    with wg.nn.utils.stateless._reparametrize_module(line, {"weight": wg.tensor([[3.0]])}):
        assert line(wg.ones(1)).item() == 3.0
    assert line.weight is own


def test_a_parameter_that_the_module_lacks_is_gone_after_the_call():
    line = wg.nn.Linear(1, 1, bias=False)
    wg.func.functional_call(line, {"extra": wg.nn.Parameter(wg.ones(1))}, wg.ones(1))
    assert not hasattr(line, "extra") and [name for name, _ in line.named_parameters()] == [
        "weight"
    ]
    with pytest.raises(TypeError, match="3 is not an instance of"):
        wg.func.functional_call(line, {"weight": 3}, wg.ones(1))


def test_functionalize_computes_the_same():
    f = wg.func.functionalize(lambda x: x.clone().add_(1).view(2, 1).mul_(2))
    assert f(wg.ones(2)).tolist() == [[4.0], [4.0]]
    assert wg.func.vmap(f)(wg.ones(1, 2)).tolist() == [[[4.0], [4.0]]]
    with pytest.raises(RuntimeError, match=r"received invalid argument for remove=x\. Valid"):
        wg.func.functionalize(f, remove="x")(wg.ones(2))
