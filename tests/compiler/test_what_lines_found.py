"""Test the bugs that random lines found in compiled functions, as a user would write them."""

import importlib.util
import itertools

import numpy as np
import pytest

import wengert as wg
from support.functions import functions
from wengert.utils.checkpoint import checkpoint

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*is not compiled"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
BACKENDS = ["numpy", "llvm"] if importlib.util.find_spec("llvmlite") else ["numpy"]
FUNCTIONS = functions(wg)


def told(results):
    """What users see of results."""
    found = []
    for x in results:
        values = x.detach().numpy()
        steps = [step for step, n in zip(x.stride(), x.shape, strict=True) if n > 1]
        facts = x.requires_grad, x.is_leaf, x.dtype, x.shape, steps
        grad = x.grad if x.is_leaf else None
        found.append((values.tolist(), facts, None if grad is None else grad.tolist()))
    return found


def assert_same(function, make, backend, compiled=None):
    """The function gives, and its gradients are, the same in three calls, compiled or not."""
    quick = wg.compile(function, backend=backend, options={"measure": False})
    for _ in range(3):
        found = []
        for called in (function, quick):
            x = make()
            results = called(x)
            seen = told(results)
            roots = [y for y in results if y.requires_grad and not y.is_leaf]
            if roots:
                sum((y * y).sum() for y in roots).backward()
            found.append((seen, told([x])))
        assert found[0] == found[1]
    if compiled is not None:
        assert (quick.reason is None) == compiled


def leaf():
    return wg.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)


WRITES = {
    "unsqueeze_": lambda y: y.unsqueeze_(0),
    "t_": lambda y: y.t_(),
    "nan_to_num_": lambda y: y.nan_to_num_(),
    "cumsum_": lambda y: y.cumsum_(-1),
    "mul_": lambda y: y.mul_(3),
    "setitem": lambda y: y.__setitem__((), 2.0),
    "copy_": lambda y: y.copy_(wg.tensor(7.0)),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("how", WRITES)
def test_a_computed_number_is_written_to(how, backend):
    def function(x):
        y = x.sum()
        WRITES[how](y)
        return [y]

    assert_same(function, leaf, backend, compiled=True)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("format", ["contiguous_format", "preserve_format"])
def test_a_clone_lies_in_the_order_that_was_asked_for(format, backend):
    order = getattr(wg, format)
    assert_same(lambda x: [x.t().clone(memory_format=order)], leaf, backend, compiled=True)
    assert_same(lambda x: [(x.t() * 2).clone(memory_format=order)], leaf, backend, compiled=True)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_clone_is_laid_out_for_images(backend):
    def function(x):
        y = x.reshape(1, 3, 2, 1) * wg.ones(1, 3, 2, 2)
        return [y.clone(memory_format=wg.channels_last), y.to(memory_format=wg.channels_last)]

    assert_same(function, leaf, backend, compiled=True)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_histogram_goes_by_the_values_of_each_call(backend):
    quick = wg.compile(lambda x: wg.histogram(x, 3)[0], backend=backend, options={"measure": False})
    for values in ([1.0, 2.0, 4.0], [1.0, 2.0, 4.0], [0.0, 9.0, 9.0], [5.0, 5.0, 7.0]):
        x = wg.tensor(values)
        assert quick(x).tolist() == wg.histogram(x, 3)[0].tolist()


RESULTS = {
    "a leaf of its own, part of its own memory": lambda x: [
        (x.detach() * 2)[1:].requires_grad_(),
    ],
    "a view of such a leaf": lambda x: (lambda w: [w, w[0:1]],)[0](
        (x.detach() * 2)[1:].requires_grad_()
    ),
    "and the memory": lambda x: (lambda b: [b, b[1:].requires_grad_()])(x.detach() * 2),
    "a leaf over an argument": lambda x: [x.detach()[1:].requires_grad_()],
    "a view of it": lambda x: (lambda w: [w, w[0:1]])(x.detach()[1:].requires_grad_()),
    "a view of a Function's view": lambda x: [FUNCTIONS["Flat"].apply(x).chunk(2)[0]],
    "a view of a Function's part": lambda x: [FUNCTIONS["Flat"].apply(x)[1:].view(1, -1)],
    "views of what is written to": lambda x: (lambda y, z: [y.mul_(2), z, z.t()])(
        *(lambda y: (y, y[1:]))(x * 2)
    ),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("what", RESULTS)
def test_views_have_the_history_that_they_have(what, backend):
    assert_same(RESULTS[what], leaf, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("what", ["grad", "attribute", "hook", "retains"])
def test_results_keep_what_they_carry(what, backend):
    heard = []

    def function(x):
        y = x * 2
        if what == "grad":
            y = wg.ones(2, requires_grad=True)
            (y * x).sum().backward()
        elif what == "attribute":
            y.note = "seen"
        elif what == "hook":
            y.register_hook(lambda g: heard.append(g.tolist()))
        elif what == "retains":
            y.retain_grad()
        return [y]

    quick = wg.compile(function, backend=backend, options={"measure": False})
    for _ in range(3):
        (y,) = quick(leaf())
        if what == "grad":
            assert y.grad.tolist() == [9.0, 12.0]
        elif what == "attribute":
            assert y.note == "seen"
        else:
            y.sum().backward()
            assert what == "hook" or y.grad.tolist() == [[1.0, 1.0]] * 3
    assert len(heard) == (3 if what == "hook" else 0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_checkpoint_that_walks_by_itself_runs_as_it_is(backend):
    def function(x):
        return [checkpoint(lambda u: u.sin(), x, use_reentrant=True)]

    assert_same(function, leaf, backend, compiled=False)


OUTPUTS = {
    "a root of zero": lambda x: [x * 2, x.abs().sqrt()],
    "below a sum": lambda x: (lambda r: [x * 2 + 1, r + x, r])((x * 0).sqrt()),
    "a quotient": lambda x: [x.sin(), 1 / (x - x.detach()), x.cos()],
    "a logarithm": lambda x: [x.exp(), (x * 0).log()],
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("what", OUTPUTS)
def test_outputs_that_nobody_differentiates_lead_to_no_gradient(what, backend):
    function = OUTPUTS[what]
    quick = wg.compile(function, backend=backend, options={"measure": False})
    for _ in range(2):
        for used in ([0], [0, -1], [-1]):
            found = []
            for called in (function, quick):
                x = leaf()
                results = called(x)
                sum(results[i].sum() for i in used).backward()
                found.append(x.grad)
            assert wg.allclose(*found, equal_nan=True)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_loop_whose_results_are_used_in_part(backend):
    def function(x, n):
        total, roots = x, x * 0
        while n > 0:
            total, roots = total * x.sin(), (roots * x).abs().sqrt()
            n = n - 1
        return [total, roots]

    quick = wg.compile(function, backend=backend, options={"measure": False})
    for count in (3, 3, 5, 2):
        found = []
        for called in (function, quick):
            x = leaf()
            called(x, wg.tensor(count))[0].sum().backward()
            found.append(x.grad)
        assert wg.allclose(*found, equal_nan=False)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("batch", [(1,), (2,), (1, 1), (2, 1), (1, 3), (2, 3)], ids=str)
@pytest.mark.parametrize("alone", ["none", "first", "second"])
def test_products_have_batches_of_any_number_of_dimensions(alone, batch, backend):
    generator = np.random.default_rng(0)
    for sizes in itertools.product((1, 2), (1, 2), (1, 3), (1, 2)):
        b, n, k, m = sizes
        shapes = [(b, n, k), (b, k, m)]
        given = [
            wg.tensor(generator.standard_normal(shape if which == alone else (*batch, *shape)))
            for which, shape in zip(("first", "second"), shapes, strict=True)
        ]
        in_dims = tuple(None if which == alone else 0 for which in ("first", "second"))
        for function in (
            wg.bmm,
            lambda x, y: wg.bmm(y.mT, x.mT).mT,
            lambda x, y: wg.bmm(y.permute(0, 2, 1), x.permute(0, 2, 1)),
        ):
            mapped = function
            for _ in batch:
                mapped = wg.func.vmap(mapped, in_dims=in_dims)
            quick = wg.compile(mapped, backend=backend, options={"measure": False})
            assert wg.allclose(quick(*given), mapped(*given)), (sizes, function)
            assert wg.allclose(quick(*given), mapped(*given)), (sizes, function)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_hessian_of_a_product_of_columns(backend):
    def function(x):
        return wg.func.hessian(lambda u: (u.t() @ u).sum())(x)

    quick = wg.compile(function, backend=backend, options={"measure": False})
    for shape in ((1, 3), (3, 1), (2, 3)):
        x = wg.ones(shape)
        for _ in range(2):
            assert wg.allclose(quick(x), function(x))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("operation", "has_history"),
    [
        (lambda x: wg.nn.functional.pad(x, (1, 1), mode="reflect"), True),
        (lambda x: x.flip(0), False),
    ],
)
def test_the_gradient_of_a_call_that_writes_has_a_history_as_uncompiled(
    operation, has_history, backend
):
    def both(x, count):
        count.add_(1)
        return operation(x)

    for called in (both, wg.compile(both, backend=backend, options={"measure": False})):
        x = leaf()
        (slope,) = wg.autograd.grad(called(x, wg.zeros(1)).sum(), x, create_graph=True)
        assert slope.requires_grad == has_history
