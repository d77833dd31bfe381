"""Test that second derivatives through values kept by `forward` are right or refused."""

import functools
import random

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import Function, grad
from wengert.autograd.function import once_differentiable


def made(keep, use, result=lambda x: x.exp()):
    """A Function with the derivative exp, whose `backward` gets the factor from `use(ctx)`."""

    class Made(Function):
        @staticmethod
        def forward(ctx, x):
            keep(ctx, x)
            return result(x)

        @staticmethod
        def backward(ctx, g):
            return g * use(ctx)

    return Made


class Box:
    def __init__(self, value):
        self.value = value

    def get(self):
        return self.value


class Slotted:
    __slots__ = ("value",)


def slotted(value):
    box = Slotted()
    box.value = value
    return box


def holding(value):
    return lambda: value


WAYS = {
    "attribute": (lambda ctx, e: setattr(ctx, "t", e), lambda ctx: ctx.t),
    "hidden": (lambda ctx, e: setattr(ctx, "_t", e), lambda ctx: ctx._t),
    "list": (lambda ctx, e: setattr(ctx, "t", [None, e]), lambda ctx: ctx.t[1]),
    "tuple": (lambda ctx, e: setattr(ctx, "t", (1, (e,))), lambda ctx: ctx.t[1][0]),
    "dict": (lambda ctx, e: setattr(ctx, "t", {"e": [e]}), lambda ctx: ctx.t["e"][0]),
    "object": (lambda ctx, e: setattr(ctx, "t", Box(e)), lambda ctx: ctx.t.value),
    "slot": (lambda ctx, e: setattr(ctx, "t", slotted(e)), lambda ctx: ctx.t.value),
    "closure": (lambda ctx, e: setattr(ctx, "t", holding(e)), lambda ctx: ctx.t()),
    "partial": (
        lambda ctx, e: setattr(ctx, "t", functools.partial(Box, e)),
        lambda ctx: ctx.t().value,
    ),
    "method": (
        lambda ctx, e: setattr(ctx, "t", Box(e).get),
        lambda ctx: ctx.t(),
    ),
    "NumPy's method": (
        lambda ctx, e: setattr(ctx, "t", e.numpy().copy),
        lambda ctx: wg.from_numpy(ctx.t()),
    ),
    "saved": (lambda ctx, e: ctx.save_for_backward(e), lambda ctx: ctx.saved_tensors[0]),
    "array": (
        lambda ctx, e: setattr(ctx, "t", e.numpy() * 1.0),
        lambda ctx: wg.from_numpy(ctx.t),
    ),
    "array in a list": (
        lambda ctx, e: setattr(ctx, "t", [e.numpy()]),
        lambda ctx: wg.from_numpy(ctx.t[0]),
    ),
    "number": (lambda ctx, e: setattr(ctx, "t", float(e[0])), lambda ctx: ctx.t),
    "item": (lambda ctx, e: setattr(ctx, "t", e.sum().item()), lambda ctx: ctx.t),
    "NumPy's number": (
        lambda ctx, e: setattr(ctx, "t", np.sum(e.numpy())),
        lambda ctx: float(ctx.t),
    ),
    "list of numbers": (
        lambda ctx, e: setattr(ctx, "t", e.tolist()),
        lambda ctx: wg.tensor(ctx.t, dtype=wg.float64),
    ),
}


def point(*values):
    return wg.tensor(values or (0.5, -1.5), dtype=wg.float64, requires_grad=True)


@pytest.mark.parametrize("way", WAYS)
def test_a_second_derivative_through_a_kept_value_is_refused(way):
    keep, use = WAYS[way]
    function = made(lambda ctx, x: keep(ctx, x.exp()), use)
    x = point()
    (slope,) = grad(function.apply(x).sum(), x, create_graph=True)
    name = r"ctx\.saved_tensors\[0\]" if way == "saved" else r"ctx\._?t"
    with pytest.raises(RuntimeError, match=f"second derivative of Made goes through {name}"):
        grad(slope.sum(), x)


@pytest.mark.parametrize("way", WAYS)
def test_the_first_derivative_does_not_ask(way):
    keep, use = WAYS[way]
    calls = []

    def keeps(ctx, x):
        calls.append(1)
        keep(ctx, x.exp())

    function = made(keeps, use)
    x = point()
    function.apply(x).sum().backward()
    assert x.grad is not None
    assert calls == [1]


@pytest.mark.parametrize("way", WAYS)
def test_the_switch_gives_the_constant(way):
    keep, use = WAYS[way]
    function = made(lambda ctx, x: keep(ctx, x.exp()), use)
    function.keeps_constants = True
    x = point()
    (slope,) = grad(function.apply(x).sum(), x, create_graph=True)
    assert not slope.requires_grad


def test_the_message_says_what_to_write():
    function = made(lambda ctx, x: setattr(ctx, "t", x.exp()), lambda ctx: ctx.t)
    x = point()
    (slope,) = grad(function.apply(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError) as error:
        slope.sum().backward()
    for cure in ("save_for_backward", "extra output", "@once_differentiable", "keeps_constants"):
        assert cure in str(error.value)
    assert x.grad is None


def test_a_detached_argument_is_a_kept_value():
    function = made(
        lambda ctx, x: ctx.save_for_backward(x.detach()), lambda ctx: ctx.saved_tensors[0].exp()
    )
    x = point()
    (slope,) = grad(function.apply(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"goes through ctx\.saved_tensors\[0\]"):
        grad(slope.sum(), x)


def closure_variable():
    kept = None

    class Closing(Function):
        @staticmethod
        def forward(ctx, x):
            nonlocal kept
            kept = x.exp()
            return kept.clone()

        @staticmethod
        def backward(ctx, g):
            return g * kept

    return Closing, lambda: kept


def closure_list():
    kept = []

    class Closing(Function):
        @staticmethod
        def forward(ctx, x):
            kept.append(x.exp())
            return kept[-1].clone()

        @staticmethod
        def backward(ctx, g):
            return g * kept[-1]

    return Closing, lambda: kept


def closure_array():
    kept = {}

    class Closing(Function):
        @staticmethod
        def forward(ctx, x):
            kept["e"] = np.exp(x.detach().numpy())
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            return g * wg.from_numpy(kept["e"])

    return Closing, lambda: kept


def closure_number():
    kept = 0.0

    class Closing(Function):
        @staticmethod
        def forward(ctx, x):
            nonlocal kept
            kept = float(x.exp()[0])
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            return g * kept

    return Closing, lambda: kept


def closure_buffer():
    kept = wg.zeros(2, dtype=wg.float64)

    class Closing(Function):
        @staticmethod
        def forward(ctx, x):
            kept.copy_(x.exp())
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            return g * kept

    return Closing, lambda: kept


def class_attribute():
    class Closing(Function):
        kept = None

        @staticmethod
        def forward(ctx, x):
            Closing.kept = x.exp()
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            return g * Closing.kept

    return Closing, lambda: Closing.kept


OUTSIDE = [
    closure_variable,
    closure_list,
    closure_array,
    closure_number,
    closure_buffer,
    class_attribute,
]


@pytest.mark.parametrize("make", OUTSIDE, ids=lambda make: make.__name__)
def test_a_value_that_is_kept_elsewhere_is_found(make):
    function, kept = make()
    for _ in range(2):
        x = point()
        y = function.apply(x)
        before = kept()
        count = len(before) if isinstance(before, list) else None
        (slope,) = grad(y.sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match="second derivative of Closing goes through"):
            grad(slope.sum(), x)
        # forward ran again, and left nothing behind
        assert kept() is before
        assert count is None or len(kept()) == count
    value = kept()
    if isinstance(value, wg.Tensor):
        assert not value.requires_grad
        np.testing.assert_array_equal(value.numpy(), x.detach().exp().numpy())


_GLOBAL = []


class NamesAGlobal(Function):
    @staticmethod
    def forward(ctx, x):
        _GLOBAL.append(x.exp())
        return _GLOBAL[-1].clone()

    @staticmethod
    def backward(ctx, g):
        return g * _GLOBAL[-1]


def test_a_value_in_a_variable_of_the_module_is_found():
    x = point()
    (slope,) = grad(NamesAGlobal.apply(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="goes through _GLOBAL"):
        grad(slope.sum(), x)
    assert len(_GLOBAL) == 1
    _GLOBAL.clear()


# -- what is no mistake ---------------------------------------------------------------------------


def second(function, x, *more):
    (slope,) = grad(function.apply(x, *more).sum(), x, create_graph=True)
    return grad(slope.sum(), x)[0]


def test_arguments_and_outputs_are_in_the_graph():
    class Kept(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x, ctx.both = x, [x]
            ctx.y = x.exp()
            return ctx.y

        @staticmethod
        def backward(ctx, g):
            return g * (ctx.y + ctx.x.exp() + ctx.both[0].exp()) / 3

    x = point()
    wg.testing.assert_close(second(Kept, x), x.detach().exp())


@pytest.mark.parametrize("at", [(2.0, -3.0), (0.0, 0.0), (0.0, 1.0)])
def test_what_has_no_derivative_is_no_mistake(at):
    class Cube(Function):
        @staticmethod
        def forward(ctx, x, scale, options):
            ctx.save_for_backward(x, (x > 0).double(), wg.rand(2), wg.eye(2, dtype=x.dtype))
            ctx.scale, ctx.options, ctx.twice = scale, options, 2 * scale
            ctx.eps, ctx.shape, ctx.root = 1e-12, x.shape, x.shape[0] ** -0.5
            ctx.mask, ctx.index, ctx.array = x > 0, x.argmax(), x.detach().numpy() > 0
            ctx.count = float((x > 0).sum())
            ctx.drawn = np.random.rand() + random.random()
            return scale * x**3

        @staticmethod
        def backward(ctx, g):
            x, _, drawn, eye = ctx.saved_tensors
            one = ctx.twice / ctx.scale / 2 + 0 * (ctx.eps + ctx.root + ctx.count + ctx.drawn)
            one = one * ctx.options["power"][0] / 3 + 0 * drawn.double()
            return 3 * ctx.scale * x**2 * (g @ eye) * one, None, None

    x = point(*at)
    state = wg.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()
    got = second(Cube, x, 0.5, {"power": [3.0]})
    wg.testing.assert_close(got, 3 * x.detach())
    wg.rand(2)
    assert random.getstate() != state[2]


def test_what_backward_does_not_read_is_no_mistake():
    class Logs(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.total, ctx.large = x.sum().item(), x.exp()
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    x = point()
    wg.testing.assert_close(second(Logs, x), 6 * x.detach())


def test_the_derivative_by_the_gradient_is_right_and_given():
    function = made(lambda ctx, x: setattr(ctx, "t", x.exp().sum().item()), lambda ctx: ctx.t)
    x, v = point(), point(1.0, 1.0)
    (slope,) = grad(function.apply(x), x, v, create_graph=True)
    (by_v,) = grad(slope.sum(), v, retain_graph=True)
    wg.testing.assert_close(by_v, x.detach().exp().sum().expand(2))
    with pytest.raises(RuntimeError, match="second derivative of Made goes through"):
        grad(slope.sum(), x)


def test_once_differentiable_says_that_it_is_known():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.t = x.exp()
            return ctx.t.clone()

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            return g * ctx.t

    x = point()
    (slope,) = grad(Once.apply(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        slope.sum().backward()


def test_an_output_that_is_marked_is_a_constant():
    class Marked(Function):
        @staticmethod
        def forward(ctx, x):
            e = x.exp()
            ctx.mark_non_differentiable(e)
            ctx.save_for_backward(x, e)
            return x * e, e

        @staticmethod
        def backward(ctx, g, _):
            x, e = ctx.saved_tensors
            return g * x * e

    x = point()
    (slope,) = grad(Marked.apply(x)[0].sum(), x, create_graph=True)
    wg.testing.assert_close(grad(slope.sum(), x)[0], x.detach().exp())


def test_of_two_gradients_one_may_be_differentiated():
    class Product(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            ctx.e = y.exp()
            return x * x * ctx.e

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return 2 * x * g * y.exp(), x * x * g * ctx.e

    x, y = point(), point(1.0, 2.0)
    by_x, by_y = grad(Product.apply(x, y).sum(), (x, y), create_graph=True)
    wg.testing.assert_close(grad(by_x.sum(), x, retain_graph=True)[0], 2 * y.detach().exp())
    with pytest.raises(RuntimeError, match=r"goes through ctx\.e"):
        grad(by_y.sum(), y)


def test_a_forward_that_cannot_run_again_is_not_trusted():
    runs = []

    class OnlyOnce(Function):
        @staticmethod
        def forward(ctx, x):
            if runs:
                raise OSError("the file has been read")
            runs.append(1)
            ctx.t = wg.ones(2, dtype=wg.float64)
            return x * ctx.t

        @staticmethod
        def backward(ctx, g):
            return g * ctx.t * g

    x, v = point(), point(1.0, 2.0)
    (slope,) = grad(OnlyOnce.apply(x), x, v, create_graph=True)
    with pytest.raises(RuntimeError, match=r"goes through ctx\.t"):
        grad(slope.sum(), (x, v), allow_unused=True)


@pytest.mark.parametrize("answer", [lambda name: name, lambda name: 1 / 0])
def test_attributes_that_an_object_makes_up_are_not_asked_for(answer):
    class Library:
        __slots__ = ("handle", "unset")

        def __init__(self):
            self.handle = 1.0

        def __getattr__(self, name):
            return answer(name)

    x, library = point(), Library()
    Held = made(lambda ctx, x: None, lambda ctx: ctx.saved_tensors[0] if library is None else 2.0)
    (slope,) = grad(Held.apply(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="does not require grad"):
        grad(slope.sum(), x)


def test_setup_context_is_looked_at_too():
    class Late(Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.t = output * 1

        @staticmethod
        def backward(ctx, g):
            return g * ctx.t

    x = point()
    (slope,) = grad(Late.apply(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"second derivative of Late goes through ctx\.t"):
        grad(slope.sum(), x)


def test_packed_tensors_are_looked_at_too():
    function = made(
        lambda ctx, x: ctx.save_for_backward(x, x.exp()), lambda ctx: ctx.saved_tensors[1]
    )
    x = point()
    with wg.autograd.graph.save_on_cpu():
        y = function.apply(x)
    (slope,) = grad(y.sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"goes through ctx\.saved_tensors\[1\]"):
        grad(slope.sum(), x)


TRANSFORMS = {
    "grad of grad": lambda f, x: wg.func.grad(lambda x: wg.func.grad(f)(x).sum())(x),
    "hessian": lambda f, x: wg.func.hessian(f)(x).sum(0),
    "jacrev of jacrev": lambda f, x: wg.func.jacrev(wg.func.jacrev(f))(x).sum(0),
    "jacfwd of jacfwd": lambda f, x: wg.func.jacfwd(wg.func.jacfwd(f))(x).sum(0),
    "jacrev of jacfwd": lambda f, x: wg.func.jacrev(wg.func.jacfwd(f))(x).sum(0),
    "functional.hessian": lambda f, x: wg.autograd.functional.hessian(f, x).sum(0),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_under_transforms_it_is_right_or_refused(transform):
    x = wg.tensor([0.5, -1.5], dtype=wg.float64)
    right = made(lambda ctx, x: ctx.save_for_backward(x), lambda ctx: ctx.saved_tensors[0].exp())
    wg.testing.assert_close(TRANSFORMS[transform](lambda x: right.apply(x).sum(), x), x.exp())
    wrong = made(lambda ctx, x: setattr(ctx, "t", x.exp()), lambda ctx: ctx.t)
    with pytest.raises(RuntimeError, match="second derivative of Made goes through"):
        TRANSFORMS[transform](lambda x: wrong.apply(x).sum(), x)


def test_what_forward_does_to_its_arguments_is_done_once():
    class Notes(Function):
        @staticmethod
        def forward(ctx, x, notes, table, buffer):
            assert isinstance(buffer, np.ndarray)
            notes.append(len(notes))
            table["calls"] = table.get("calls", 0) + 1
            buffer += 1
            ctx.save_for_backward(x)
            ctx.eps = wg.full((), 1e-3, dtype=wg.float64)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g + 0 * ctx.eps, None, None, None

    x, notes, table, buffer = point(), [], {}, np.zeros(3)
    wg.testing.assert_close(second(Notes, x, notes, table, buffer), 6 * x.detach())
    assert (notes, table, buffer.tolist()) == ([0], {"calls": 1}, [1, 1, 1])
