"""Test that results of compiled functions share memory and history as eager ones do."""

from __future__ import annotations

import dataclasses
from typing import Any

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


@pytest.mark.sampled(3)
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


@pytest.mark.parametrize("backend", BACKENDS)
def test_writes_are_counted_apart_where_they_were_counted_together_before(backend):
    def told(compiled):
        held = wg.ones(3)

        def function(other):
            held.data = held.data * 1.5
            held.detach().mul_(0.5)
            return other * 2, held.detach()

        if compiled:
            function = wg.compile(function, backend=backend, options={"measure": False})
        seen = []
        for together in (True, True, False, False, True):
            other = held.detach() if together else wg.ones(3)
            result = function(other)[1]
            seen.append((other._version, held._version, result._version))
        return seen

    assert told(True) == told(False)


def a_slice_of_what_is_saved(x):
    v = x * 2
    return v[:1], v.sin().sum()


def what_is_saved_in_part(x):
    v = x * 2
    return v, v[1:].sin().sum()


def data_of_a_view(x):
    v = x.exp()
    return v.view(-1).data, v.sum()


def a_view_without_history(x):
    v = x.exp()
    return v.detach().view(-1), v.sum()


def until_large(x):
    v = x * 2
    while v.sum() < 30:
        v = v.exp()
    return v[1:], v.sum()


SAVED = {
    "the data of what is saved": lambda x: ((v := x.exp()).data, v.sum()),
    "a transpose": lambda x: ((v := x.exp())[None].T, v.sum()),
    "a view and its base": lambda x: ((v := x.exp()).view(-1), v, v.sum()),
    "a copy": lambda x: ((v := x.exp()).clone()[None].T, v.sum()),
    **{
        function.__name__: function
        for function in (
            *(a_slice_of_what_is_saved, what_is_saved_in_part, data_of_a_view),
            *(a_view_without_history, until_large),
        )
    },
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", SAVED)
def test_writes_to_results_reach_what_is_saved_for_their_derivative(name, backend):
    def told(function, way):
        seen = []
        for _ in range(3):
            x = wg.tensor([1.0, 2.0, 3.0], dtype=wg.float64, requires_grad=True)
            result = function(x)
            if way == "data":
                result[0].data.mul_(3)
            else:
                with wg.no_grad():
                    result[0].mul_(3)
            total = sum(t.sum() for t in result if t.requires_grad)
            try:
                total.backward()
                seen.append([round(float(g), 6) for g in x.grad])
            except RuntimeError as error:
                seen.append(str(error)[:60])
        return seen

    function = SAVED[name]
    compiled = wg.compile(function, backend=backend, options={"measure": False})
    for way in ("data",) if name == "until_large" else ("data", "no_grad"):
        assert told(compiled, way) == told(function, way), way
    assert compiled.reason is None


@dataclasses.dataclass
class Pair:
    one: Any
    two: Any = None


class Copied(Pair):
    def __copy__(self):
        return Copied(0, 0)


GIVEN = Pair(1.5)
FOUND: list[Any] = []


def with_more(x):
    made = Pair(x * 2)
    made.more = float(x.sum())
    return made


def left_behind(x):
    made = Pair(x * 2)
    FOUND.append(made)
    return made


OBJECTS = {
    "one that the function was given": lambda x: (x + GIVEN.one, GIVEN),
    "one twice": lambda x: [Pair(x * 2)] * 2,
    "one with another attribute": with_more,
    "one that is left elsewhere, too": left_behind,
    "one that is copied in a way of its own": lambda x: Copied(x * 2, 3),
    "new ones": lambda x: Pair(Pair(x * 2, 3), [x]),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_results_that_are_dataclasses_are_the_objects_that_eager_calls_return(name):
    def told(function):
        FOUND.clear()
        seen = []
        for n in range(4):
            result = function(wg.ones(2) * n)
            parts = [*result] if isinstance(result, list | tuple) else [result]
            places = [[part is other for other in (GIVEN, *FOUND, *parts)] for part in parts]
            held = [getattr(part, "__dict__", None) for part in parts]
            seen.append((repr(result), places, repr(held)))
        return seen

    compiled = wg.compile(OBJECTS[name], backend="numpy", options={"measure": False, "quiet": True})
    assert told(compiled) == told(OBJECTS[name])
    assert (compiled.reason is None) == (name == "new ones")


# -- how results lie in memory ---------------------------------------------------------------------

LYING = {
    "a transpose of what is computed": lambda x: (x * 2).t(),
    "computed from a transpose": lambda x: x.t() * 1.5 + 1,
    "a transpose of that": lambda x: (x.t() * 1.5).t(),
    "expanded": lambda x: (x.sum(0) * 2).expand(5, -1),
    "expanded columns": lambda x: x.sum(1, keepdim=True).expand(-1, 6),
    "a part": lambda x: (x * 2)[:, ::2],
    "a part of a transpose": lambda x: (x.t() * 2)[1:, ::2],
    "a diagonal": lambda x: (x * 2).diagonal(),
    "flipped": lambda x: (x * 2).flip(0),
    "permuted": lambda x: (x * 2).reshape(-1, 2, 2).permute(2, 0, 1),
    "two of one memory": lambda x: (lambda z: (z[0], z.t()))(x * 2),
    "a product": lambda x: (x @ x.t()).t(),
    "unfolded": lambda x: (x * 2).unfold(1, 2, 1),
    "a real part": lambda x: (x * 1j).imag,
    "a softmax": lambda x: x.t().softmax(0),
    "an activation": lambda x: wg.nn.functional.gelu(x.t()),
    "a constant power": lambda x: x.t() ** 1,
}
ORDERS = {
    "rows": lambda: wg.arange(16.0).reshape(4, 4) / 7,
    "columns": lambda: (wg.arange(16.0).reshape(4, 4) / 7).t(),
    "a part": lambda: wg.arange(64.0).reshape(8, 8)[::2, ::2] / 7,
    "one column": lambda: wg.arange(4.0).reshape(4, 1).expand(4, 4),
    "one row": lambda: wg.arange(4.0).expand(4, 4),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("backend", "requires_grad"), [("numpy", False), ("numpy", True), ("llvm", False)]
)
@pytest.mark.parametrize("name", LYING)
def test_results_lie_in_memory_as_without_compiling(name, backend, requires_grad):
    f = LYING[name]
    g = wg.compile(f, backend=backend, options={"measure": False})
    for _ in range(2):
        for make in ORDERS.values():
            x = make().detach().requires_grad_(requires_grad)
            one, other = f(x), g(x)
            pairs = zip(one, other, strict=True) if isinstance(one, tuple) else [(one, other)]
            for a, b in pairs:
                assert a.stride() == b.stride()
                assert wg.allclose(a, b)
                # flatten() is a view of the one where it is a view of the other
                with wg.no_grad():
                    a.flatten()[:1] += 1
                    b.flatten()[:1] += 1
                assert wg.allclose(a, b)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("draw", ["rand_like", "randn_like"])
def test_random_numbers_lie_in_memory_as_without_compiling(draw, backend):
    def f(x):
        return getattr(wg, draw)(x.t() * 1)

    g = wg.compile(f, backend=backend, options={"measure": False})
    x = wg.rand(3, 4)
    for _ in range(3):
        wg.manual_seed(1)
        one = f(x)
        wg.manual_seed(1)
        other = g(x)
        assert one.stride() == other.stride()
        assert wg.equal(one, other)


@pytest.mark.parametrize("backend", BACKENDS)
def test_writing_to_an_expanded_result_is_refused(backend):
    g = wg.compile(lambda x: (x.sin() + 1).expand(2, 3), backend=backend)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="more than one element"):
            g(wg.ones(3)).add_(1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_order_of_dimensions_is_traced_once(backend):
    g = wg.compile(lambda x: x * 2 + 1, backend=backend, options={"measure": False})
    for _ in range(4):
        for make in (ORDERS["rows"], lambda: wg.rand(8, 4)[::2], lambda: wg.rand(4, 9)[:, 2:6]):
            g(make().detach())
    assert g.explain().traces == 1


OUTSIDE = np.array([1.0, 2.0, 0.5])
MADE = {
    "tensor": lambda x: wg.tensor(OUTSIDE),
    "part": lambda x: wg.tensor(OUTSIDE)[0:2],
    "both": lambda x: (lambda made: (made, made[0]))(wg.tensor(OUTSIDE)),
    "list": lambda x: wg.tensor([OUTSIDE, OUTSIDE]),
    "dtype": lambda x: wg.tensor(OUTSIDE, dtype=wg.float32),
    "new_tensor": lambda x: x.new_tensor(OUTSIDE),
    "from_numpy": lambda x: wg.from_numpy(OUTSIDE * 2),
    "of a function": lambda x: wg.tensor(np.sin(OUTSIDE)),
    "number": lambda x: wg.tensor(OUTSIDE.sum()),
    "full": lambda x: wg.full((3,), 2.0),
    "part of a cotangent": lambda x: wg.func.grad(lambda y: y.sum())(x)[0],
    "cotangent twice": lambda x: (lambda g: (g, g[...]))(wg.func.grad(lambda y: y.sum())(x[0])),
}


@pytest.mark.parametrize("backend", ["numpy", "llvm"])
@pytest.mark.parametrize("made", MADE)
def test_memory_that_a_call_makes_can_be_written_to(made, backend):
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    stories = []
    for function in (MADE[made], wg.compile(MADE[made], backend=backend)):
        story = []
        for _ in range(3):
            found = function(wg.ones(3, dtype=wg.float64, requires_grad=True))
            leaves = found if isinstance(found, tuple) else (found,)
            for leaf in leaves:
                leaf.add_(1)
            story.append([leaf.tolist() for leaf in leaves])
        stories.append(story)
    assert stories[0] == stories[1]
    assert OUTSIDE.tolist() == [1.0, 2.0, 0.5]
