"""Test that exceptions leave gradients, versions, modes and graphs as before."""

import numpy as np
import pytest

import wengert as wg
from wengert.autograd.graph import (
    allow_mutation_on_saved_tensors,
    register_multi_grad_hook,
    saved_tensors_hooks,
)
from wengert.tape import accumulate
from wengert.tape.modes import MODE, Mode, full_mode
from wengert.tape.record import T
from wengert.tape.specialise import node_class
from wengert.tape.watch import CURRENT

EXCEPTIONS = [ValueError, KeyboardInterrupt, MemoryError, SystemExit, GeneratorExit]


class Bomb:
    """Raises while it is armed."""

    def __init__(self, exception):
        self.exception = exception
        self.armed = True

    def __call__(self, *args):
        if self.armed:
            raise self.exception("boom")


class Passed(wg.autograd.Function):
    """The identity, whose backward asks the bomb."""

    @staticmethod
    def forward(ctx, x, bomb):
        ctx.bomb = bomb
        ctx.save_for_backward(x)
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        ctx.bomb()
        assert ctx.saved_tensors[0] is not None
        return grad, None


class Program:
    """Three leaves, of which `c` has its gradient long before `a` and `b`; two have a gradient."""

    def __init__(self):
        self.a = wg.tensor([1.0, 2.0], dtype=wg.float64, requires_grad=True)
        self.b = wg.tensor([3.0, 4.0], dtype=wg.float64, requires_grad=True)
        self.c = wg.tensor(5.0, dtype=wg.float64, requires_grad=True)
        self.b.grad = wg.tensor([10.0, 20.0], dtype=wg.float64)
        self.c.grad = wg.tensor(30.0, dtype=wg.float64)
        self.leaves = (self.a, self.b, self.c)

    def record(self, bomb=None, retain=True):
        self.y = (self.a * self.b).exp()
        if retain:
            self.y.retain_grad()
        inner = self.y if bomb is None else Passed.apply(self.y, bomb)
        self.z = (inner * self.c).sum()
        return self

    def state(self):
        tensors = (*self.leaves, self.y, self.z)
        grads = tuple(leaf.grad for leaf in self.leaves)
        if self.y.retains_grad:
            grads += (self.y.grad,)
        return (
            tuple(map(id, grads)),
            tuple(None if g is None else g.tolist() for g in grads),
            tuple(tensor._version for tensor in tensors),
            tuple(tensor.tolist() for tensor in tensors),
            tuple(id(tensor.grad_fn) for tensor in tensors),
            full_mode().fields(),
            CURRENT.get(),
            np.geterr(),
        )


def expected():
    program = Program().record()
    program.z.backward()
    return [leaf.grad.tolist() for leaf in (*program.leaves, program.y)]


def accumulator(program):
    return program.y.grad_fn.next_functions[0][0].next_functions[0][0]


def pack_and_unpack(program, bomb):
    def unpack(packed):
        bomb()
        return packed

    with saved_tensors_hooks(lambda tensor: tensor.detach(), unpack):
        program.record()


def on_tensor(program, bomb):
    program.record().y.register_hook(bomb)


def on_output(program, bomb):
    program.record().z.register_hook(bomb)


def on_leaf(program, bomb):
    program.record().a.register_hook(bomb)


def second_of_leaf(program, bomb):
    program.record().a.register_hook(lambda g: g * 1)
    program.a.register_hook(bomb)


def before_node(program, bomb):
    program.record().y.grad_fn.register_prehook(bomb)


def after_node(program, bomb):
    program.record().y.grad_fn.register_hook(bomb)


def before_accumulation(program, bomb):
    node = accumulator(program.record())
    node.register_prehook(bomb)
    program.node = node


def after_accumulation(program, bomb):
    node = accumulator(program.record())
    node.register_hook(bomb)
    program.node = node


def post_accumulate(program, bomb):
    program.record().a.register_post_accumulate_grad_hook(bomb)


def post_accumulate_of_the_first(program, bomb):
    program.record().c.register_post_accumulate_grad_hook(bomb)


def several_gradients(program, bomb):
    program.record()
    register_multi_grad_hook(program.leaves, bomb)


def any_gradient(program, bomb):
    program.record()
    register_multi_grad_hook(program.leaves, bomb, mode="any")


def in_function(program, bomb):
    program.record(bomb)


PLACES = [
    on_tensor,
    on_output,
    on_leaf,
    second_of_leaf,
    before_node,
    after_node,
    before_accumulation,
    after_accumulation,
    post_accumulate,
    post_accumulate_of_the_first,
    several_gradients,
    any_gradient,
    in_function,
    pack_and_unpack,
]


@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore:Error detected in")
@pytest.mark.parametrize("exception", EXCEPTIONS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("anomalies", [False, True])
@pytest.mark.parametrize("create_graph", [False, True])
def test_an_exception_in_backward_changes_nothing(place, exception, create_graph, anomalies):
    program, bomb = Program(), Bomb(exception)
    with wg.autograd.set_detect_anomaly(anomalies):
        place(program, bomb)
        before = program.state()
        with pytest.raises(exception, match="boom"):
            program.z.backward(create_graph=create_graph)
        assert program.state() == before
        bomb.armed = False
        program.z.backward(create_graph=create_graph)
    assert [leaf.grad.tolist() for leaf in (*program.leaves, program.y)] == expected()
    assert MODE.get() is None
    if not create_graph:
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second"):
            program.z.backward()


@pytest.mark.parametrize("exception", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize(
    "place", [on_tensor, on_leaf, before_node, after_node, in_function, pack_and_unpack]
)
def test_an_exception_under_grad_changes_nothing(place, exception):
    program, bomb = Program(), Bomb(exception)
    place(program, bomb)
    before = program.state()
    with pytest.raises(exception, match="boom"):
        wg.autograd.grad(program.z, program.leaves)
    assert program.state() == before
    bomb.armed = False
    program.z.backward()
    assert [leaf.grad.tolist() for leaf in (*program.leaves, program.y)] == expected()


@pytest.mark.parametrize("place", PLACES)
def test_an_exception_leaves_other_modes_alone(place):
    program, bomb = Program(), Bomb(KeyboardInterrupt)
    place(program, bomb)
    with wg.no_grad(), wg.autograd.set_multithreading_enabled(False):
        before = program.state()
        with pytest.raises(KeyboardInterrupt, match="boom"):
            program.z.backward()
        assert program.state() == before
    assert wg.is_grad_enabled() and MODE.get() is None


@pytest.mark.parametrize("exception", [ValueError, KeyboardInterrupt])
def test_an_exception_in_a_nested_pass_ends_both(exception):
    program, bomb = Program().record(), Bomb(exception)
    other = wg.tensor(2.0, requires_grad=True)
    square = other * other
    square.register_hook(bomb)

    def nested(grad):
        square.backward(retain_graph=True)

    program.y.register_hook(nested)
    before = program.state()
    with pytest.raises(exception, match="boom"):
        program.z.backward()
    assert program.state() == before and other.grad is None
    bomb.armed = False
    program.z.backward()
    assert [leaf.grad.tolist() for leaf in (*program.leaves, program.y)] == expected()
    assert other.grad.item() == 4.0


def test_a_nested_pass_that_came_to_its_end_stays_when_the_outer_one_breaks_off():
    program = Program().record()
    other = wg.tensor(2.0, requires_grad=True)

    def nested(grad):
        with wg.enable_grad():
            (other * 3).backward()

    program.y.register_hook(nested)
    program.a.register_hook(Bomb(ValueError))
    before = program.state()
    with pytest.raises(ValueError, match="boom"):
        program.z.backward()
    assert program.state() == before
    assert other.grad.item() == 3.0


def test_an_exception_caught_inside_a_hook_stops_nothing():
    program, bomb = Program().record(), Bomb(ValueError)

    def careful(grad):
        with pytest.raises(ValueError, match="boom"):
            bomb()

    program.y.register_hook(careful)
    program.z.backward()
    assert [leaf.grad.tolist() for leaf in (*program.leaves, program.y)] == expected()


# -- kernels --------------------------------------------------------------------------------------


def break_node(monkeypatch, node, bomb, recorded=False):
    """Let the rule of a node's class ask the bomb before it computes."""
    cls = node_class(node.prim)
    name = "apply_in" if recorded else "apply"
    if recorded:
        # made on first use
        x = wg.tensor(1.0, dtype=wg.float64, requires_grad=True)
        wg.autograd.grad(x.exp() * x, x, create_graph=True)
    original = getattr(cls, name)

    def broken(self, *args):
        bomb()
        return original(self, *args)

    monkeypatch.setattr(cls, name, broken)


@pytest.mark.parametrize("exception", [MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("recorded", [False, True])
def test_a_rule_that_raises_changes_nothing(monkeypatch, exception, hooked, recorded):
    program, bomb = Program().record(retain=False), Bomb(exception)
    if hooked:
        program.a.register_hook(lambda g: g)
    break_node(monkeypatch, program.y.grad_fn, bomb, recorded)
    before = program.state()
    with pytest.raises(exception, match="boom"):
        program.z.backward(retain_graph=True, create_graph=recorded)
    assert program.state() == before
    bomb.armed = False
    program.z.backward(create_graph=recorded)
    assert [leaf.grad.tolist() for leaf in program.leaves] == expected()[:3]


def test_a_rule_that_raises_in_a_pass_that_frees_never_leads_to_wrong_gradients(monkeypatch):
    # what was already walked may have been freed then; if so the next pass says it
    a = wg.tensor(2.0, dtype=wg.float64, requires_grad=True)
    y = a.exp()
    z = y * a
    bomb = Bomb(MemoryError)
    break_node(monkeypatch, y.grad_fn, bomb)
    with pytest.raises(MemoryError, match="boom"):
        z.backward()
    assert a.grad is None and MODE.get() is None
    bomb.armed = False
    right = y.item() * (1 + a.item())
    try:
        z.backward()
    except RuntimeError as error:
        assert str(error).startswith("Trying to backward through the graph a second time")
        assert a.grad is None
    else:
        assert a.grad.item() == pytest.approx(right)


def test_operations_that_refuse_their_arguments_change_nothing():
    x = wg.tensor([1.0, 2.0], dtype=wg.float64, requires_grad=True)
    other = wg.tensor([1.0, 2.0, 3.0])
    y = x * 2
    for operation in (y.mul, y.mul_, y.add_, y.copy_):
        with pytest.raises(RuntimeError):
            operation(other)
    assert y._version == 0 and y.grad_fn.name() == "MulBackward0"
    assert full_mode().fields() == Mode().fields()
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_an_in_place_kernel_that_raises_after_writing_is_noticed_by_the_backward_pass():
    x = wg.tensor([1.0, 2.0], dtype=wg.float64, requires_grad=True)
    y = x * 1
    z = (y * y).sum()
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        y.div_(wg.zeros(2, dtype=wg.float64))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    assert x.grad is None


def test_accumulation_under_create_graph_that_raises_changes_no_gradient(monkeypatch):
    program = Program().record(retain=False)
    before = program.state()
    bomb = Bomb(MemoryError)
    calls = []

    class Breaking:
        def __getattr__(self, name):
            original = getattr(T, name)

            def call(*args, **params):
                calls.append(name)
                if len(calls) == 2:
                    bomb()
                return original(*args, **params)

            return call

    monkeypatch.setattr(accumulate, "T", Breaking())
    with pytest.raises(MemoryError, match="boom"):
        program.z.backward(create_graph=True)
    assert len(calls) == 2
    assert program.state() == before


# -- the forward pass -----------------------------------------------------------------------------


@pytest.mark.parametrize("exception", EXCEPTIONS)
def test_an_exception_in_forward_leaves_modes_and_inputs(exception):
    class Broken(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x)
            raise exception("boom")

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    x = wg.tensor([1.0], requires_grad=True)
    y = x * 2
    state = (x._version, y._version, y.grad_fn, MODE.get())
    for _ in range(2):
        with pytest.raises(exception, match="boom"):
            Broken.apply(x, y)
        assert (x._version, y._version, y.grad_fn, MODE.get()) == state
    with wg.inference_mode(), pytest.raises(exception, match="boom"):
        Broken.apply(x, y)
    assert MODE.get() is None


@pytest.mark.parametrize("exception", EXCEPTIONS)
def test_an_exception_in_setup_context_leaves_modes_and_inputs(exception):
    class Broken(wg.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            raise exception("boom")

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = wg.tensor([1.0], requires_grad=True)
    with pytest.raises(exception, match="boom"):
        Broken.apply(x)
    assert MODE.get() is None and x.is_leaf and x._version == 0


@pytest.mark.parametrize("exception", EXCEPTIONS)
@pytest.mark.parametrize(
    "operation",
    [lambda y: y * y, lambda y: y.exp(), lambda y: wg.where(y > 0, y * y, y), lambda y: y @ y],
)
def test_an_exception_in_a_pack_hook_leaves_modes_and_inputs(exception, operation):
    x = wg.tensor([1.0, 2.0], dtype=wg.float64, requires_grad=True)
    y = x * 1
    node = y.grad_fn
    with saved_tensors_hooks(Bomb(exception), lambda packed: packed):
        mode = full_mode().fields()
        with pytest.raises(exception, match="boom"):
            operation(y)
        assert full_mode().fields() == mode
    assert MODE.get() is None and y._version == 0 and y.grad_fn is node
    operation(y).sum().backward()
    assert x.grad is not None


@pytest.mark.parametrize("exception", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("name", ["sin_", "cos_", "exp_", "sigmoid_", "sqrt_"])
@pytest.mark.parametrize("through_view", [False, True])
def test_an_exception_in_the_pack_hook_of_an_in_place_operation(exception, name, through_view):
    x = wg.tensor([1.0, 2.0], dtype=wg.float64, requires_grad=True)
    y = x * 1
    target = y[:1] if through_view else y
    node, version, view_node = y.grad_fn, y._version, target.grad_fn
    with (
        saved_tensors_hooks(Bomb(exception), lambda packed: packed),
        pytest.raises(exception, match="boom"),
    ):
        getattr(target, name)()
    assert y.tolist() == [1.0, 2.0]
    assert y._version == version
    assert y.grad_fn is node and target.grad_fn is view_node
    (y * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_contexts_that_cannot_be_entered_change_nothing():
    with allow_mutation_on_saved_tensors():
        mode = MODE.get()
        with (
            pytest.raises(RuntimeError, match="cannot be nested"),
            allow_mutation_on_saved_tensors(),
        ):
            pass
        assert MODE.get() is mode
    assert MODE.get() is None


def test_a_refused_write_to_an_inference_tensor_changes_no_byte():
    with wg.inference_mode():
        y = wg.ones(2)
    for write in (lambda: y.add_(1), lambda: y.__setitem__(0, 5.0), lambda: y.copy_(wg.zeros(2))):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            write()
    assert y.tolist() == [1.0, 1.0]


def test_a_gradient_made_in_inference_mode_may_be_added_to_and_is_restored():
    x = wg.tensor([1.0, 2.0], requires_grad=True)
    with wg.inference_mode():
        x.grad = wg.ones(2)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
