"""Test the recording modes: `no_grad`, `enable_grad`, `set_grad_enabled`, and others."""

import asyncio
import inspect
import threading

import pytest


@pytest.fixture
def x(t):
    return t.tensor([1.0, 2.0], requires_grad=True)


def on(t):
    return t.is_grad_enabled()


# -- contexts -------------------------------------------------------------------------------------


def test_no_grad_as_a_context(t, x):
    with t.no_grad():
        assert on(t) is False
        y = x * 2
    assert on(t)
    assert not y.requires_grad and y.grad_fn is None and y.is_leaf


def test_enable_grad_inside_no_grad(t, x):
    with t.no_grad():
        with t.enable_grad():
            assert (x * 2).requires_grad
            with t.no_grad():
                assert not (x * 2).requires_grad
            assert on(t)
        assert not on(t)
    assert on(t)


@pytest.mark.parametrize("name", ["no_grad", "enable_grad"])
def test_an_object_may_be_used_again(t, name):
    mode = getattr(t, name)()
    inside = name == "enable_grad"
    for outside in (True, False):
        with t.set_grad_enabled(outside):
            for _ in range(2):
                with mode:
                    assert on(t) is inside
                assert on(t) is outside
    assert on(t)


def test_an_exception_restores_the_mode(t):
    for make in (t.no_grad, t.enable_grad, lambda: t.set_grad_enabled(False)):
        for outside in (True, False):
            with t.set_grad_enabled(outside):
                with pytest.raises(ValueError, match="here"), make():
                    raise ValueError("here")
                assert on(t) is outside
    assert on(t)


def test_a_leaf_made_under_no_grad_may_require_a_gradient(t):
    with t.no_grad():
        x = t.ones(2, requires_grad=True)
        y = t.tensor([1.0], requires_grad=True)
        z = t.zeros(2).requires_grad_()
    (x * 2 + y * 3 + z * 4).sum().backward()
    assert [leaf.grad.tolist() for leaf in (x, y, z)] == [[2.0, 2.0], [6.0], [4.0, 4.0]]


def test_a_result_without_history_may_require_a_gradient_afterwards(t, x):
    with t.no_grad():
        y = x * 2
    y.requires_grad_()
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3.0, 3.0] and x.grad is None


def test_a_graph_may_be_walked_under_no_grad(t, x):
    y = (x * x).sum()
    with t.no_grad():
        y.backward()
        assert not on(t)
    assert x.grad.tolist() == [2.0, 4.0]


def test_create_graph_records_under_no_grad(t, x):
    y = (x * x * x).sum()
    with t.no_grad():
        (g,) = t.autograd.grad(y, x, create_graph=True)
        assert not on(t)
    assert g.requires_grad
    assert t.autograd.grad(g.sum(), x)[0].tolist() == [6.0, 12.0]


def test_in_place_on_a_leaf_under_no_grad(t, x):
    with t.no_grad():
        x.mul_(2)
    assert x.tolist() == [2.0, 4.0] and x.is_leaf and x.requires_grad


def test_detach_and_views_under_no_grad(t, x):
    with t.no_grad():
        assert not x.detach().requires_grad
        assert x[0].grad_fn is None
        assert x[0]._base is x


def test_functions_are_not_recorded_under_no_grad(t, x):
    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    with t.no_grad():
        assert Double.apply(x).grad_fn is None
    assert Double.apply(x).grad_fn is not None


# -- decorators -----------------------------------------------------------------------------------


@pytest.mark.parametrize("parentheses", [True, False])
def test_no_grad_as_a_decorator(t, x, parentheses):
    decorate = t.no_grad() if parentheses else t.no_grad

    @decorate
    def silent(x, factor=2):
        """Multiplies."""
        assert not on(t)
        return x * factor

    assert on(t)
    assert not silent(x).requires_grad
    assert silent(x, factor=3).tolist() == [3.0, 6.0]
    assert silent.__name__ == "silent" and silent.__doc__ == "Multiplies."
    assert list(inspect.signature(silent).parameters) == ["x", "factor"]
    assert on(t)


def test_set_grad_enabled_as_a_decorator(t, x):
    @t.set_grad_enabled(False)
    def silent(x):
        return x * 2

    assert on(t)
    assert not silent(x).requires_grad
    assert on(t)

    with t.no_grad():

        @t.set_grad_enabled(True)
        def loud(x):
            return x * 2

        assert not on(t)
        assert loud(x).requires_grad
        assert not on(t)


def test_a_decorated_method(t, x):
    class Model:
        factor = 3

        @t.no_grad()
        def silent(self, x):
            return x * self.factor

        @staticmethod
        @t.no_grad()
        def static(x):
            return x * 2

        @classmethod
        @t.no_grad()
        def of_class(cls, x):
            return x * cls.factor

        @property
        @t.no_grad()
        def mode(self):
            return on(t)

    model = Model()
    assert model.silent(x).tolist() == [3.0, 6.0] and not model.silent(x).requires_grad
    assert not Model.static(x).requires_grad
    assert not Model.of_class(x).requires_grad
    assert model.mode is False
    assert on(t)


def test_a_decorated_function_that_raises(t):
    @t.no_grad()
    def fail():
        raise KeyError("k")

    for _ in range(2):
        with pytest.raises(KeyError, match="k"):
            fail()
        assert on(t)


def test_a_decorated_recursion(t):
    @t.no_grad()
    def count(n):
        assert not on(t)
        if n:
            count(n - 1)
        assert not on(t)
        return n

    assert count(20) == 20
    assert on(t)


def test_mutually_decorated_recursion(t):
    @t.no_grad()
    def silent(n):
        assert not on(t)
        if n:
            loud(n - 1)
        assert not on(t)

    @t.enable_grad()
    def loud(n):
        assert on(t)
        if n:
            silent(n - 1)
        assert on(t)

    silent(9)
    assert on(t)


def test_a_function_decorated_twice(t):
    @t.enable_grad()
    @t.no_grad()
    def silent():
        return on(t)

    @t.no_grad()
    @t.enable_grad()
    def loud():
        return on(t)

    assert silent() is False and loud() is True


def test_a_decorated_lambda_and_builtin(t):
    assert t.no_grad()(lambda: on(t))() is False
    assert t.no_grad()(len)([1, 2]) == 2


def test_one_object_decorates_several_functions(t):
    mode = t.no_grad()
    first, second = mode(lambda: on(t)), mode(lambda: (first(), on(t)))
    assert second() == (False, False)
    assert on(t)


def test_a_decorated_class_warns(t):
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @t.no_grad()
        class Thing:
            def __init__(self):
                self.made = on(t)

            def later(self):
                return on(t)

    thing = Thing()
    assert thing.made is False and thing.later() is True
    assert on(t)


def test_a_decorated_coroutine_function_runs_as_pytorch_has_it(t):
    # only the making of the coroutine is in the mode, since it is not a generator
    @t.no_grad()
    async def work():
        before = on(t)
        await asyncio.sleep(0)
        return before, on(t)

    assert asyncio.run(work()) == (True, True)
    assert on(t)


def test_a_context_around_await(t):
    async def work():
        with t.no_grad():
            await asyncio.sleep(0)
            return on(t)

    assert asyncio.run(work()) is False
    assert on(t)


# -- generators -----------------------------------------------------------------------------------


def test_a_decorated_generator_switches_at_each_step(t):
    @t.no_grad()
    def steps():
        for i in range(3):
            assert not on(t)
            yield i
        assert not on(t)

    seen = []
    for i in steps():
        assert on(t)
        seen.append(i)
    assert seen == [0, 1, 2]
    assert on(t)
    assert inspect.isgeneratorfunction(steps)


def test_a_decorated_generator_leaves_the_mode_of_its_consumer(t):
    @t.enable_grad()
    def steps():
        assert on(t)
        yield 1
        assert on(t)
        yield 2
        assert on(t)

    generator = steps()
    with t.no_grad():
        assert next(generator) == 1
        assert not on(t)
    assert next(generator) == 2
    with t.no_grad():
        assert list(generator) == []
        assert not on(t)
    assert on(t)


def test_a_decorated_generator_takes_values(t):
    @t.no_grad()
    def echo():
        value = None
        while True:
            value = yield (value, on(t))

    generator = echo()
    assert next(generator) == (None, False)
    assert generator.send(5) == (5, False)
    assert next(generator) == (None, False)
    assert generator.send("text") == ("text", False)
    assert on(t)


def test_a_decorated_generator_takes_exceptions(t):
    caught = []

    @t.no_grad()
    def echo():
        value = 0
        while True:
            try:
                value = yield value
            except KeyError as error:
                caught.append((error.args, on(t)))
                value = "caught"

    generator = echo()
    next(generator)
    assert generator.throw(KeyError("k")) == "caught"
    assert caught == [(("k",), False)]
    with pytest.raises(ValueError, match="other"):
        generator.throw(ValueError("other"))
    assert on(t)
    with pytest.raises(StopIteration):
        next(generator)


def test_a_decorated_generator_is_closed_in_the_mode(t):
    log = []

    @t.no_grad()
    def steps():
        try:
            yield 1
        finally:
            log.append(on(t))

    generator = steps()
    next(generator)
    generator.close()
    assert log == [False]
    assert on(t)


def test_a_decorated_generator_that_ignores_close(t):
    @t.no_grad()
    def stubborn():
        try:
            yield 1
        except GeneratorExit:
            yield 2

    generator = stubborn()
    next(generator)
    with pytest.raises(RuntimeError, match="generator ignored GeneratorExit"):
        generator.close()
    assert on(t)


def test_a_decorated_generator_that_raises(t):
    @t.no_grad()
    def steps():
        yield 1
        raise KeyError("k")

    generator = steps()
    next(generator)
    with pytest.raises(KeyError, match="k"):
        next(generator)
    assert on(t)


def test_a_decorated_generator_returns_a_value(t):
    @t.no_grad()
    def inner():
        yield 1
        return "value"

    def outer():
        result = yield from inner()
        yield result

    assert list(outer()) == [1, "value"]
    assert on(t)


def test_a_decorated_generator_may_delegate(t):
    def inner():
        received = yield on(t)
        yield received, on(t)

    @t.no_grad()
    def outer():
        yield from inner()

    generator = outer()
    assert next(generator) is False
    assert generator.send(3) == (3, False)
    assert on(t)


def test_two_decorated_generators_interleaved(t):
    @t.no_grad()
    def silent():
        for _ in range(3):
            yield on(t)

    @t.enable_grad()
    def loud():
        for _ in range(3):
            yield on(t)

    with t.no_grad():
        assert list(zip(silent(), loud(), strict=True)) == [(False, True)] * 3
        assert not on(t)
    assert on(t)


def test_a_context_inside_a_generator_leaks_as_in_plain_python(t):
    def steps():
        with t.no_grad():
            yield on(t)
        yield on(t)

    generator = steps()
    assert next(generator) is False
    leaked = on(t)
    assert next(generator) is True
    assert leaked is False and on(t)


# -- set_grad_enabled -----------------------------------------------------------------------------


def test_set_grad_enabled_as_a_function(t, x):
    t.set_grad_enabled(False)
    try:
        assert not on(t) and not (x * 2).requires_grad
        t.set_grad_enabled(True)
        assert on(t) and (x * 2).requires_grad
    finally:
        t.set_grad_enabled(True)


def test_set_grad_enabled_as_a_function_inside_no_grad_ends_with_it(t):
    with t.no_grad():
        t.set_grad_enabled(True)
        assert on(t)
    assert on(t)
    with t.enable_grad():
        t.set_grad_enabled(False)
        assert not on(t)
    assert on(t)


def test_set_grad_enabled_as_a_function_inside_a_decorated_function(t):
    @t.no_grad()
    def work():
        t.set_grad_enabled(True)
        return on(t)

    assert work() is True
    assert on(t)


def test_set_grad_enabled_switches_when_it_is_made(t):
    mode = t.set_grad_enabled(False)
    try:
        assert not on(t)
        with mode:
            assert not on(t)
        assert on(t)
    finally:
        t.set_grad_enabled(True)


def test_set_grad_enabled_shows_its_mode(t):
    mode = t.set_grad_enabled(True)
    assert repr(mode).endswith("set_grad_enabled(mode=True)")
    assert str(mode) == repr(mode)


def test_set_grad_enabled_needs_an_argument(t):
    with pytest.raises(TypeError):
        t.set_grad_enabled()


# -- threads, tasks -------------------------------------------------------------------------------


def run_thread(target):
    result = []
    thread = threading.Thread(target=lambda: result.append(target()))
    thread.start()
    thread.join()
    return result[0]


def test_another_thread_has_its_own_mode(t):
    with t.no_grad():
        assert run_thread(lambda: on(t)) is True
        assert not on(t)


def test_a_mode_set_in_a_thread_stays_there(t):
    def work():
        t.set_grad_enabled(False)
        return on(t)

    assert run_thread(work) is False
    assert on(t)


def test_a_decorated_function_in_another_thread(t):
    @t.no_grad()
    def work():
        return on(t)

    assert run_thread(work) is False


# -- other switches -------------------------------------------------------------------------------


def test_multithreading_may_be_switched_and_asked_for(t):
    ask = t.autograd.grad_mode
    with t.autograd.set_multithreading_enabled(False):
        x = t.ones(2, requires_grad=True)
        (x * x).sum().backward()
        assert x.grad.tolist() == [2.0, 2.0]
        with t.autograd.set_multithreading_enabled(True):
            pass
    assert ask.set_multithreading_enabled is t.autograd.set_multithreading_enabled


def test_the_autograd_module_has_the_modes_too(t):
    assert t.autograd.no_grad is t.no_grad
    assert t.autograd.enable_grad is t.enable_grad
    assert t.autograd.set_grad_enabled is t.set_grad_enabled
    assert t.autograd.inference_mode is t.inference_mode
    assert t.autograd.grad_mode.no_grad is t.no_grad


def test_modes_may_be_subclassed(t):
    class quiet(t.no_grad):
        def __enter__(self):
            super().__enter__()
            return "entered"

    with quiet() as result:
        assert result == "entered" and not on(t)
    assert on(t)


def test_isinstance_of_modes(t):
    assert isinstance(t.no_grad(), t.no_grad)
    assert isinstance(t.enable_grad(), t.enable_grad)
