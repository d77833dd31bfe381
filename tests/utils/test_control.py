"""Test checks and conditionals as functions."""

import pytest

import wengert as wg


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("_check", RuntimeError),
        ("_check_index", IndexError),
        ("_check_value", ValueError),
        ("_check_type", TypeError),
        ("_check_not_implemented", NotImplementedError),
    ],
)
def test_checks_raise_errors_of_their_types(name, error):
    check = getattr(wg, name)
    assert check(True) is None
    assert check(True, lambda: 1 / 0) is None, "messages are made when they are needed"
    with pytest.raises(error, match="made here"):
        check(False, lambda: "made here")
    with pytest.raises(error, match="Expected cond to be True"):
        check(False)
    with pytest.raises(TypeError, match="cond must be a bool"):
        check(1)
    with pytest.raises(TypeError, match="tensor"):
        check(wg.tensor(True))


def test_checks_of_sizes_tensors_and_conditions():
    wg._check_is_size(3)
    wg._check_tensor_all(wg.tensor([True, True]))
    wg._assert(wg.tensor(True), "no")
    for check in (
        lambda: wg._check_is_size(-1),
        lambda: wg._check_is_size(5, max=4),
        lambda: wg._check_tensor_all(wg.tensor([True, False])),
    ):
        with pytest.raises(RuntimeError):
            check()
    with pytest.raises(AssertionError, match="said"):
        wg._assert(False, "said")
    with pytest.raises(TypeError, match=r"dtype torch\.bool"):
        wg._check_tensor_all(wg.ones(1))


def test_one_branch_is_computed():
    x = wg.tensor(2.0, requires_grad=True)
    calls = []

    def cube(y):
        calls.append("cube")
        return y**3

    wg.cond(x > 1, cube, lambda y: calls.append("other"), (x,)).backward()
    assert calls == ["cube"] and x.grad.item() == 12
    with pytest.raises(RuntimeError, match="callable"):
        wg.cond(True, 1, cube)
