"""Test gradients computed inside forward mode or `vmap`."""

import numpy as np
import pytest

import wengert as wg
import wengert.autograd.forward_ad as fwd
from wengert import func


def leaf(value):
    return wg.tensor(value, dtype=wg.float64, requires_grad=True)


def number(value):
    return wg.tensor(value, dtype=wg.float64)


def pair(dual):
    primal, tangent = fwd.unpack_dual(dual)
    return primal.item(), None if tangent is None else tangent.item()


def squared(x, w):
    return (x * w) ** 2


@pytest.mark.parametrize("graph", [False, True])
def test_backward_of_a_dual_tensor_gives_gradients_with_tangents(graph):
    x, w = leaf(3.0), leaf(5.0)
    with fwd.dual_level():
        y = squared(fwd.make_dual(x, number(1.0)), w)
        y.backward(create_graph=graph)
        assert (pair(w.grad), pair(x.grad)) == ((90.0, 60.0), (150.0, 50.0))


def test_a_second_backward_adds_value_and_tangent():
    x, w = leaf(3.0), leaf(5.0)
    with fwd.dual_level():
        y = squared(fwd.make_dual(x, number(1.0)), w)
        y.backward(retain_graph=True)
        y.backward()
        (2 * w).backward()
        assert (pair(w.grad), pair(x.grad)) == ((182.0, 120.0), (300.0, 100.0))


def test_gradients_by_intermediate_and_dual_tensors():
    x, w = leaf(3.0), leaf(5.0)
    with fwd.dual_level():
        dual = fwd.make_dual(x, number(1.0))
        product = dual * w
        seen = []
        product.register_hook(seen.append)
        found = wg.autograd.grad(product**2, (product, dual, w, x))
        assert [pair(g) for g in found] == [(30.0, 10.0), (150.0, 50.0), (90.0, 60.0), (150.0, 50)]
        assert pair(seen[0]) == (30.0, 10.0)


def test_a_tangent_that_requires_a_gradient_has_none_from_the_value():
    x, t, w = leaf(3.0), leaf(1.0), leaf(5.0)
    with fwd.dual_level():
        squared(fwd.make_dual(x, t), w).backward()
    assert t.grad is None


def test_gradients_of_tangents_are_plain():
    x, t, w = leaf(3.0), leaf(1.0), leaf(5.0)
    with fwd.dual_level():
        dual = fwd.make_dual(x, t)
        tangent = fwd.unpack_dual(squared(dual, w)).tangent
        found = wg.autograd.grad(tangent, (w, x, t, dual))
        assert [pair(g) for g in found] == [(60.0, None), (50.0, None), (150.0, None), (50.0, None)]
        inner = fwd.make_dual(x.detach(), number(1.0)).requires_grad_()
        fwd.unpack_dual(inner**3).tangent.backward()
        assert pair(inner.grad) == (18.0, None)


def test_a_pass_on_both_sides_of_a_level_is_refused():
    x, w = leaf(3.0), leaf(5.0)
    with fwd.dual_level():
        dual = fwd.make_dual(x, number(1.0))
        tangent = fwd.unpack_dual(squared(dual, w)).tangent
        with pytest.raises(RuntimeError, match="cannot go both through a dual tensor and"):
            (tangent * dual).backward()


def test_gradients_by_captured_tensors_under_jvp():
    w = leaf(5.0)

    def slope(x):
        return wg.autograd.grad(squared(x, w), w, create_graph=True)[0]

    primal, tangent = func.jvp(slope, (number(3.0),), (number(1.0),))
    assert (primal.item(), tangent.item()) == (90.0, 60.0)
    tangent.backward()
    assert w.grad.item() == 12.0  # d/dx d/dw of 2 x x w
    # twice as deep: d/dx d/dx d/dw
    _, second = func.jvp(
        lambda x: func.jvp(slope, (x,), (number(1.0),))[1], (number(3.0),), (number(1.0),)
    )
    assert second.item() == 20.0


def test_gradients_by_captured_tensors_under_vmap_are_those_of_each_element():
    w, rows = leaf(5.0), wg.tensor([1.0, 2.0, 3.0], dtype=wg.float64, requires_grad=True)

    def slope(x):
        return wg.autograd.grad(squared(x, w), w, create_graph=True)[0]

    assert func.vmap(slope)(rows).tolist() == [10.0, 40.0, 90.0]
    _, tangents = func.vmap(lambda x: func.jvp(slope, (x,), (number(1.0),)))(rows)
    assert tangents.tolist() == [20.0, 40.0, 60.0]
    whole = func.vmap(lambda x: wg.autograd.grad(x * x, rows, retain_graph=True)[0])(rows)
    np.testing.assert_array_equal(whole.detach().numpy(), np.diag([2.0, 4.0, 6.0]))
    # .grad is one for all of them
    func.vmap(lambda x: (squared(x, w).backward(), x)[1])(rows)
    assert w.grad.item() == 140.0
    assert rows.grad.tolist() == [50.0, 100.0, 150.0]


class Cubed(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        ctx.save_for_forward(x, w)
        return w * x**3

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return 3 * w * x**2 * g, x**3 * g


class CubedBothWays(Cubed):
    @staticmethod
    def jvp(ctx, t, t_w):
        x, w = ctx.saved_tensors
        return 3 * w * x**2 * t + (0 if t_w is None else x**3 * t_w)


@pytest.mark.parametrize("function", [Cubed, CubedBothWays])
def test_gradients_go_through_functions(function):
    x, w = leaf(2.0), leaf(5.0)
    with fwd.dual_level():
        y = function.apply(fwd.make_dual(x, number(1.0)), w)
        assert pair(y) == (40.0, 60.0)
        found = wg.autograd.grad(y, (x, w))
        assert [pair(g) for g in found] == [(60.0, 60.0), (8.0, 12.0)]
    primal, tangent = func.jvp(lambda x: function.apply(x, w), (x,), (number(1.0),))
    dx, dw = wg.autograd.grad(tangent, (x, w), retain_graph=True)
    assert (dx.item(), dw.item()) == (60.0, 12.0)
    dx, dw = wg.autograd.grad(primal, (x, w))
    assert (dx.item(), dw.item()) == (60.0, 8.0)


def rules_of(y, kind):
    """sin(x) y, with rules that close over y."""
    if kind == "vjp":
        ruled = func.custom_vjp(lambda x: y * x.sin())
        ruled.defvjp(lambda x: (y * x.sin(), x), lambda x, g: (y * x.cos() * g,))
        return ruled
    ruled = func.custom_jvp(lambda x: y * x.sin())
    ruled.defjvp(lambda p, t: (ruled(*p), y * p[0].cos() * t[0]))
    return ruled


ONE = number(1.0)
BY_Y = {
    "grad": lambda f: func.grad(f)(number(4.0)),
    "jvp": lambda f: func.jvp(f, (number(4.0),), (ONE,))[1],
    "jacfwd": lambda f: func.jacfwd(f)(number(4.0)),
    "jacrev": lambda f: func.jacrev(f)(number(4.0)),
    "vmap(grad)": lambda f: func.vmap(func.grad(f))(number([4.0]))[0],
    "grad(vmap)": lambda f: func.grad(lambda ys: func.vmap(f)(ys).sum())(number([4.0]))[0],
    "jvp(vmap)": lambda f: func.jvp(func.vmap(f), (number([4.0]),), (number([1.0]),))[1][0],
}
BY_X = {
    "value": (lambda f: f(ONE), np.sin(1)),
    "grad": (lambda f: func.grad(f)(ONE), np.cos(1)),
    "vjp": (lambda f: func.vjp(f, ONE)[1](ONE)[0], np.cos(1)),
    "jvp": (lambda f: func.jvp(f, (ONE,), (ONE,))[1], np.cos(1)),
    "vmap": (lambda f: func.vmap(f)(number([1.0]))[0], np.sin(1)),
    "vmap(grad)": (lambda f: func.vmap(func.grad(f))(number([1.0]))[0], np.cos(1)),
    "grad(grad)": (lambda f: func.grad(func.grad(f))(ONE), -np.sin(1)),
    "jvp(grad)": (lambda f: func.jvp(func.grad(f), (ONE,), (ONE,))[1], -np.sin(1)),
}


@pytest.mark.parametrize("kind", ["vjp", "jvp"])
@pytest.mark.parametrize("outer", BY_Y)
@pytest.mark.parametrize("inner", BY_X)
def test_rules_may_close_over_what_an_outer_transform_follows(kind, outer, inner):
    by_x, expected = BY_X[inner]
    found = BY_Y[outer](lambda y: by_x(rules_of(y, kind)))
    np.testing.assert_allclose(found.item(), expected, rtol=1e-12)


class ByHand(wg.autograd.Function):
    """w x x, whose vmap takes w as it is."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * x * w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return 2 * x * w * g, (x * x * g).sum_to_size(w.shape)

    @staticmethod
    def vmap(info, in_dims, x, w):
        return ByHand.apply(x, w), 0


class Closing:
    """x x w in ways that close over w."""

    def function(self, w, with_jvp=False):
        class Own(wg.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                ctx.save_for_forward(x)
                return x * x * w

            @staticmethod
            def backward(ctx, g):
                return 2 * ctx.saved_tensors[0] * g * w

            if with_jvp:

                @staticmethod
                def jvp(ctx, t):
                    return 2 * ctx.saved_tensors[0] * t * w

        return Own.apply

    def function_with_jvp(self, w):
        return self.function(w, True)

    def vjp(self, w):
        ruled = func.custom_vjp(lambda x: x * x * w)
        ruled.defvjp(lambda x: (x * x * w, x), lambda x, g: (2 * x * g * w,))
        return ruled

    def jvp(self, w):
        ruled = func.custom_jvp(lambda x: x * x * w)
        ruled.defjvp(lambda p, t: (ruled(*p), 2 * p[0] * t[0] * w))
        return ruled


REFUSED = "does not belong to the transform"


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("kind", ["function", "function_with_jvp", "vjp", "jvp"])
def test_gradients_inside_of_a_level_by_what_a_rule_closes_over_are_refused(kind, graph):
    reason = "closes over a tensor" if kind in ("vjp", "jvp") else REFUSED
    for w in (leaf(3.0), 1.0 * leaf(3.0)):
        ruled = getattr(Closing(), kind)(w)
        x = leaf(5.0)
        with fwd.dual_level():
            y = ruled(fwd.make_dual(x, number(1.0)))
            with pytest.raises(RuntimeError, match=reason):
                wg.autograd.grad(y + w * x, w, create_graph=graph, retain_graph=True)
            with pytest.raises(RuntimeError, match=reason):
                y.backward(create_graph=graph, retain_graph=True)
            assert x.grad is None
            # what does belong to it has its gradient, and from outside so has w
            assert pair(wg.autograd.grad(y, x, retain_graph=True)[0]) == (30.0, 6.0)
            assert wg.autograd.grad(fwd.unpack_dual(y).tangent, w)[0].item() == 10.0


@pytest.mark.parametrize("function", [ByHand.apply, wg.compile(lambda x, w: x * x * w)])
def test_gradients_of_elements_by_what_they_share_are_not_summed(function):
    w, rows = leaf(3.0), number([1.0, 2.0, 5.0])

    with pytest.raises(RuntimeError, match=REFUSED):
        func.vmap(lambda x: wg.autograd.grad(function(x, w), w)[0])(rows)
    # as an input of the transform it has one for each
    each = func.vmap(lambda x, w: func.grad(lambda w: function(x, w))(w))(rows, w.expand(3))
    assert each.tolist() == [1.0, 4.0, 25.0]


def test_gradients_in_forward_mode_by_what_a_call_is_given():
    w = leaf(3.0)
    with fwd.dual_level():
        x = fwd.make_dual(number(5.0), number(1.0))
        assert pair(wg.autograd.grad(ByHand.apply(x, w), w)[0]) == (25.0, 10.0)
        compiled = wg.compile(lambda x, w: x * x * w)
        with pytest.raises(RuntimeError, match=REFUSED):
            wg.autograd.grad(compiled(x, w), w)
        assert wg.autograd.grad(fwd.unpack_dual(compiled(x, w)).tangent, w)[0].item() == 10.0


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("factor", [None, 2.0])
@pytest.mark.parametrize("kind", ["tensor", "prehook", "posthook"])
def test_hooks_see_the_gradient_by_the_value_in_a_pass_through_the_tangent(kind, factor, graph):
    x, seen = leaf(5.0), []

    def note(g):
        seen.append(pair(g))
        return None if factor is None else g * factor

    def of_node(grads, *outputs):
        (g,) = map(note, grads if kind == "prehook" else outputs[0])
        return None if g is None or kind == "posthook" else (g,)

    with fwd.dual_level():
        h = fwd.make_dual(x, number(3.0)).sin()
        if kind == "tensor":
            h.register_hook(note)
        elif kind == "prehook":
            h.grad_fn.register_prehook(of_node)
        else:
            h.grad_fn.register_hook(of_node)
        tangent = fwd.unpack_dual(h**3).tangent
        tangent.backward(create_graph=graph)
        # of 3 h h dh by h, and by x; doubled it is what PyTorch's own tensors h and dh make of it
        sin, cos = np.sin(5.0), np.cos(5.0)
        by_h, by_slope = 6 * sin * cos * 3, 3 * sin**2
        np.testing.assert_allclose(seen[0][0], by_h, rtol=1e-12)
        assert seen[0][1] is None and len(seen) == 1
    changed = 1.0 if kind == "posthook" or factor is None else factor
    expected = changed * by_h * cos - by_slope * sin * 3
    np.testing.assert_allclose(x.grad.item(), expected, rtol=1e-12)


def test_a_recorded_gradient_that_a_dual_level_adds_to_keeps_its_derivative():
    x = wg.tensor([1.5, -0.3], dtype=wg.float64, requires_grad=True)
    (x * x).sum().backward(create_graph=True)
    with wg.autograd.forward_ad.dual_level():
        dual = wg.autograd.forward_ad.make_dual(x, wg.ones_like(x))
        (dual * 2).sum().backward()
    assert x.grad.tolist() == [5.0, 1.4]
    (g,) = wg.autograd.grad(x.sin().sum() + x.grad.sum(), x)
    assert g.tolist() == pytest.approx((x.cos() + 2).tolist())
