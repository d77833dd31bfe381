"""Test that compiled functions under transforms compute the same, and are compiled."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
import wengert.autograd.forward_ad as fwd
from wengert.compiler import CompileError
from wengert.func import (
    functional_call,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
    vmap,
)

NUMPY: dict[str, Any] = {"backend": "numpy", "options": {"measure": False}}
F64: dict[str, Any] = {"dtype": wg.float64}

X = wg.tensor(np.cos(np.arange(12.0)).reshape(4, 3))
W = wg.tensor(np.sin(np.arange(9.0)).reshape(3, 3), requires_grad=True)
Make = Callable[[Any], Any]


def total(v: Any) -> Any:
    return (v.sin() * v.cos()).sum()


def many(v: Any) -> Any:
    return v.sin() * v.cumsum(0)


def close(v: Any) -> Any:
    return (v @ W).tanh().sum()


def check_same(found: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        found, expected = list(found.items()), list(expected.items())
    if isinstance(expected, tuple | list):
        assert type(found) is type(expected)
        for one, other in zip(found, expected, strict=True):
            check_same(one, other)
    elif isinstance(expected, wg.Tensor):
        assert found.dtype == expected.dtype
        assert found.requires_grad == expected.requires_grad
        assert np.shape(found.detach()) == np.shape(expected.detach())
        assert np.allclose(found.detach(), expected.detach(), rtol=1e-10, atol=1e-12)
    else:
        assert found == expected


def check(make: Make, function: Any, runs: int = 3, compiled: bool = True) -> Any:
    """`make` gives the same of a function and of the compiled function, also when it runs again."""
    expected = make(function)
    made = wg.compile(function, **NUMPY)
    for _ in range(runs):
        check_same(make(made), expected)
    if compiled:
        beneath = made.under_transforms.values()
        assert made.explain().traces > 0
        assert all(part.reason is None for part in beneath)
    return made


# -- every transform -------------------------------------------------------------------------------


TRANSFORMS: dict[str, Make] = {
    "vmap": lambda f: vmap(f)(X),
    "jvp": lambda f: jvp(f, (X[0],), (X[1],)),
    "grad": lambda f: grad(lambda v: f(v).sum())(X[0]),
    "vjp": lambda f: (lambda o, pull: (o, pull(wg.ones_like(o))))(*vjp(f, X[0])),
    "linearize": lambda f: (lambda o, push: (o, push(X[1])))(*linearize(f, X[0])),
    "jacrev": lambda f: jacrev(f)(X[0]),
    "jacfwd": lambda f: jacfwd(f)(X[0]),
    "hessian": lambda f: hessian(f)(X[0]),
    "vmap(grad)": lambda f: vmap(grad(lambda v: f(v).sum()))(X),
    "grad(vmap)": lambda f: grad(lambda x: vmap(f)(x).sum())(X),
    "jvp(grad)": lambda f: jvp(grad(lambda v: f(v).sum()), (X[0],), (X[1],)),
    "grad(jvp)": lambda f: grad(lambda v: jvp(f, (v,), (v * 2,))[1].sum())(X[0]),
    "vmap(jvp)": lambda f: vmap(lambda v: jvp(f, (v,), (v * 2,)))(X),
    "jvp(vmap)": lambda f: jvp(vmap(f), (X,), (X * 2,)),
    "jvp(jvp)": lambda f: jvp(lambda v: jvp(f, (v,), (v * 2,))[1], (X[0],), (X[1],)),
    "vmap(vmap)": lambda f: vmap(vmap(lambda a: f(wg.stack([a, a * 2]))))(X),
    "vmap(jacrev)": lambda f: vmap(jacrev(f))(X),
    "vmap(hessian)": lambda f: vmap(hessian(f))(X[:2]),
    "grad(grad)": lambda f: grad(lambda v: grad(lambda a: f(a).sum())(v).sum())(X[0]),
    "vmap(grad(grad))": lambda f: vmap(grad(lambda v: grad(lambda a: f(a).sum())(v).sum()))(X),
    "jacrev(jacrev)": lambda f: jacrev(jacrev(f))(X[0]),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("function", [total, many])
def test_transforms_of_compiled_functions_give_what_those_of_the_functions_do(
    name: str, function: Any
) -> None:
    made = check(TRANSFORMS[name], function)
    assert made.explain().traces == 1


@pytest.mark.parametrize("name", ["vmap", "jvp", "jacrev", "hessian", "vmap(grad)", "jvp(grad)"])
def test_compiled_outside_and_both_ways_give_the_same(name: str) -> None:
    make = TRANSFORMS[name]
    expected = make(total)
    for inner in (total, wg.compile(total, **NUMPY)):
        outer = wg.compile(lambda inner=inner: make(inner), **NUMPY)
        for _ in range(2):
            check_same(outer(), expected)
        assert outer.explain().traces == 1


def test_gradients_inside_of_functions_are_differentiated_from_outside() -> None:
    def f(v: Any, w: Any) -> Any:
        return grad(lambda q: (q**3 * w).sum())(v)

    check(lambda f: linearize(f, X[0], X[1])[1](X[1], X[2]), f)
    check(lambda f: vmap(lambda v: linearize(f, v, X[1])[1](v, X[2]))(X), f)


@pytest.mark.parametrize("name", ["vmap", "vmap(grad)", "jacrev", "jvp(grad)"])
def test_native_code_under_transforms_gives_the_same(name: str) -> None:
    pytest.importorskip("llvmlite")
    made = wg.compile(many, options={"measure": False})
    for _ in range(2):
        check_same(TRANSFORMS[name](made), TRANSFORMS[name](many))


def test_dual_tensors_made_by_hand_are_compiled() -> None:
    def make(f: Any) -> Any:
        with fwd.dual_level():
            return tuple(fwd.unpack_dual(f(fwd.make_dual(X[0], X[1]))))

    check(make, many)


# -- what functions take and return ----------------------------------------------------------------


def test_containers_and_mapped_dimensions_are_as_uncompiled() -> None:
    def f(d: Any, ys: Any, scale: float = 2.0) -> Any:
        return {"a": d["x"] * scale + ys[0], "b": (ys[1].sum(), d["x"].relu())}

    def make(f: Any) -> Any:
        mapped = vmap(f, in_dims=({"x": 1}, (None, 0)), out_dims={"a": 1, "b": (0, 0)})
        return mapped({"x": X.t()}, (W[0].detach(), X)), vmap(
            lambda v: f({"x": v}, [v, v], scale=3.0)
        )(X)

    check(make, f)


def test_results_that_are_arguments_numbers_or_do_not_depend_on_the_batch_are_as_uncompiled() -> (
    None
):
    check(lambda f: vmap(f)(X), lambda v: v)
    check(lambda f: jvp(f, (X[0],), (X[1],)), lambda v: v)
    check(lambda f: jvp(f, (X[0],), (X[1],)), lambda v: v + 1)
    check(lambda f: jvp(f, (X[0],), (X[1],)), lambda v: v.detach() * v)
    check(lambda f: vmap(f)(X), lambda v: wg.ones(2))
    check(lambda f: vmap(lambda v: v * f(v)[1])(X), lambda v: (v * 2, 3.0))
    check(lambda f: vmap(f, out_dims=(0, None))(X), lambda v: (v + 1, W * 2))
    check(lambda f: vmap(lambda v: v * f(W.detach()))(X), lambda w: float(w.sum()))


def test_a_result_that_is_an_argument_is_that_tensor() -> None:
    f = wg.compile(lambda v: (v * 2, v), **NUMPY)
    for _ in range(2):
        vmap(lambda v: (f(v)[1] is v or pytest.fail("another tensor"), v)[1])(X)


def test_integers_booleans_and_complex_numbers_are_mapped() -> None:
    check(lambda f: vmap(f)(wg.arange(12).view(4, 3)), lambda v: (v * 2).sum())
    check(lambda f: vmap(f)(X), lambda v: (v > 0, v.argmax(), v.sort()[0]))
    check(lambda f: vmap(f)(X + 1j * X), lambda v: (v * v.conj()).sum())
    check(lambda f: jvp(f, (X[0] + 1j * X[1],), (X[1] + 0j,)), lambda v: (v * v.conj()).sum())


def test_sizes_of_batches_are_conditions() -> None:
    made = check(lambda f: [vmap(f)(X[:n]) for n in (0, 1, 3)], total)
    assert made.explain().traces == 3
    made = check(lambda f: vmap(f, chunk_size=3)(X), total)
    assert made.explain().traces == 2


# -- what functions reach --------------------------------------------------------------------------


def test_closed_over_tensors_get_their_gradients() -> None:
    def backward(f: Any) -> Any:
        w = W.grad
        W.grad = None
        vmap(f)(X).sum().backward()
        found, W.grad = W.grad, w
        return found

    def twice(f: Any) -> Any:
        (g,) = wg.autograd.grad(vmap(f)(X).sum(), W, create_graph=True)
        return wg.autograd.grad((g**2).sum(), W)[0]

    for make in (backward, twice, lambda f: vmap(f)(X)):
        check(make, close)
    check(lambda f: wg.no_grad()(lambda: vmap(f)(X))(), close)
    check(lambda f: vmap(jacrev(f))(X), lambda v: (v @ W).sin())


def test_arguments_with_a_history_are_differentiated_through_levels() -> None:
    def gradient(of: Any, create_graph: bool) -> Any:
        (g,) = wg.autograd.grad(of, W, create_graph=create_graph)
        return wg.autograd.grad((g**2).sum(), W)[0] if create_graph else g

    for again in (False, True):
        check(lambda f, again=again: gradient(vmap(f)(W).sum(), again), total)
        check(lambda f, again=again: gradient(jvp(f, (W,), (W * 2,))[1], again), total)
        check(
            lambda f, again=again: gradient(
                vmap(lambda v: jvp(f, (v,), (v * 2,))[1])(W).sum(), again
            ),
            total,
        )


def test_arguments_without_a_tangent_have_gradients_under_forward_mode() -> None:
    w = W.detach()[0]
    check(lambda f: jvp(lambda v: grad(f)(w) * v, (X[0],), (X[1],)), total)
    check(
        lambda f: jvp(
            lambda v: grad(lambda a, b: f(a * b), argnums=(0, 1))(w, v), (X[0],), (X[1],)
        ),
        total,
    )
    check(
        lambda f: jvp(
            lambda v: grad(lambda a: grad(lambda b: f(b)[0])(a).sum())(w) * v, (X[0],), (X[1],)
        ),
        lambda v: (v.sin().sum(), wg.no_grad()(lambda: v * 2)()),
    )


def test_tensors_batched_further_out_are_reached() -> None:
    check(
        lambda f: vmap(lambda s: vmap(lambda v: f(v, s))(X))(W.detach()),
        lambda v, s: (v * s).sum() + v.sin(),
    )
    check(lambda f: vmap(lambda s: vmap(lambda v: f(s) + v)(X))(W.detach()), total)


class Holder:
    p = wg.ones(3, **F64)


def test_attributes_that_hold_batches_are_reached() -> None:
    holder = Holder()

    def f(v: Any) -> Any:
        return (v * holder.p).sum()

    def make(f: Any) -> Any:
        def within(p: Any, v: Any) -> Any:
            holder.p = p
            try:
                return f(v)
            finally:
                del holder.p

        return vmap(within)(X * 2, X)

    holder.p = X
    check(make, f)


def test_modules_are_called_with_batches_of_parameters() -> None:
    model = wg.nn.Sequential(wg.nn.Linear(3, 2), wg.nn.Tanh(), wg.nn.Linear(2, 1)).double()
    own = {name: p.detach() for name, p in model.named_parameters()}
    ensemble = {name: wg.stack([p, p * 2]) for name, p in own.items()}

    def loss(p: Any, v: Any) -> Any:
        return functional_call(model, p, (v.unsqueeze(0),)).square().sum()

    check(lambda f: vmap(grad(f), in_dims=(None, 0))(own, X), loss)
    check(lambda f: vmap(f, in_dims=(0, None))(ensemble, X[0]), loss)
    quick = wg.compile(model, **NUMPY)
    for _ in range(2):
        check_same(
            vmap(lambda p: functional_call(quick, p, (X,)))(ensemble),
            vmap(lambda p: functional_call(model, p, (X,)))(ensemble),
        )


# -- writes ----------------------------------------------------------------------------------------


def written_copy(v: Any) -> Any:
    v = v.clone()
    v[0] = 5
    v += 1
    return v * 2


def written_zeros(v: Any) -> Any:
    y = wg.zeros(3, **F64)
    y[1] = v.sum()
    y[0:1] += v[:1]
    return y


@pytest.mark.sampled(4)
@pytest.mark.parametrize("function", [written_copy, written_zeros])
@pytest.mark.parametrize("name", ["vmap", "jvp", "vmap(grad)", "hessian"])
def test_functions_may_write_to_what_they_make(name: str, function: Any) -> None:
    check(TRANSFORMS[name], function)


BUFFER = wg.zeros(3, **F64)


def test_writes_to_tensors_of_the_outside_happen() -> None:
    def f(v: Any) -> Any:
        BUFFER.add_(1)
        return v + BUFFER

    def make(f: Any) -> Any:
        BUFFER.zero_()
        return vmap(f)(X), BUFFER.clone()

    check(make, f)


def doubled(v: Any) -> Any:
    v.mul_(2)
    return v + 1


def test_writes_to_arguments_of_a_transform_happen_uncompiled() -> None:
    def mapped(f: Any) -> Any:
        x = X.clone()
        return vmap(f)(x), x

    def pushed(f: Any) -> Any:
        x, t = X[0].clone(), X[1].clone()
        return jvp(f, (x,), (t,)), x, t

    def single(f: Any) -> Any:
        x = wg.tensor(2.0, **F64)
        return jvp(f, (x,), (X[0, 1],)), x + 0

    for make in (mapped, pushed, single):
        with pytest.warns(UserWarning, match="it writes to a tensor of a transform"):
            check(make, doubled, compiled=False)


def test_results_that_share_memory_with_arguments_are_views_uncompiled() -> None:
    def make(f: Any) -> Any:
        x = X.clone()

        def within(v: Any) -> Any:
            f(v)[1].mul_(3)
            return v

        return vmap(within)(x), vmap(grad(lambda v: sum(p.exp().sum() for p in f(v))))(X)

    with pytest.warns(UserWarning, match="shares memory with an argument"):
        check(make, lambda v: (v * 2, v[1:]), compiled=False)


# -- decisions, errors and random numbers ----------------------------------------------------------


def test_decisions_under_forward_mode_are_traced() -> None:
    def f(v: Any) -> Any:
        return (v * 2).sin().sum() if v.sum() > 0 else v.cos().sum()

    made = check(lambda f: [jvp(f, (s * X[0],), (X[1],)) for s in (1.0, -1.0, 2.0)], f)
    assert made.explain().traces == 2
    check(lambda f: [jvp(grad(f), (s * X[0],), (X[1],)) for s in (1.0, -1.0, 2.0)], f)
    check(lambda f: jvp(f, (X[0],), (X[1],)), lambda v: v * v.max().item())


def test_loops_by_values_need_one_trace_under_forward_mode() -> None:
    def f(v: Any) -> Any:
        while v.norm() < 100:
            v = v * 2
        return v

    made = check(lambda f: [jvp(f, (s * X[0],), (X[1],)) for s in (1.0, 1e-2, 1e-4, 500.0)], f)
    assert made.explain().traces <= 2


def test_the_errors_are_those_of_the_functions() -> None:
    def loop(v: Any) -> Any:
        while v.norm() < 100:
            v = v * 2
        return v

    functions = [
        loop,
        lambda v: v * 2 if v.sum() > 0 else v,
        lambda v: v * v.sum().item(),
        lambda v: v[v > 0],
        lambda v: v @ wg.ones(4, **F64),
        lambda v: v.numpy(),
        lambda v: v + wg.randn(3, **F64),
    ]
    for function in functions:
        with pytest.raises(RuntimeError) as expected:
            vmap(function)(X)
        made = wg.compile(function, **NUMPY)
        for _ in range(2):
            with pytest.raises(RuntimeError) as found:
                vmap(made)(X)
            assert str(found.value) == str(expected.value)
        assert isinstance(X._payload, np.ndarray)
        assert not wg.compiler.is_compiling()


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_random_numbers_are_drawn_as_uncompiled(randomness: str) -> None:
    def noisy(v: Any) -> Any:
        return wg.nn.functional.dropout(v, 0.5) + wg.randn(3, **F64)

    def make(f: Any) -> Any:
        wg.manual_seed(3)
        return [vmap(f, randomness=randomness)(X) for _ in range(2)]

    check(make, noisy)
    outer = wg.compile(vmap(noisy, randomness=randomness), **NUMPY)
    wg.manual_seed(3)
    check_same([outer(X) for _ in range(2)], make(noisy))
    assert outer.explain().traces == 1


def test_random_numbers_are_drawn_under_forward_mode() -> None:
    def make(f: Any) -> Any:
        wg.manual_seed(3)
        return jvp(f, (X[0],), (X[1],))

    check(make, lambda v: v * wg.randn(3, **F64))


def test_functions_that_could_not_run_again_are_differentiated_uncompiled() -> None:
    def noisy(v: Any) -> Any:
        return (wg.nn.functional.dropout(v, 0.5) * v).sum()

    def make(f: Any) -> Any:
        wg.manual_seed(3)
        return vmap(grad(lambda v: grad(f)(v).sum()), randomness="different")(X)

    with pytest.warns(UserWarning, match="draws random numbers and is differentiated from outside"):
        check(make, noisy, compiled=False)


def test_nothing_of_a_call_under_transforms_is_kept_alive() -> None:
    for make in (
        lambda f: vmap(f),
        lambda f: vmap(grad(f)),
        lambda f: lambda v: jvp(f, (v,), (v,))[1],
    ):
        made = make(wg.compile(total, **NUMPY))
        for _ in range(2):
            x = wg.ones(2, 3, requires_grad=True)
            y = made(x)
            alive = [weakref.ref(x), weakref.ref(y)]
            del x, y
            gc.collect()
            assert [reference() for reference in alive] == [None, None]


def test_threads_may_call_one_function_under_transforms() -> None:
    made = wg.compile(total, **NUMPY)
    arguments = [X * (i + 1) for i in range(4)]
    found: dict[int, Any] = {}

    def work(i: int) -> None:
        for _ in range(10):
            found[i] = vmap(grad(made))(arguments[i]), vmap(made)(arguments[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, x in enumerate(arguments):
        check_same(found[i], (vmap(grad(total))(x), vmap(total)(x)))


# -- what is said ----------------------------------------------------------------------------------


def test_explain_says_what_became_of_calls_under_transforms() -> None:
    f = wg.compile(total, **NUMPY)
    vmap(f)(X)
    jvp(f, (X[0],), (X[1],))
    text = str(f.explain())
    assert "total under vmap: 1 trace for 1 kind of arguments" in text
    assert "total under jvp: 1 trace" in text
    assert f.program.count("inputs") == 2
    f.forget()
    assert f.explain().traces == 0


def test_what_cannot_be_compiled_under_one_transform_is_compiled_elsewhere() -> None:
    f = wg.compile(lambda v: (v * 2, v[1:]), **NUMPY)
    with pytest.warns(UserWarning, match="not compiled under vmap, but runs as it is"):
        vmap(f)(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vmap(f)(X)
        f(X)
    assert f.reason is None
    assert "under vmap runs as it is" in str(f.explain())
    with pytest.raises(CompileError, match="shares memory"):
        vmap(wg.compile(f.function, fullgraph=True, **NUMPY))(X)


def test_more_sizes_than_the_limit_run_uncompiled() -> None:
    f = wg.compile(total, limit=2, **NUMPY)
    with pytest.warns(UserWarning, match="more than 2 kinds of arguments"):
        found = [vmap(f)(X[:n]) for n in (1, 2, 3, 4)]
    check_same(found, [vmap(total)(X[:n]) for n in (1, 2, 3, 4)])


def test_what_a_function_reads_may_not_have_changed_when_it_is_differentiated_again() -> None:
    held = [W]
    f = wg.compile(lambda v: (v * held[0][0]).sin().sum(), **NUMPY)
    for _ in range(2):
        held[0] = W
        y = f(X[0])
        held[0] = wg.ones(3, 3, **F64, requires_grad=True)
        (first,) = wg.autograd.grad(y, W, create_graph=True)
        with pytest.raises(RuntimeError, match="what it reaches has changed"):
            first.sum().backward()


def test_text_and_arrays_made_in_the_middle_are_those_of_the_values() -> None:
    def printed(v: Any) -> Any:
        return v * len(str(v))

    def converted(v: Any) -> Any:
        return v * wg.tensor(np.asarray(X)[0])

    for function, what in ((printed, "printing"), (converted, "conversion to an array")):
        for make in (lambda f: f(X[1]), lambda f: jvp(f, (X[1],), (X[2],))):
            with pytest.warns(UserWarning, match=what):
                check(make, function, compiled=False)


def test_gradients_of_products_with_vectors_are_compiled() -> None:
    check(lambda f: hvp(f, (X[0],), (X[1],)), lambda v: (v**3).sum())


@pytest.mark.filterwarnings("ignore:.* is not compiled:UserWarning")
def test_results_that_share_memory_under_forward_mode_and_have_a_history():
    weight = wg.ones(2, requires_grad=True)

    def function(x):
        y = x * weight
        return y, y.detach()

    found = []
    for used in (function, wg.compile(function, backend="numpy", options={"measure": False})):
        for _ in range(2):
            (y, same), _ = wg.func.jvp(used, (wg.ones(2),), (wg.ones(2),))
            same.mul_(3)
        found.append((y.tolist(), same.tolist()))
    assert found[0] == found[1]


@pytest.mark.filterwarnings("ignore:.* is not compiled:UserWarning")
def test_results_that_show_the_value_inside_of_an_argument():
    def function(x, y):
        return y.sum() * 2, x.detach()

    compiled = wg.compile(function, backend="numpy", options={"measure": False})
    y = wg.ones(2, requires_grad=True)
    for _ in range(2):
        found = wg.func.hessian(lambda x: sum(part.sum() for part in compiled(x, y)))(wg.zeros(2))
        assert found.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    "function",
    [
        lambda y: y.data.mul_(1.5),
        lambda y: y.view(-1).data.add_(1.0),
        lambda y: y.detach().mul_(2.0),
    ],
)
def test_writes_through_other_tensors_over_the_memory_of_a_dual_reach_its_tangent_as_uncompiled(
    function: Any,
) -> None:
    def f(v: Any) -> Any:
        y = v * 2
        function(y)
        return y.sin() * 3

    check(lambda g: jvp(g, (X[0],), (X[1],)), f)


@pytest.mark.parametrize("make", [hessian, lambda f: jacrev(jacfwd(f))])
@pytest.mark.parametrize(
    "function",
    [lambda v, w: (v * v).sum() + w.sum(), lambda v, w: (v + w).sum()],
)
def test_no_gradient_goes_where_second_derivatives_are_none(make: Any, function: Any) -> None:
    outside = wg.ones(3, requires_grad=True)
    compiled = wg.compile(lambda v: function(v, outside), **NUMPY)
    plain = make(lambda v: function(v, outside))(X[0])
    for _ in range(2):
        found = make(compiled)(X[0])
        assert np.array_equal(found.detach(), plain.detach())
        if found.requires_grad:
            found.sum().backward()
        assert outside.grad is None


@pytest.mark.filterwarnings("ignore:.* is not compiled")
@pytest.mark.parametrize("make", [lambda f: vmap(f)(X), lambda f: jvp(f, (X[0],), (X[1],))])
@pytest.mark.parametrize(
    "alias", [lambda y: y, lambda y: y[:2], lambda y: y.view(-1), lambda y: y.sum()]
)
def test_writes_to_one_result_reach_the_others_that_share_its_memory(make: Any, alias: Any) -> None:
    def f(v: Any) -> Any:
        y = v * 2
        return y, alias(y)

    def caller(g: Any) -> Any:
        def called(v: Any) -> Any:
            one, other = g(v)
            same = one is other
            one.mul_(3)
            return other * 1 + same

        return make(called)

    check(caller, f, compiled=False)


def test_the_tangent_of_a_result_is_written_through_the_tensor_that_stands_for_it() -> None:
    def unpacked(f: Any) -> Any:
        with fwd.dual_level():
            made = f(fwd.make_dual(X[0], X[1]))
            fwd.unpack_dual(made).tangent.mul_(3)
            return fwd.unpack_dual(made * 2).tangent, fwd.unpack_dual(made).tangent._version

    check(unpacked, lambda v: v.sin().mul_(2))


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
def test_tensors_that_become_batches_or_get_tangents_are_told_apart(backend: str) -> None:
    pytest.importorskip("llvmlite" if backend == "llvm" else "numpy")

    def f(v: Any, s: Any) -> Any:
        return v.sum() * v + s

    compiled = wg.compile(f, **{**NUMPY, "backend": backend})
    s, w = X[3], W.detach()
    ways = [
        lambda g: vmap(lambda v: g(v, s))(w),
        lambda g: vmap(g)(w, X[:3]),
        lambda g: jvp(lambda v: g(v, s), (w[0],), (w[1],)),
        lambda g: jvp(g, (w[0], s), (w[1], s)),
        lambda g: jvp(lambda v: jvp(lambda u: g(u, s), (v,), (v,))[1], (w[0],), (w[1],)),
        lambda g: jvp(lambda v: jvp(lambda u: g(u, v), (v,), (v,))[1], (w[0],), (w[1],)),
    ]
    for way in ways * 2:
        check_same(way(compiled), way(f))


# -- absent tangents, and memory shown several times -----------------------------------------------


@pytest.mark.parametrize(
    ("transform", "function"),
    [
        (jacfwd, lambda x, y: wg.cat([x, y])[:3].sum()),
        (lambda f: jacfwd(jacfwd(f)), lambda x, y: wg.cat([x, y])[:3].sum()),
        (hessian, lambda x, y: (x * y).sum()),
        (hessian, lambda x, y: (x.round() * y).sum()),
        # a mean, whose rule makes a plain array of a value without a tangent
        (jacfwd, lambda x, y: wg.cat([x, y]).view(-1, 1).mean(1).sum()),
        (lambda f: lambda x: jvp(f, (x,), (x,))[1], lambda x, y: (x * x).sum() + y.sum()),
    ],
)
def test_no_gradient_reaches_a_tensor_whose_derivative_is_absent(
    transform: Any, function: Any
) -> None:
    for f in (function, wg.compile(function, **NUMPY)):
        for _ in range(2):
            y = wg.tensor([3.0, 4.0, 5.0], requires_grad=True)
            made = transform(lambda t, f=f, y=y: f(t, y))(wg.tensor([1.0, 2.0, 3.0]))
            assert not made.requires_grad or wg.autograd.grad(
                made.sum(), [y], allow_unused=True
            ) == (None,)


def test_absent_cotangents_of_a_level_are_not_multiplied_by_infinity() -> None:
    def f(x: Any) -> Any:
        v = x * float("inf") * 0 * float("inf") * 0
        v = v + 0
        v.add_(X[0])
        return v.sum()

    for g in (f, wg.compile(f, **NUMPY)):
        for _ in range(2):
            with np.errstate(invalid="ignore"):
                assert np.array_equal(hessian(g)(X[0].clone()).numpy(), np.zeros((3, 3)))


def test_a_rule_that_uses_forward_mode_keeps_the_primal() -> None:
    class Sine(wg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return jvp(wg.sin, ctx.saved_tensors, (g,))[1]

    x = X[0].clone().requires_grad_()
    wg.compile(lambda t: Sine.apply(t) * 2, **NUMPY)(x).sum().backward()
    assert np.allclose(x.grad.numpy(), 2 * np.cos(X[0].numpy()))


def aliased(x: Any) -> Any:
    x.data.mul_(1.5)
    y = x.detach()
    y.view(-1)[0] = 7.0
    return x * 2, y * 1


@pytest.mark.parametrize(
    "call",
    [
        lambda f: vmap(f)(wg.ones(3).expand(2, 3)),
        lambda f: vmap(f)(wg.from_numpy(np.ones((2, 3)))),
        lambda f: jvp(f, (wg.tensor(2.0),), (wg.tensor(2.0) * 3,)),
        lambda f: jvp(f, (wg.ones(2, requires_grad=True).expand(2, 2),), (wg.ones(2, 2),)),
        lambda f: jvp(f, (wg.tensor(2.0, requires_grad=True) * 1,), (wg.tensor(2.0) * 3,)),
    ],
)
def test_writes_through_aliases_reach_what_they_reach_uncompiled(call: Any) -> None:
    expected = call(aliased)
    compiled = wg.compile(aliased, backend="numpy", options={"measure": False, "quiet": True})
    for _ in range(2):
        found = call(compiled)
        for one, other in zip(_leaves(found), _leaves(expected), strict=True):
            assert np.array_equal(one.detach().numpy(), other.detach().numpy())


def _leaves(result: Any) -> list[Any]:
    leaves: list[Any] = wg.utils._pytree.tree_leaves(result)
    return leaves


@pytest.mark.parametrize("kept", [True, False])
def test_gradients_of_the_outside_take_values_of_a_transform_as_uncompiled(kept: bool) -> None:
    weight, count = wg.tensor([1.0, 2.0, 3.0], requires_grad=True), wg.zeros(())

    def step(x: Any) -> Any:
        count.add_(1)
        (x * weight).sum().backward()
        return x * 2

    def told(function: Any) -> list[str]:
        count.zero_()
        weight.grad = wg.zeros(3) if kept else None
        calls = [jvp(function, (wg.ones(3) * n,), (wg.ones(3),)) for n in range(3)]
        return [str(part) for part in (*calls, weight.grad, count)]

    compiled = wg.compile(step, backend="numpy", options={"measure": False, "quiet": True})
    assert told(compiled) == told(step)


def test_values_of_transforms_that_have_ended_may_be_in_reach() -> None:
    kept: list[Any] = []

    def keeping(x: Any) -> Any:
        kept.append(x)
        return x * 2

    compiled = wg.compile(keeping, backend="numpy", options={"quiet": True})
    for n in range(2):
        assert vmap(compiled)(wg.ones(2, 3)).tolist() == [[2.0] * 3] * 2
        assert compiled(wg.ones(3)).tolist() == [2.0] * 3
        assert len(kept) == 2 * n + 2
