"""Test the recording modes: contexts, decorators, generators, threads."""

import threading

import pytest

import wengert as wg
from wengert.tape.modes import current_mode


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0], requires_grad=True)


def test_recording_is_on_by_default(x):
    assert wg.is_grad_enabled()
    assert (x * 2).requires_grad


def test_no_grad_as_a_context(x):
    with wg.no_grad():
        assert not wg.is_grad_enabled()
        y = x * 2
    assert wg.is_grad_enabled()
    assert not y.requires_grad and y.grad_fn is None and y.is_leaf


def test_a_leaf_made_under_no_grad_may_require_a_gradient():
    with wg.no_grad():
        x = wg.tensor([1.0], requires_grad=True)
    assert x.requires_grad
    assert (x * 2).requires_grad


def test_contexts_nest(x):
    with wg.no_grad():
        with wg.enable_grad():
            assert (x * 2).requires_grad
            with wg.no_grad():
                assert not (x * 2).requires_grad
            assert wg.is_grad_enabled()
        assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()


def test_an_exception_restores_the_mode():
    with pytest.raises(ValueError, match="here"), wg.no_grad():
        raise ValueError("here")
    assert wg.is_grad_enabled()


def test_decorators(x):
    @wg.no_grad()
    def silent(x, factor=2):
        """Multiplies."""
        return x * factor

    @wg.enable_grad()
    def loud(x):
        return x * 2

    assert not silent(x).requires_grad
    assert silent(x, factor=3).tolist() == [3.0, 6.0]
    assert silent.__name__ == "silent" and silent.__doc__ == "Multiplies."
    assert wg.is_grad_enabled()
    with wg.no_grad():
        assert loud(x).requires_grad


def test_a_decorator_without_parentheses(x):
    @wg.no_grad
    def silent(x):
        return x * 2

    assert not silent(x).requires_grad
    assert wg.is_grad_enabled()


def test_a_decorated_recursion(x):
    @wg.no_grad()
    def count(n):
        assert not wg.is_grad_enabled()
        if n:
            count(n - 1)
        assert not wg.is_grad_enabled()

    count(5)
    assert wg.is_grad_enabled()


def test_a_decorated_generator_switches_at_each_step(x):
    @wg.no_grad()
    def steps():
        for _ in range(3):
            assert not wg.is_grad_enabled()
            yield (x * 2).requires_grad

    seen = []
    for value in steps():
        assert wg.is_grad_enabled()
        seen.append(value)
    assert seen == [False] * 3
    assert wg.is_grad_enabled()


def test_a_decorated_generator_takes_values_and_exceptions():
    caught = []

    @wg.no_grad()
    def echo():
        value = None
        while True:
            try:
                value = yield (value, wg.is_grad_enabled())
            except KeyError as error:
                caught.append((error, wg.is_grad_enabled()))
                value = "caught"

    generator = echo()
    assert next(generator) == (None, False)
    assert generator.send(5) == (5, False)
    assert generator.throw(KeyError("k")) == ("caught", False)
    assert wg.is_grad_enabled()
    generator.close()
    assert wg.is_grad_enabled()
    assert caught[0][1] is False


def test_set_grad_enabled_as_a_context(x):
    with wg.set_grad_enabled(False):
        assert not wg.is_grad_enabled()
        with wg.set_grad_enabled(mode=True):
            assert wg.is_grad_enabled()
        assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()


def test_set_grad_enabled_as_a_function():
    wg.set_grad_enabled(False)
    try:
        assert not wg.is_grad_enabled()
    finally:
        wg.set_grad_enabled(True)
    assert wg.is_grad_enabled()


def test_set_grad_enabled_as_a_decorator(x):
    @wg.set_grad_enabled(False)
    def silent(x):
        return x * 2

    assert wg.is_grad_enabled()
    assert not silent(x).requires_grad
    assert wg.is_grad_enabled()


def test_one_context_object_may_be_used_again(x):
    mode = wg.no_grad()
    for _ in range(2):
        with mode:
            assert not wg.is_grad_enabled()
            with mode:
                assert not wg.is_grad_enabled()
            assert not wg.is_grad_enabled()
        assert wg.is_grad_enabled()


def test_other_threads_have_their_own_mode():
    seen = []

    def look():
        seen.append(wg.is_grad_enabled())

    with wg.no_grad():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == [True]


def test_a_mode_set_in_a_thread_stays_there():
    inside, go = threading.Event(), threading.Event()

    def hold():
        with wg.no_grad():
            inside.set()
            go.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(10)
    try:
        assert wg.is_grad_enabled()
        assert (wg.tensor(1.0, requires_grad=True) * 2).requires_grad
    finally:
        go.set()
        thread.join()


def test_backward_does_not_change_the_mode(x):
    y = (x * x).sum()
    with wg.no_grad():
        y.backward()
        assert not wg.is_grad_enabled()
    assert wg.is_grad_enabled()
    assert x.grad.tolist() == [2.0, 4.0]


def test_create_graph_records_even_under_no_grad(x):
    y = (x * x * x).sum()
    with wg.no_grad():
        (g,) = wg.autograd.grad(y, x, create_graph=True)
    assert g.requires_grad


def test_the_autograd_module_has_the_modes_too():
    with wg.autograd.no_grad():
        assert not wg.is_grad_enabled()
    with wg.no_grad(), wg.autograd.enable_grad():
        assert wg.is_grad_enabled()
    with wg.autograd.set_grad_enabled(False):
        assert not wg.is_grad_enabled()


def test_what_switches_recording_leaves_the_mode_that_it_found():
    before = current_mode()
    with wg.no_grad():
        within = current_mode()
        with wg.enable_grad():
            assert current_mode() is before
            with wg.no_grad():
                assert current_mode() is within
            assert current_mode() is before
        assert current_mode() is within
    assert current_mode() is before


def test_leaving_inference_mode_keeps_what_was_set_in_it():
    with wg.inference_mode():
        wg.autograd.set_multithreading_enabled(False)
    assert not wg.is_inference_mode_enabled()
    assert not wg.autograd.is_multithreading_enabled()
    wg.autograd.set_multithreading_enabled(True)
    with wg.no_grad(), wg.inference_mode():
        pass
    assert wg.is_grad_enabled()


@pytest.mark.parametrize("write", [lambda t: t.mul_(2), lambda t: t.__setitem__(0, 3.0)])
@pytest.mark.parametrize(
    "transform",
    [
        lambda f: f,
        lambda f: wg.compile(f, backend="numpy"),
        lambda f: lambda x: wg.func.vmap(f)(x[None]),
        lambda f: lambda x: wg.func.jvp(f, (x,), (x,)),
    ],
    ids=["plain", "compile", "vmap", "jvp"],
)
def test_inference_tensors_refuse_writes_outside_under_transforms(transform, write):
    def function(x):
        with wg.inference_mode():
            made = x * 1
        write(made)
        return made

    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside"):
        transform(function)(wg.ones(2))
