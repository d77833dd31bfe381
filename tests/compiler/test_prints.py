"""Test that compiled functions print the same lines in the same order."""

import builtins
import contextlib
import io
import sys
import threading
import warnings
from fractions import Fraction

import numpy as np
import pytest

import wengert as wg
from wengert import nn
from wengert.compiler import CompileError

NUMPY = {"backend": "numpy", "options": {"measure": False}}
F64 = {"dtype": wg.float64}


def told(function, *args):
    """What a call prints, with its result or its error."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        try:
            result = function(*args)
        except Exception as error:
            result = repr(error)
    return stream.getvalue(), result


def shown(result):
    return [t.detach().numpy() if isinstance(t, wg.Tensor) else t for t in wg_flat(result)]


def wg_flat(result):
    return result if isinstance(result, tuple | list) else (result,)


def check(function, calls, compiled=True, **more):
    """Compare calls; `calls` makes the arguments of each again."""
    made = wg.compile(function, **{**NUMPY, **more})
    printed = []
    for expected_args, args in zip(calls(), calls(), strict=True):
        expected, met = told(function, *expected_args), told(made, *args)
        assert met[0] == expected[0]
        for mine, yours in zip(shown(met[1]), shown(expected[1]), strict=True):
            if isinstance(yours, np.ndarray):
                np.testing.assert_allclose(mine, yours, 1e-9)
            else:
                assert mine == yours
        for mine, yours in zip(args, expected_args, strict=True):
            if isinstance(mine, wg.Tensor):
                np.testing.assert_allclose(mine.detach().numpy(), yours.detach().numpy(), 1e-9)
        printed.append(expected[0])
    assert (made.reason is None) == compiled, made.reason
    if compiled:
        assert made.entries
    return made, printed


def vectors(count=5, grad=True):
    def calls():
        for k in range(count):
            yield (wg.tensor([0.25 + k, -0.5 * k, 1.0], **F64, requires_grad=grad),)

    return calls


@pytest.fixture(autouse=True)
def _loud():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*is not compiled")
        yield


# -- what is printed -------------------------------------------------------------------------------


def test_text_in_the_middle():
    def f(x):
        y = x * 2
        print("middle")
        return y.sin()

    made, printed = check(f, vectors())
    assert printed == ["middle\n"] * 5
    assert made.explain().traces == 1


def test_tensors_show_the_history_that_they_have_uncompiled():
    def f(x):
        y = x * 2
        print(x, y, y.detach(), y.sum(), y > 0, (x > 0).sum(), y.exp().reshape(3, 1))
        return y.sin()

    _, printed = check(f, vectors())
    assert "grad_fn=<MulBackward0>" in printed[0] and "requires_grad=True" in printed[0]


def test_numbers_and_texts_of_numbers():
    def f(x):
        loss = (x**2).sum()
        value = loss.item()
        print(value, loss.item() / 2, f"{value:.3f} {loss.item():>12.4e}|{loss}|{loss:.1f}")
        print(f"{value!r} {value!s}", str(value), repr(loss.item()), format(value, ".2f"))
        print("{:.3f} and {}".format(value, "text"), f"{'a' if x.ndim else 'b'}{value:.1f}")
        print("count", (x > 0).sum().item(), f"{(x > 0).sum().item()}/{len(x)}", x.argmax().item())
        return loss * 2

    made, printed = check(f, vectors(12))
    assert made.explain().traces == 1
    assert len(set(printed)) == 12


def test_texts_that_go_through_variables():
    def f(x):
        text = "loss "
        for k in range(2):
            text += f"{x[k].item():.2f};"
        other = f"{x.sum().item()}"
        both = text + other
        print(both, end=f"<{other}>\n", sep="")
        return x * 2

    made, _ = check(f, vectors(12))
    assert made.explain().traces == 1


def test_a_text_that_is_looked_at_is_a_decision():
    def f(x):
        text = f"{x.sum().item():.0f}"
        print(text)
        return x * len(text)

    check(f, lambda: ((wg.tensor([float(n)], **F64),) for n in (1, 200, 2, 300)))


@pytest.mark.parametrize(
    "write",
    [
        lambda x: print(max(map(str, [x.sum().item(), 5.0]))),
        lambda x: print(f"{f'{x.sum().item():.1f}':>9}|"),
        lambda x: print("{:>{}}".format("a", int(x.sum()))),
        lambda x: print(f"{x.sum().item()!r:>20}|"),
        lambda x: print(len(f"{x.sum().item():.6f}"), "%.3f" % x.sum().item()),  # noqa: UP031
        lambda x: print(sorted([x.sum().item(), 2.5], key=str)),
        lambda x: print(f"{x.sum().item():.1f}".replace("1", "one")),
        lambda x: print("1" in f"{x.sum().item():.1f}"),
        lambda x: print(*[f"{v:.1f}" for v in (x.sum().item(), 2.0)]),
        lambda x: print(", ".join(f"{v:.1f}" for v in (x.sum().item(), 2.0))),
        lambda x: print(f"{x.sum().item():.1f}" == "3.0"),
        lambda x: print([f"{x.sum().item():.1f}"], (str(x),)),
        lambda x: print({f"{x.sum().item():.1f}": 1}),
        lambda x: print(round(x.sum().item(), 1), abs(-x.sum().item()), -x.sum().item()),
        lambda x: print(f"{x}tail", f"{x.sum():8.3f}|{x.sum().item():+.1f}|{x.sum().item():08.2f}"),
        lambda x: print(f"{x.sum().item()!r:>25}|"),
        lambda x: print(np.array([x.sum().item(), "b"], object)),
    ],
)
def test_text_is_right_whatever_is_done_with_it(write):
    def f(x):
        write(x)
        return x + 1

    def calls():
        for n in (11.0, 3.0, 11.25, 3.0, 111.0):
            yield (wg.tensor([n], **F64),)

    made = wg.compile(f, **NUMPY)
    for (mine,), (yours,) in zip(calls(), calls(), strict=True):
        assert told(made, mine)[0] == told(f, yours)[0]


def test_containers_are_shown_as_they_were():
    def f(x):
        held = [1, "a", x.sum().item(), {"x": x * 2, 2: (None, 2.5, Fraction(1, 3))}]
        print(held, {1}, x.shape, x.dtype, slice(1, 2), ...)
        held.append(3)
        print(held)
        return x + 1

    check(f, vectors())


def test_a_tensor_is_shown_as_it_was_before_it_is_written_to():
    def f(x):
        print(x)
        with wg.no_grad():
            x.mul_(2)
        print(x)
        x.detach().add_(1)
        print(x, x[0], x[1:])
        return x * 1

    check(f, vectors())


def test_the_history_of_what_comes_from_outside_is_looked_at_in_each_call():
    def f(x):
        print(x, x * 1)
        return x + 1

    def calls():
        w = wg.tensor([1.0, 2.0], **F64, requires_grad=True)
        yield from ((w * 2,), (w * 3,), (w + 1,), (w.exp(),))

    made, printed = check(f, calls)
    assert "ExpBackward0" in printed[3]
    assert made.explain().traces == 1


def test_parameters_and_other_dtypes():
    layer = nn.Linear(2, 1)

    def f(x):
        print(layer.weight, layer(x.float()), x.long(), x.to(wg.complex128), x[:0])
        return x + 1

    check(f, lambda: ((wg.tensor([float(n), 2.0], **F64),) for n in range(4)))


def test_print_options_are_those_of_the_call():
    def f(x):
        print(x / 3)
        return x + 1

    made = wg.compile(f, **NUMPY)
    x = wg.tensor([1.0, 2.0])
    told(made, x)
    with wg.printoptions(precision=1):
        assert told(made, x)[0] == told(f, x)[0] == "tensor([0.3, 0.7])\n"
    assert told(made, x)[0] == told(f, x)[0]


def test_objects_with_a_text_of_their_own_run_as_they_are():
    class Loud:
        def __str__(self):
            return "loud"

    held = Loud()

    def f(x):
        print(held)
        return x + 1

    made, _ = check(f, vectors(), compiled=False)
    assert "it prints an object (Loud)" in str(made.reason)


# -- where -----------------------------------------------------------------------------------------


def test_a_branch_that_is_not_taken_is_no_break():
    def f(x, step):
        if step % 100 == 0:
            print("step", step, x.sum().item())
        return x * 2

    made = wg.compile(f, **NUMPY)
    x = wg.tensor([1.0, 2.0])
    assert told(made, x, 1)[0] == told(made, x, 1)[0] == ""
    assert made.explain().prints == []
    made, _ = check(f, lambda: ((wg.tensor([1.0, n]), n) for n in (0, 1, 1, 100, 100, 1)))
    assert len(made.explain().prints) == 1


def test_decisions_before_and_after():
    def f(x):
        print("start", x)
        if x.sum() > 2:
            print("large", x.sum())
        y = x.exp()
        while y.sum() > 3:
            y = y / 2
            print("half", y.sum().item())
        print("end")
        return y

    made, _ = check(f, vectors(6), limit=64)
    assert len(made.explain().prints) == 4


def test_a_print_behind_a_loop_that_values_end():
    def f(x):
        y = x.exp()
        while y.sum() > 3:
            y = y / 2
        print("end", y.sum().item())
        return y

    made, _ = check(f, vectors(12, grad=False), limit=4)
    assert made.explain().traces <= 4


def test_methods_closures_and_called_functions():
    class Trainer:
        def __init__(self):
            self.scale = 2.0

        def report(self, name, value):
            print(f"{name}: {value:.4f}")

        def __call__(self, x):
            loss = (x * self.scale).sum()
            self.report("loss", loss.item())
            return loss

    made, _ = check(Trainer().__call__, vectors(12))
    assert made.explain().traces == 1


def test_modules():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 2, dtype=wg.float64)

        def forward(self, x):
            y = self.layer(x)
            print("layer", y.shape, f"{y.mean().item():.4f}")
            return y.relu()

    made, _ = check(Net(), vectors(12))
    assert made.explain().traces == 1


def test_training_steps():
    def world():
        wg.manual_seed(0)
        net = nn.Linear(3, 1, dtype=wg.float64)
        optimizer = wg.optim.SGD(net.parameters(), lr=0.1)

        def step(x, k):
            optimizer.zero_grad()
            loss = (net(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            if k % 2 == 0:
                print(f"step {k} loss {loss.item():.6f}", net.bias)
            return loss.detach()

        return step

    eager, made = world(), wg.compile(world(), **NUMPY)
    for k in [0, 1, 1, 2, 3, 3, 0, 1, 2]:
        x = wg.tensor([[1.0, 2.0, k]], **F64)
        expected, met = told(eager, x, k), told(made, x, k)
        assert met[0] == expected[0]
        assert np.allclose(met[1].numpy(), expected[1].numpy())
    assert made.reason is None


def test_compiled_functions_in_compiled_functions():
    inner = wg.compile(lambda x: (print("inner", x.sum().item()), x * 2)[1], **NUMPY)

    def f(x):
        print("before")
        y = inner(x)
        print("after")
        return y

    check(f, vectors())


def test_under_transforms_it_runs_as_it_is():
    def f(x):
        print("in", x.shape)
        return (x**2).sum()

    made = wg.compile(f, **NUMPY)
    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]])
    for transform in (wg.func.vmap, lambda g: wg.func.vmap(wg.func.grad(g))):
        for _ in range(3):
            mine, yours = told(transform(made), x), told(transform(f), x)
            assert mine[0] == yours[0]
            assert mine[1].tolist() == yours[1].tolist()


def test_a_gradient_inside():
    def f(x):
        def g(v):
            print("in g")
            return (v**2).sum()

        return wg.func.grad(g)(x)

    check(f, vectors())


# -- order, errors, and runs that are broken off ---------------------------------------------------


def test_an_error_after_it():
    def f(x, n):
        print("before", x)
        y = x // n
        print("after")
        return y

    def calls():
        for n in (2, 0, 2, 0, 3):
            yield wg.tensor([7, 9]), wg.tensor(n)

    check(f, calls)


def test_nothing_is_printed_twice_where_a_decision_is_new():
    def f(x):
        print("before", x.sum().item())
        for k in range(4):
            if x[k] > 0:
                print("positive", k)
        return x * 2

    def calls():
        for k in range(16):
            yield (wg.tensor([1.0 if k >> n & 1 else -1.0 for n in range(4)]),)

    made, _ = check(f, calls, limit=32)
    assert made.explain().traces == 16


def encoded(function, encoding, *args):
    """As `told`, to a stream that knows some characters only."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    with contextlib.redirect_stdout(stream):
        try:
            result = function(*args)
        except Exception as error:
            result = repr(error)
    stream.flush()
    return stream.buffer.getvalue(), result


@pytest.mark.sampled(3)
@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("catches", [False, True])
@pytest.mark.parametrize("draws", [False, True])
def test_print_raises(place, catches, draws):
    texts = ["\u00e9" if k == place else "e" for k in range(3)]

    def f(x, w):
        w.add_(1)
        print(texts[0], "one", x)
        w.add_(1)
        try:
            print("two", w, sep=texts[1])
        except UnicodeError:
            if not catches:
                raise
            w.mul_(10)
        w.add_(wg.rand(3) if draws else 0.5)
        print("three", f"{x.sum().item():.3f}", end=texts[2])
        return x * w

    made = wg.compile(f, **NUMPY)
    for _ in range(3):
        encoded(made, "utf-8", wg.ones(3), wg.ones(3))
    assert made.reason is None and made.entries

    def run(function, encoding):
        wg.manual_seed(3)
        w = wg.ones(3)
        found = encoded(function, encoding, wg.tensor([1.0, 2.0, 3.0]), w)
        result = found[1] if isinstance(found[1], str) else found[1].tolist()
        # a compiled call has drawn all its random numbers by then
        further = None if draws and isinstance(result, str) else wg.rand(2).tolist()
        return found[0], result, w.tolist(), further

    for encoding in ("utf-8", "ascii", "utf-8", "ascii"):
        assert run(made, encoding) == run(f, encoding)
    assert made.reason is None


def test_print_raises_in_a_call_without_decisions():
    def f(x):
        print("first", x.sum())
        print("\u00e9", f"{x.sum().item():.1f}", x)
        return x * 2

    made = wg.compile(f, **NUMPY)
    x = wg.tensor([1.0, 2.0])
    for encoding in ("utf-8", "utf-8", "utf-8", "ascii", "utf-8", "ascii", "utf-8"):
        mine, yours = encoded(made, encoding, x), encoded(f, encoding, x)
        assert mine[0] == yours[0]
        if encoding == "ascii":
            assert mine[1] == yours[1] and "UnicodeEncodeError" in mine[1]
        else:
            assert mine[1].tolist() == yours[1].tolist()
    assert made.reason is None and made._quick


def test_another_function_in_the_place_of_print(monkeypatch):
    def f(x):
        print("value", x)
        return x + 1

    made = wg.compile(f, **NUMPY)
    for _ in range(3):
        told(made, wg.ones(2))
    heard = []
    monkeypatch.setattr(builtins, "print", lambda *args: heard.append(args))
    for _ in range(3):
        made(wg.ones(2))
    assert [args[0] for args in heard] == ["value"] * 3


def test_print_that_is_passed_on_runs_as_it_is():
    def f(x):
        report = print
        report("value")
        return x + 1

    _, printed = check(f, vectors(), compiled=False)
    assert printed == ["value\n"] * 5


def test_print_is_python_s_afterwards():
    own = builtins.print

    def f(x):
        print("value")
        return x + 1

    check(f, vectors())
    assert builtins.print is own


def test_streams_that_do_more_than_to_write():
    class Loud(io.StringIO):
        def write(self, text):
            return super().write(text.upper())

    def f(x):
        print("value", x.sum().item())
        return x + 1

    made = wg.compile(f, **NUMPY)
    for _ in range(3):
        told(made, wg.ones(2))
    for _ in range(2):
        stream = Loud()
        with contextlib.redirect_stdout(stream):
            made(wg.ones(2))
        assert stream.getvalue() == "VALUE 2.0\n"
    assert made.reason is None
    assert told(made, wg.ones(2))[0] == "value 2.0\n"


def test_no_stream_at_all(monkeypatch):
    def f(x):
        print("value")
        return x + 1

    made = wg.compile(f, **NUMPY)
    monkeypatch.setattr(sys, "stdout", None)
    for _ in range(3):
        assert made(wg.ones(1)).tolist() == [2.0]


def test_second_derivatives_print_nothing_more():
    def f(x):
        y = (x**3).sum()
        print("value", y.item())
        return y

    made = wg.compile(f, **NUMPY)
    for _ in range(3):
        x = wg.tensor([1.0, 2.0], **F64, requires_grad=True)

        def second(function, x=x):
            (first,) = wg.autograd.grad(function(x), x, create_graph=True)
            return wg.autograd.grad(first.sum(), x)[0]

        mine, yours = told(second, made), told(second, f)
        assert mine[0] == yours[0]
        assert np.allclose(mine[1].numpy(), yours[1].numpy())


def test_second_derivatives_print_nothing_more_where_compiled_functions_call_others():
    def f(x):
        print("value", x.sum().item())
        warnings.warn("twice", UserWarning)  # noqa: B028
        return (x**3).sum()

    inner = wg.compile(f, **NUMPY)
    made = wg.compile(lambda x: inner(x) + inner(x * 2), **NUMPY)
    for _ in range(3):
        x = wg.tensor([1.0, 2.0], **F64, requires_grad=True)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            printed, (first,) = told(lambda x=x: wg.autograd.grad(made(x), x, create_graph=True))
        assert printed == "value 3.0\nvalue 6.0\n"
        assert len(warned) == 2
        assert wg.autograd.grad(first.sum(), x)[0].tolist() == [54.0, 108.0]


def test_the_whole_graph_is_asked_for():
    def f(x, step):
        if step:
            print("value")
        return x + 1

    made = wg.compile(f, fullgraph=True, **NUMPY)
    for _ in range(2):
        assert made(wg.ones(1), 0).tolist() == [2.0]
    with pytest.raises(CompileError, match=r"calls print\(\) \(test_prints.py:\d+\)"):
        told_or_raised(made, wg.ones(1), 1)


def told_or_raised(function, *args):
    with contextlib.redirect_stdout(io.StringIO()):
        return function(*args)


def test_the_measured_first_calls_print_once_each():
    def f(x):
        print("value", x.sum().item())
        return x.sin().exp().cos().tanh()

    made = wg.compile(f, backend="numpy")
    for k in range(12):
        x = wg.full((4,), float(k))
        assert told(made, x)[0] == told(f, x)[0]


def test_random_numbers():
    def f(x):
        print(wg.rand(2))
        y = wg.rand(2)
        print(y)
        return x + y if y.sum() > 1 else x - y

    made = wg.compile(f, **NUMPY)
    found = []
    for function in (f, made):
        wg.manual_seed(1)
        found.append([told(function, wg.ones(2))[0] for _ in range(10)])
    assert found[0] == found[1]
    assert made.reason is None


def test_threads():
    def f(x):
        y = x * 2
        print(f"{x[0].item():.0f}:{y.sum().item():.0f}")
        return y

    made = wg.compile(f, **NUMPY)
    stream = io.StringIO()
    results = []

    def work(k):
        for n in range(5):
            results.append((k * 5 + n, made(wg.full((3,), float(k * 5 + n))).tolist()))
            print("between")

    with contextlib.redirect_stdout(stream):
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    written = stream.getvalue()
    assert written.count("between") == 20
    for n in range(20):
        assert written.count(f"{n}:{6 * n}") >= 1
    assert len(written.replace("between", "").split()) == 20
    assert all(found == [2.0 * n] * 3 for n, found in results)


def test_explanation_shows_the_line():
    def f(x):
        y = x * 2
        print("value", y)
        return y.sin()

    made, _ = check(f, vectors())
    text = str(made.explain())
    assert "print() at test_prints.py:" in text
    assert 'print("value", y)' in text
    ((file, _line),) = made.explain().prints
    assert file == __file__


# -- numbers that are only asked something, or printed ---------------------------------------------


def steps(*numbers):
    return lambda: ((wg.tensor([1.0, float(n % 7)], **F64), n) for n in numbers)


def test_a_counter_of_steps_is_no_condition():
    def f(x, step):
        y = (x * 2).sin()
        if step % 10 == 0:
            print(f"step {step:3d}/{step}: {y.sum().item():.4f}", step)
        return y * 2

    made, printed = check(f, steps(*range(45)), limit=2)
    assert made.explain().traces == 2
    assert sum(map(bool, printed)) == 5


@pytest.mark.parametrize(
    ("ask", "traces"),
    [
        (lambda x, n: x * 2 if n else x, 2),
        (lambda x, n: x * 2 if not n % 3 else x, 2),
        (lambda x, n: x * 2 if (n + 1) % 4 == 0 else x, 2),
        (lambda x, n: x * 2 if n // 3 > 1 else x, 2),
        (lambda x, n: x * (n < 4) + (n >= 9), 3),
        (lambda x, n: x * 2, 1),
        (lambda x, n: x * n, 15),
        (lambda x, n: (x * 2, n)[0], 15),
        (lambda x, n: x * (n % 3), 15),
        (lambda x, n: x * 2 if 1 < n < 4 else x, 15),
        (lambda x, n: x * (lambda: n)(), 15),
        (lambda x, n: x * 2 if n % 3 == 0 else x * n, 15),
        (lambda x, n: x * vars()["n"], 15),
        (lambda x, n: x * len(f"{n}"), 15),
    ],
)
def test_questions_about_numbers(ask, traces):
    made, _ = check(ask, steps(*range(-2, 12), 10**30), limit=32)
    assert made.explain().traces == traces


def test_a_number_is_one_whatever_it_is_asked():
    def f(x, n):
        if n == 1:
            print("one", n)
        return x + 1

    check(f, lambda: ((wg.ones(2), n) for n in (1, 2, True, 1.0, 1, 2, False)))


def test_numbers_by_keyword_and_of_methods():
    class Trainer:
        def step(self, x, *, step, epoch=0):
            if step % 2 == 0:
                print(f"epoch {epoch} step {step}")
            return x * 2

    trainer = Trainer()
    made = wg.compile(trainer.step, limit=2, **NUMPY)
    for n in range(12):
        for more in ({"step": n}, {"step": n, "epoch": n}, {"epoch": n, "step": n}):
            expected = told(lambda more=more: trainer.step(wg.ones(2), **more))
            met = told(lambda more=more: made(wg.ones(2), **more))
            assert met[0] == expected[0]
            assert met[1].tolist() == expected[1].tolist()


def test_a_counter_beside_loops_that_values_end():
    def f(x, step):
        y = x.exp()
        while y.sum() > 3:
            y = y / 2
        if step % 2 == 0:
            print("step", step, y.sum().item())
        return y

    check(f, steps(*range(12)), limit=64)


def test_a_counter_and_second_derivatives():
    def f(x, step):
        y = (x**3).sum()
        print("step", step)
        return y

    made = wg.compile(f, limit=2, **NUMPY)
    for n in range(6):
        x = wg.tensor([1.0, 2.0], **F64, requires_grad=True)

        def second(function, n=n, x=x):
            (first,) = wg.autograd.grad(function(x, n), x, create_graph=True)
            return wg.autograd.grad(first.sum(), x)[0]

        mine, yours = told(second, made), told(second, f)
        assert mine[0] == yours[0] == f"step {n}\n"
        assert np.allclose(mine[1].numpy(), yours[1].numpy())


# -- standard error --------------------------------------------------------------------------------


def both(function, *args):
    """What goes to standard output and to standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        result = function(*args)
    return out.getvalue(), err.getvalue(), result.tolist()


def test_standard_error():
    def f(x, n):
        print("out", file=sys.stdout, flush=True)
        print("err", x, file=sys.stderr)
        if n % 2:
            print(f"{x.sum().item():.3f}", file=sys.stderr, end="|", sep="")
        return x * 2

    made = wg.compile(f, **NUMPY)
    for n in range(12):
        x = wg.tensor([1.0, float(n)])
        assert both(made, x, n) == both(f, x, n)
    assert made.reason is None and made.explain().traces == 2


def test_one_stream_for_both():
    def f(x):
        print("err", x, file=sys.stderr)
        print("out")
        return x * 2

    for first in (True, False):
        made = wg.compile(f, **NUMPY)
        if not first:
            both(made, wg.ones(2))
        for _ in range(3):
            seen = []
            for function in (made, f):
                stream = io.StringIO()
                with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
                    function(wg.ones(2))
                seen.append(stream.getvalue())
            assert seen[0] == seen[1] == "err tensor([1., 1.])\nout\n"
        assert both(made, wg.ones(2))[0] == "out\n"


def test_streams_that_are_written_to_run_as_they_are():
    def f(x):
        sys.stderr.write("text\n")
        return x * 2

    def g(x):
        stream = sys.stderr
        print("text", file=stream)
        print("more", file=sys.stderr)
        return x * 2

    for function in (f, g):
        made = wg.compile(function, **NUMPY)
        for _ in range(3):
            assert both(made, wg.ones(2)) == both(function, wg.ones(2))
        assert made.reason is not None


def test_a_function_of_the_user_s_by_the_name_of_print():
    space = {"wg": wg, "sys": sys, "seen": []}
    source = """
def print(number, file=None):
    (file or sys.stdout).write("n" * (number % 5))
    return number

def f(x, n):
    print(n)
    print(n, file=sys.stderr)
    text = f"{x.sum().item():.1f}"
    print(len(text) and n)
    return x * 2

def g(x, n):
    print(n)
    return x * 2
"""
    source = source.replace('(file or sys.stdout).write("n" * (number % 5))', "x[0] = number % 5")
    exec(source.replace("def print", "x = wg.zeros(1)\ndef print"), space)
    for name in "fg":
        made = wg.compile(space[name], limit=64, **NUMPY)
        for n in range(12):
            v = wg.tensor([1.0, float(n)])
            assert both(made, v, n) == both(space[name], v, n)
            made(v, n)
            found = space["x"].tolist()
            space[name](v, n)
            assert found == space["x"].tolist() == [n % 5]


def test_objects_in_texts_are_shown_as_they_are():
    count = [0]

    class Counter:
        def __repr__(self):
            return f"count {count[0]}"

    class Plain:
        pass

    held = Counter()

    def f(x):
        print(f"{held}", str(held))
        return x + 1

    def g(x, thing):
        print(f"{thing}")
        return x + 1

    first, second = wg.compile(f, **NUMPY), wg.compile(g, **NUMPY)
    kept = []
    for n in range(6):
        count[0] = n // 2
        kept.append(Plain())
        assert told(first, wg.ones(2))[0] == f"count {n // 2} count {n // 2}\n"
        assert told(second, wg.ones(2), kept[-1])[0] == f"{kept[-1]}\n"
    assert first.reason is None
    assert "where an object lies in memory" in str(second.reason)


def test_what_is_not_followed_prints_its_values_and_no_marks():
    class Thing:
        def __repr__(self):
            return "thing"

    thing = Thing()

    def f(x):
        print(f"{x.sum().item():.2f}", thing)
        return x * 2

    check(f, vectors(), compiled=False, options={"quiet": True})


def test_functions_that_print_and_return_nothing_print_once(capsys):
    @wg.compile(backend="numpy", options={"measure": False})
    def f(x):
        print("one", x.sum().item())

    for turn in range(4):
        assert f(wg.ones(2) * turn) is None
        assert capsys.readouterr().out == f"one {2.0 * turn}\n"
