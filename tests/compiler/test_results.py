"""Results of compiled functions share memory and history as those of eager ones do."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

BACKENDS = ["numpy", "llvm"]


def views_without_grad(x, y):
    with wg.no_grad():
        view = y[:]
    return x * 2, view


def a_view_of_a_result(x, y):
    z = x * y
    return z, z[0]


def one_twice(x, y):
    z = x * y
    return z, z


def views_of_a_hidden_base(x, y):
    z = x * y
    return z[0], z.t()


def detached(x, y):
    z = x * y
    return z, z.detach()


def chunks(x, y):
    return (x * y).chunk(2)


def views_of_inputs(x, y):
    return x, x[0], x.detach(), x.data, x.t(), y


def a_gradient(x, y):
    x.grad = y.detach() * 2
    return (x.grad,)


def a_gradient_that_is_an_input(x, y):
    x.grad = y.detach()
    return x * 2, y


def exchanged_data(x, y):
    x.data, y.data = y.data, x.data
    return x * 1, y


def data_that_is_returned(x, y):
    z = y.detach() * 2
    x.data = z
    return z, x


def written(x, y):
    return (x * y).add_(1).mul_(2), y


def modes(x, y):
    with wg.set_grad_enabled(False):
        a, b = x * 2, x.view(-1)
    return a, b, y[1]


def inference(x, y):
    with wg.inference_mode():
        a, b = x * 2, y[0]
    return a, b, x * 3


def numbers(x, y):
    n = x[0, 0].item()
    with wg.no_grad():
        x.add_(1)
    return n, x.sum().item(), y * 1


def root(x, y):
    # whose derivative reads the result
    return (x.sqrt(),)


def a_new_leaf(x, y):
    return (x * 2).detach().requires_grad_(), y.detach().requires_grad_()


def fresh(x, y):
    return x.clone(), x + 0, wg.zeros(2), wg.ones(2) * 2, x.t().contiguous()


def in_another_shape(x, y):
    return x.t().reshape(-1), x.reshape(-1), x.contiguous(), y


def as_arrays(x, y):
    return x.detach().numpy(), (y.detach() * 2).numpy()


def with_a_hook(x, y):
    z = x * 2
    if z.requires_grad:
        z.register_hook(lambda g: g * 10)
    return z, y


def retaining(x, y):
    z = x * 2
    if z.requires_grad:
        z.retain_grad()
    return z, y


FUNCTIONS = [
    *(views_without_grad, a_view_of_a_result, one_twice, views_of_a_hidden_base, detached, chunks),
    *(views_of_inputs, a_gradient, a_gradient_that_is_an_input, exchanged_data),
    *(data_that_is_returned, written, modes, inference, numbers, root, a_new_leaf, fresh),
    *(in_another_shape, as_arrays, with_a_hook, retaining),
]


def nothing(results):
    return None


def tensors(results):
    return [result for result in results if isinstance(result, wg.Tensor)]


def walk(results):
    ends = [result.sum() for result in tensors(results) if result.requires_grad]
    if ends:
        sum(ends[1:], ends[0]).backward()


def write_first(results):
    for result in tensors(results)[:1]:
        result.data.mul_(3)


def write_last(results):
    with wg.no_grad():
        for result in tensors(results)[-1:]:
            result.mul_(3)


def write_recorded(results):
    for result in tensors(results)[:1]:
        result.mul_(3)
    walk(results[-1:])


def write_arrays(results):
    for result in results:
        if isinstance(result, np.ndarray):
            result *= 2


AFTER = [nothing, walk, write_first, write_last, write_recorded, write_arrays]


def seen(thing):
    """All that can be seen of a result."""
    if not isinstance(thing, wg.Tensor):
        return thing.tolist() if isinstance(thing, np.ndarray) else thing
    try:
        is_leaf = thing.is_leaf
    except RuntimeError:
        return "a view that has lost its history"
    grad = thing.grad if is_leaf or thing.retains_grad else None
    return (
        thing.tolist(),
        thing.requires_grad,
        is_leaf,
        thing.grad_fn is None,
        thing.is_inference() or thing._version,
        None if grad is None else grad.tolist(),
    )


def run(function, after, recorded):
    found, kept = [], []
    for k in range(4):
        x = wg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=recorded)
        y = wg.tensor([[5.0, 6.0], [7.0, 8.0 + k]], requires_grad=recorded)
        results = function(x, y)
        found.append([seen(thing) for thing in (*results, x, y)])
        found.append([[a is b for a in (*results, x, y)] for b in (*results, x, y)])
        try:
            after(results)
        except RuntimeError as error:
            found.append(type(error))
        kept.append((*results, x, y))
        # those of earlier calls as well
        found.append([[seen(thing) for thing in things] for things in kept])
    return found


@pytest.mark.filterwarnings("ignore:.* is not compiled:UserWarning")
@pytest.mark.filterwarnings("ignore:.*grad attribute of a Tensor:UserWarning")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results_and_what_becomes_of_them(function, backend):
    for after in AFTER:
        for recorded in (True, False):
            compiled = wg.compile(function, backend=backend, options={"measure": False})
            ours, eager = run(compiled, after, recorded), run(function, after, recorded)
            for k, (mine, wanted) in enumerate(zip(ours, eager, strict=True)):
                assert repr(mine) == repr(wanted), (after.__name__, recorded, k)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_copy_made_before_a_write_is_a_copy(backend):
    weight = wg.ones(2, requires_grad=True)
    shown = weight.detach()

    def step(g):
        old = shown.clone()
        with wg.no_grad():
            weight.sub_(0.5 * g)
        return weight - old

    compiled = wg.compile(step, backend=backend, options={"measure": False}, fullgraph=True)
    for _ in range(4):
        assert compiled(wg.ones(2)).tolist() == [-0.5, -0.5]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("way", ["data of an input", "data of a result", "shown memory"])
def test_results_count_writes_with_the_tensors_of_outside_that_theirs_are_counted_with(
    way, backend
):
    def told(compiled):
        held = wg.ones(3)

        def function(other):
            if way == "data of an input":
                held.data = other.detach().clone()
                return held.detach()
            made = held.detach()
            made.data = other * 2 if way == "data of a result" else other
            return made

        if compiled:
            function = wg.compile(function, backend=backend, options={"measure": False})
        seen = []
        for _ in range(4):
            result = function(wg.arange(3.0))
            result.mul_(2)
            seen.append((result._version, held._version, result.tolist(), held.tolist()))
        x = wg.ones(3, requires_grad=True)
        product = x * held
        result.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.sum().backward()
        return seen

    assert told(True) == told(False)
