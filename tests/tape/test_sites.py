"""Test the source lines that in-place errors name without any debugging mode."""

import linecache
import re
import sys
from pathlib import Path

import pytest

import wengert as wg
from wengert.autograd import Function
from wengert.nn import functional as F

LINES = Path(__file__).read_text(encoding="utf-8").splitlines()


def line(mark):
    """The number of the line that ends with a comment."""
    return next(i for i, text in enumerate(LINES, 1) if text.endswith(f"# {mark}"))


def leaf(*shape):
    return wg.linspace(0.5, 1.5, max(1, wg.ones(shape).numel())).reshape(shape).requires_grad_()


def error(loss):
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as raised:
        loss.sum().backward()
    return str(raised.value)


def lines_of(text):
    """The numbers of the lines that saved and that wrote."""
    saved = re.search(r"needed by \w+, as its '[^']+': test_sites.py:(\d+)  ", text)
    wrote = re.search(r"changed by \w+: test_sites.py:(\d+)  ", text)
    assert saved is not None and wrote is not None, text
    return int(saved[1]), int(wrote[1])


SAVING = {
    "an operator": lambda x: x * x,
    "a number to the right": lambda x: x**3,
    "a method": lambda x: x.sin(),
    "a function": lambda x: wg.log(x),
    "a product of matrices": lambda x: x @ x,
    "a reduction": lambda x: x.logsumexp(0),
    "a general record": lambda x: wg.linalg.inv(x + wg.eye(3)) @ x,
    "a composite": lambda x: F.mse_loss(x, x * 2 + 1),
    "an activation": lambda x: F.gelu(x),
    "an einsum": lambda x: wg.einsum("ij,jk->ik", x, x),
    "two dtypes": lambda x: x.double() * x.sin(),
    "a gather": lambda x: x.prod(0),
    "NumPy's function": lambda x: __import__("numpy").exp(x) * x,
}


@pytest.mark.parametrize("name", SAVING)
def test_both_lines_are_named(name):
    x = leaf(3, 3) * 1
    y = SAVING[name](x)
    x.add_(1)  # wrote to an argument
    saved, wrote = lines_of(error(y))
    assert f'"{name}": lambda x' in LINES[saved - 1]
    assert wrote == line("wrote to an argument")


def test_a_result_that_was_saved():
    y = leaf(3).exp()  # saved a result
    y += 1  # wrote to a result
    assert lines_of(error(y)) == (line("saved a result"), line("wrote to a result"))


def test_complex_numbers():
    c = leaf(3) * 1j
    y = c * c  # saved complex numbers
    c.mul_(2)
    assert lines_of(error(y.abs()))[0] == line("saved complex numbers")


@pytest.mark.parametrize("of", [lambda x: 2**x, lambda x: 3.0**x])
def test_a_number_to_the_left(of):
    y = of(leaf(3))
    y.add_(1)
    saved, _ = lines_of(error(y))
    assert "lambda x: 2**x, lambda x: 3.0**x" in LINES[saved - 1]


def test_a_write_to_an_element_and_through_a_view():
    for write in (
        lambda y: y.__setitem__(0, 2.0),
        lambda y: y[1:].zero_(),
        lambda y: y.view(-1).mul_(2),
        lambda y: wg.add(wg.ones(3), 1, out=y.detach()),
    ):
        y = leaf(3) * 1
        z = y.sin()
        write(y)
        saved, wrote = lines_of(error(z))
        assert LINES[saved - 1].strip() == "z = y.sin()"
        assert LINES[wrote - 1].strip() in ("write(y)",) or "lambda y" in LINES[wrote - 1]


def test_the_line_of_a_call_over_several_lines():
    x = leaf(3) * 1
    y = wg.exp(
        x.sin()  # the inner line
    )
    x.mul_(2)
    saved, _ = lines_of(error(y))
    assert saved == line("the inner line")


def test_an_operation_written_into_its_own_argument():
    x = leaf(3) * 1
    y = x * 1
    y.mul_(x)  # saved in place
    x.add_(1)
    saved, _ = lines_of(error(y))
    assert saved == line("saved in place")


def test_a_step_of_an_optimiser():
    model = wg.nn.Linear(3, 3)
    optimiser = wg.optim.SGD(model.parameters(), 0.1)
    first = model(model(wg.ones(2, 3)))  # used the weights
    first.sum().backward(retain_graph=True)
    optimiser.step()  # changed the weights
    text = error(first)
    assert "changed by step" in text and "backward() before step()" in text
    assert lines_of(text) == (line("used the weights"), line("changed the weights"))


def test_a_function_of_the_users_own():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

    x = leaf(3) * 1
    y = Square.apply(x)  # called the Function
    x.add_(1)
    saved, _ = lines_of(error(y))
    assert saved == line("called the Function")


def test_what_a_backward_pass_recorded_says_so():
    x, w = leaf(3) * 1, leaf(3)
    (g,) = wg.autograd.grad((x * x * w).sum(), x, create_graph=True)
    x.add_(1)
    text = error(g)
    assert "changed by add_: test_sites.py:" in text
    assert re.search(r"needed by MulBackward0, as its '\w+': a backward pass that was", text)


def test_a_second_backward_pass_names_the_line_of_what_is_gone():
    x = leaf(3)
    shared = x.sin()  # made before the loop
    shared.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time") as raised:
        (shared * 2).sum().backward()
    where = f"SinBackward0 had saved, recorded at test_sites.py:{line('made before the loop')}"
    assert where in str(raised.value)


def test_code_without_a_file(monkeypatch):
    other = "print(1)\n"  # another string
    monkeypatch.setitem(linecache.cache, "<string>", (len(other), None, [other] * 2, "<string>"))
    scope = {"x": leaf(3) * 1}
    exec("y = x.sin()\nx.add_(1)", scope)
    text = error(scope["y"])
    assert "needed by SinBackward0, as its 'self': <string>:1\n" in text
    assert "changed by add_: <string>:2\n" in text


def test_sequence_numbers_count_by_one():
    x = leaf(3)
    nodes = [x.sin().grad_fn, (x * x).grad_fn, (x + x).grad_fn, x.exp().grad_fn]
    numbers = [node._sequence_nr() for node in nodes]
    assert numbers == list(range(numbers[0], numbers[0] + 4))
    accumulates = x.sin().grad_fn.next_functions[0][0]
    assert accumulates._sequence_nr() == 2**64 - 1


def test_a_line_far_down_a_long_function():
    # beyond the first instructions: the offset does not run into the count
    body = "\n".join(["    y = x * 1"] * 5000)
    scope = {}
    exec(f"def long(x):\n{body}\n    z = y.sin()\n    y.add_(1)\n    return z", scope)
    text = error(scope["long"](leaf(3)))
    assert "needed by SinBackward0, as its 'self': <string>:5002\n" in text


def test_no_frame_is_kept_alive():
    class Big:
        pass

    def inner():
        big = Big()
        x = leaf(3)
        return x.sin() * x.exp(), sys.getrefcount(big)

    import weakref

    alive = []

    def outer():
        big = Big()
        alive.append(weakref.ref(big))
        return inner()[0]

    result = outer()
    assert alive[0]() is None
    assert result.grad_fn is not None


def test_a_warning_names_the_users_line_when_subclasses_override_operations_too():
    def caught():
        with pytest.warns(UserWarning, match="torch.uint8 is now deprecated") as seen:
            wg.arange(3.0)[wg.tensor([1, 0, 1], dtype=wg.uint8)]  # bytes
        return [(one.filename, one.lineno) for one in seen]

    before = caught()

    class Overriding(wg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs)

    assert caught() == before == [(__file__, line("bytes"))]
