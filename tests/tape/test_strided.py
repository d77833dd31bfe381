"""Test strided views that reach beyond their source, where PyTorch loses the gradient."""

import numpy as np
import pytest

import wengert as wg

BEYOND = {
    "beside": (lambda x: x[1].as_strided((4,), (1,), 0), [1.0, 2.0, 3.0, 4.0, 0.0, 0.0]),
    "before": (lambda x: x[1].as_strided((2,), (1,), 1), [0.0, 1.0, 2.0, 0.0, 0.0, 0.0]),
    "behind": (lambda x: x[0].as_strided((2, 2), (1, 2), 2), [0.0, 0.0, 1.0, 3.0, 2.0, 4.0]),
    "around": (lambda x: x[:, 1].as_strided((2, 3), (3, 1), 0), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    "in gaps": (lambda x: x.view(6)[::2].as_strided((2,), (2,), 1), [0.0, 1.0, 0.0, 2.0, 0.0, 0.0]),
    "overlapping": (
        lambda x: x[1].as_strided((2, 2), (1, 1), 1),
        [0.0, 1.0, 5.0, 4.0, 0.0, 0.0],
    ),
}
KINDS = sorted(BEYOND)


def base():
    x = wg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=wg.float64, requires_grad=True)
    return x, x * 1


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_what_lies_beyond_the_view(kind):
    make, times = BEYOND[kind]
    x, b = base()
    v = make(b)
    assert v._base is b
    w = wg.arange(1.0, v.numel() + 1, dtype=wg.float64).reshape(v.shape)
    (g,) = wg.autograd.grad((v**3 * w).sum(), x, create_graph=True)
    (h,) = wg.autograd.grad(g.sum(), x)
    values = x.detach().reshape(-1).tolist()
    assert g.reshape(-1).tolist() == [3 * v**2 * n for v, n in zip(values, times, strict=True)]
    assert h.reshape(-1).tolist() == [6 * v * n for v, n in zip(values, times, strict=True)]


def test_a_view_of_a_leaf_reaches_beyond():
    x = wg.arange(6.0, requires_grad=True)
    x[4:].as_strided((2,), (2,), 1).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]


def test_beyond_a_view_that_requires_a_gradient_by_itself():
    with wg.no_grad():
        part = wg.arange(6.0)[2:4]
    part.requires_grad_()
    (g,) = wg.autograd.grad(part.as_strided((1,), (1,)).sum(), part)
    assert g.tolist() == [1.0, 0.0]
    with pytest.raises(RuntimeError, match=r"as_strided.. reaches beyond a view that requires"):
        part.as_strided((2,), (1,), 0)


def test_beyond_a_view_made_without_recording():
    x, b = base()
    with wg.no_grad():
        part = b[1]
    inside, beyond = part.as_strided((2,), (1,)), part.as_strided((2,), (1,), 0)
    for v in (inside, beyond):
        (slope,) = wg.autograd.grad(v.sum() + b.sum() * 0, x, retain_graph=True)
        assert slope.tolist() == [[0.0] * 3] * 2
        with pytest.raises(RuntimeError, match="created in no_grad mode"):
            v.mul_(2)


def test_beyond_a_view_that_lost_its_history():
    _, b = base()
    part, _ = b.unbind(0)
    b.mul_(2)
    for offset in (0, 2):
        with pytest.raises(RuntimeError, match=r"Output 0 of Unbind.* is a view and its base"):
            part.as_strided((2,), (1,), offset)


def test_beyond_one_of_several_views():
    _, b = base()
    part, _ = b.unbind(0)
    with pytest.raises(RuntimeError, match="modified inplace"):
        part.as_strided((2,), (1,), 2).mul_(2)


def test_parts_of_complex_numbers_beyond_the_view():
    x = wg.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    b = x * 1
    part = wg.view_as_real(b)[1]
    v = part.as_strided((2,), (2,), 1)
    assert v.tolist() == [2.0, -1.0]
    v.sum().backward()
    assert x.grad.tolist() == [1j, 1j]


def test_memory_in_reverse_order_is_refused():
    with pytest.raises(RuntimeError, match=r"as_strided.. needs memory with positive strides"):
        wg.from_numpy(np.arange(4.0)[::-1]).as_strided((2,), (1,))


def test_nothing_changes_when_a_geometry_is_refused():
    _, b = base()
    for args in [((9,), (1,)), ((2,), (-1,)), ((2,), (1,), -1), ((-2,), (1,))]:
        with pytest.raises(RuntimeError):
            b.as_strided_(*args)
    assert b.shape == (2, 3) and b._version == 0 and b.grad_fn.name() == "MulBackward0"


def test_a_view_that_was_given_other_memory_is_not_looked_for_in_that_of_its_base():
    base = wg.arange(6.0).reshape(2, 3)
    x = base[1:]
    x.data = x.detach() * 2
    assert (x.storage_offset(), x.as_strided((2,), (1,)).tolist()) == (0, [6.0, 8.0])
    x.fill_diagonal_(-1)
    assert (x.tolist(), base.tolist()) == ([[-1.0, 8.0, 10.0]], [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
