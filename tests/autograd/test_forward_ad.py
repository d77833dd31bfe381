"""Test dual tensors, the explicit forward mode."""

import threading

import pytest

import wengert as wg
import wengert.autograd.forward_ad as fwd
from wengert.tape.modes import current_mode

X = wg.tensor([1.0, 2.0])
UNIT = wg.tensor([1.0, 0.0])


def test_a_dual_tensor_carries_its_tangent():
    with fwd.dual_level() as level:
        assert level == 0
        x = fwd.make_dual(X, UNIT)
        primal, tangent = fwd.unpack_dual(x)
        assert (primal.tolist(), tangent.tolist()) == ([1.0, 2.0], [1.0, 0.0])
        y = fwd.unpack_dual(x * x + X)
        assert isinstance(y, fwd.UnpackedDualTensor)
        assert (y.primal.tolist(), y.tangent.tolist()) == ([2.0, 6.0], [2.0, 0.0])
        assert fwd.unpack_dual(X * 2).tangent is None
        assert fwd.unpack_dual(x.detach()).tangent is None
        with wg.no_grad():
            assert fwd.unpack_dual(x * 3).tangent.tolist() == [3.0, 0.0]
        z = wg.zeros(2)
        z.copy_(x)
        assert fwd.unpack_dual(z).tangent.tolist() == [1.0, 0.0]
    assert current_mode() is None


def test_outside_of_levels_nothing_has_a_tangent():
    assert fwd.unpack_dual(X) == fwd.UnpackedDualTensor(X, None)
    with pytest.raises(RuntimeError, match="Trying to create a dual Tensor for forward AD but no"):
        fwd.make_dual(X, UNIT)
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fwd.exit_dual_level()


def test_a_tangent_ends_with_its_level():
    with fwd.dual_level():
        y = fwd.make_dual(X, UNIT) * 2
    primal, tangent = fwd.unpack_dual(y)
    assert primal.tolist() == [2.0, 4.0]
    assert tangent is None
    assert (y + 1).tolist() == [3.0, 5.0]
    assert y.numpy().tolist() == [2.0, 4.0]
    assert repr(y) == "tensor([2., 4.])"
    y.mul_(2)
    assert y.tolist() == [4.0, 8.0]


def test_gradients_go_through_a_level_that_has_ended():
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    with fwd.dual_level():
        dual = fwd.make_dual(x, UNIT)
        square = dual * dual
        y, tangent = square**2, fwd.unpack_dual(square).tangent
    for found, expected in zip(
        wg.autograd.grad(y.sum(), (square, dual, x), retain_graph=True),
        ([2.0, 8.0], [4.0, 32.0], [4.0, 32.0]),
        strict=True,
    ):
        assert found.tolist() == expected
    # the value and the tangent together: x**4 + 2 x, by the first element
    (both,) = wg.autograd.grad((y + tangent).sum(), x, retain_graph=True)
    assert both.tolist() == [6.0, 32.0]
    (y * 1).sum().backward()
    assert x.grad.tolist() == [4.0, 32.0]


def test_what_a_level_leaves_behind_has_no_tangent():
    w, held = wg.tensor([3.0, 1.0], requires_grad=True), wg.zeros(2)
    with fwd.dual_level():
        dual = fwd.make_dual(X, UNIT)
        (dual * w).sum().backward()
        held.copy_(dual)
        assert fwd.unpack_dual(w.grad).tangent.tolist() == [1.0, 0.0]
    assert w.grad.numpy().tolist() == [1.0, 2.0]
    assert (held * 2).tolist() == [2.0, 4.0]
    (w * w).sum().backward()
    assert w.grad.tolist() == [7.0, 4.0]
    with fwd.dual_level():
        again = fwd.make_dual(dual, UNIT)
        assert fwd.unpack_dual(again * 2).tangent.tolist() == [2.0, 0.0]


def test_private_names_that_programs_look_at():
    assert fwd._current_level == -1
    with fwd.dual_level():
        assert fwd._current_level == 0
        dual = fwd.make_dual(X, UNIT)
        with fwd._set_fwd_grad_enabled(False):
            assert not fwd._is_fwd_grad_enabled()
            assert fwd.unpack_dual(dual * 2).tangent is None
        assert fwd._is_fwd_grad_enabled()
        assert fwd.unpack_dual(dual * 2).tangent is not None


def test_both_parts_can_be_differentiated():
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    t = wg.tensor([1.0, 3.0], requires_grad=True)
    with fwd.dual_level():
        primal, tangent = fwd.unpack_dual(fwd.make_dual(x, t) ** 3)
    dx, dt = wg.autograd.grad(tangent.sum(), (x, t), retain_graph=True)
    assert (dx.tolist(), dt.tolist()) == ([6.0, 36.0], [3.0, 12.0])
    (dx,) = wg.autograd.grad(primal.sum(), x)
    assert dx.tolist() == [3.0, 12.0]


def test_levels_end_in_order():
    level = fwd.enter_dual_level()
    with pytest.raises(RuntimeError, match="Trying to exit a forward AD level that was not the"):
        fwd.exit_dual_level(level=level + 1)
    fwd.exit_dual_level(level=level)
    assert current_mode() is None


def test_a_level_ends_without_touching_other_modes():
    level = fwd.enter_dual_level()
    with wg.no_grad():
        fwd.exit_dual_level(level=level)
        assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()


def test_as_a_decorator():
    @fwd.dual_level()
    def slope(x):
        return fwd.unpack_dual(fwd.make_dual(x, UNIT).sin()).tangent

    assert slope(wg.zeros(2)).tolist() == [1.0, 0.0]
    assert current_mode() is None


def test_transforms_inside_and_vmap():
    with fwd.dual_level():
        x = fwd.make_dual(X, UNIT)
        _, tangent = fwd.unpack_dual(wg.func.vmap(lambda v: v**3)(x))
        assert tangent.tolist() == [3.0, 0.0]
        _, tangent = fwd.unpack_dual(wg.func.grad(lambda v: (v**3).sum())(x))
        assert tangent.tolist() == [6.0, 0.0]


ERRORS = [
    (lambda: fwd.make_dual(X, wg.ones(3)), RuntimeError, "Trying to set a forward gradient that"),
    (lambda: fwd.make_dual(X.int(), X), ValueError, "Expected primal to be floating point or"),
    (lambda: fwd.make_dual(X, X.int()), ValueError, "Expected tangent to be floating point or"),
    (lambda: fwd.make_dual(X, X + 1j), ValueError, "Expected tangent to be real"),
    (lambda: fwd.make_dual(3.0, X), TypeError, "primal must be a Tensor"),
    (
        lambda: fwd.make_dual(fwd.make_dual(X, X), X),
        RuntimeError,
        "Making a dual Tensor based on a Tensor that already has a forward gradient",
    ),
    (
        lambda: fwd.make_dual(X, fwd.make_dual(X, X)),
        RuntimeError,
        "Setting a forward grad that itself has a forward gradient",
    ),
]


@pytest.mark.parametrize(("call", "kind", "words"), ERRORS, ids=range(len(ERRORS)))
def test_errors(call, kind, words):
    with fwd.dual_level(), pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)


def test_the_tangent_takes_the_dtype_of_the_primal():
    with fwd.dual_level():
        x = fwd.make_dual(X, wg.ones(2, dtype=wg.float64))
        tangent = fwd.unpack_dual(x).tangent
        assert (tangent.dtype, tangent.tolist()) == (wg.float32, [1.0, 1.0])
        z = fwd.make_dual(X + 1j, wg.ones(2))
        tangent = fwd.unpack_dual(z).tangent
        assert (tangent.dtype, tangent.tolist()) == (wg.complex64, [1.0, 1.0])


def test_levels_are_those_of_a_thread():
    found = []

    def work():
        found.append(fwd.unpack_dual(X).tangent)
        with pytest.raises(RuntimeError, match="no level exists"):
            fwd.make_dual(X, UNIT)
        found.append(fwd.enter_dual_level())

    with fwd.dual_level():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert fwd.unpack_dual(fwd.make_dual(X, UNIT)).tangent is not None
    assert found == [None, 0]


def test_the_tangent_that_was_given_comes_back_as_it_is():
    with fwd.dual_level():
        dual = fwd.make_dual(X, UNIT)
        assert fwd.unpack_dual(dual).tangent is UNIT
        assert fwd.unpack_dual(dual * 1).tangent is not UNIT
        other = fwd.make_dual(X, UNIT.double())
        assert fwd.unpack_dual(other).tangent.dtype is X.dtype
        written = fwd.make_dual(X.clone(), UNIT.clone())
        written.mul_(3)
        assert wg.equal(fwd.unpack_dual(written).tangent, 3 * UNIT)
        with pytest.raises(RuntimeError, match="there is no forward AD level 1"):
            fwd.make_dual(X, UNIT, level=1)
    assert fwd.unpack_dual(dual).tangent is None


def test_a_jvp_may_drop_what_forward_left():
    class Exponential(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.result = x.exp()
            return ctx.result

        @staticmethod
        def jvp(ctx, tangent):
            slope = tangent * ctx.result
            del ctx.result
            assert not hasattr(ctx, "result")
            return slope

    with fwd.dual_level():
        out = Exponential.apply(fwd.make_dual(X, UNIT))
        assert wg.equal(fwd.unpack_dual(out).tangent, UNIT * X.exp())


def test_what_saved_a_tangent_notices_writes_to_the_whole():
    w = wg.ones(2, requires_grad=True)
    with fwd.dual_level():
        for given in (True, False):
            dual = fwd.make_dual(X.clone(), UNIT.clone())
            dual = dual if given else dual * 2
            out = fwd.unpack_dual(dual).tangent * w
            dual.mul_(2)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                out.sum().backward()


def test_writing_under_vmap_writes_to_the_tangent_that_was_given():
    x, slope = wg.ones(2, 3), wg.ones(2, 3)
    with fwd.dual_level():
        dual = fwd.make_dual(x, slope)
        wg.func.vmap(lambda row: row.mul_(2))(dual)
        assert fwd.unpack_dual(dual).tangent.tolist() == [[2.0] * 3] * 2
        assert wg.equal(fwd.unpack_dual(dual).tangent, slope)


def test_a_recorded_tangent_follows_writes_to_its_memory_and_to_the_whole():
    x, t = wg.tensor([2.0], requires_grad=True), wg.tensor([3.0], requires_grad=True)
    with fwd.dual_level():
        dual = fwd.make_dual(x, t) * 1
        fwd.unpack_dual(dual).tangent.detach().mul_(5)
        assert fwd.unpack_dual(dual).tangent.tolist() == [15.0]
        dual.mul_(dual.detach().clone())
        tangent = fwd.unpack_dual(dual).tangent
        assert tangent.tolist() == [30.0]
        (slope,) = wg.autograd.grad(tangent, t)
        assert slope.tolist() == [2.0]


def test_an_operation_without_a_derivative_refuses_tangents():
    forward = wg.autograd.forward_ad
    with forward.dual_level():
        x = forward.make_dual(wg.ones(2), wg.ones(2))
        with pytest.raises(NotImplementedError, match="Trying to use forward AD with special_zeta"):
            wg.special.zeta(x + 1, x)


def test_gradients_with_tangents_have_memory_of_their_own():
    x, y = wg.ones(2, requires_grad=True), wg.ones(2, requires_grad=True)
    with fwd.dual_level():
        dual = fwd.make_dual(wg.ones(2), wg.ones(2))
        ((x + y) * dual).sum().backward()
        x.grad.mul_(5)
        assert y.grad.tolist() == [1.0, 1.0]
        assert fwd.unpack_dual(y.grad).tangent.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("part", ["primal", "tangent"])
def test_a_recorded_write_to_a_part_of_what_has_a_history_is_refused(part):
    x = wg.tensor([2.0, 3.0], requires_grad=True)
    with fwd.dual_level():
        dual = fwd.make_dual(x, UNIT.clone()) ** 2
        found = getattr(fwd.unpack_dual(dual), part)
        for write in (lambda: found.mul_(2), lambda: found[0].mul_(2)):
            with pytest.raises(RuntimeError, match=r"what unpack_dual\(\) took of a tensor"):
                write()
        with wg.no_grad():
            found.mul_(2)
        assert getattr(fwd.unpack_dual(dual), part).tolist() == found.tolist()


def test_a_tangent_has_the_history_of_what_is_written_to():
    x = wg.tensor([2.0], requires_grad=True)
    with fwd.dual_level():
        slope = wg.tensor([3.0])
        dual = fwd.make_dual(x * 1, slope)
        dual.mul_(x)
        assert fwd.unpack_dual(dual).tangent is slope
        assert slope.tolist() == [6.0]
        (found,) = wg.autograd.grad(slope, x)
        assert found.tolist() == [3.0]


def test_data_is_the_value_without_its_tangent():
    x, t = wg.tensor([0.5, -2.0]), wg.tensor([1.0, 3.0])
    with fwd.dual_level():
        dual = fwd.make_dual(x, t) * 1
        dual.data.mul_(2)
        primal, tangent = fwd.unpack_dual(dual)
        assert primal.tolist() == (x * 2).tolist()
        assert tangent.tolist() == t.tolist()
        plain = wg.zeros(2)
        plain.data = dual
        assert fwd.unpack_dual(plain).tangent is None
        with pytest.raises(NotImplementedError, match="the tensor carries a tangent"):
            dual.data = dual * 2


CUTS = {
    "data": lambda x: x.data,
    "detach": lambda x: x.detach(),
    "tensor": wg.tensor,
    "new_tensor": lambda x: x.new_tensor(x),
    "asarray": lambda x: wg.asarray(x, requires_grad=False),
    "Variable": wg.autograd.Variable,
    "Parameter": wg.nn.Parameter,
}


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_what_leaves_the_graph_leaves_forward_mode(cut):
    x = wg.tensor([0.5, -2.0])
    for derivative in (wg.func.jacfwd, wg.func.jacrev):
        assert derivative(lambda v: (v * cut(v)).sum())(x).tolist() == x.tolist()
        assert not derivative(derivative(lambda v: (v * cut(v)).sum()))(x).any()
    batch = wg.stack([x, UNIT])
    pushed = wg.vmap(lambda v: wg.func.jvp(lambda u: u * cut(u), (v,), (v,))[1])(batch)
    assert pushed.tolist() == (batch * batch).tolist()
    with fwd.dual_level():
        assert fwd.unpack_dual(cut(fwd.make_dual(x, UNIT))).tangent is None
