"""Test anomaly detection: `detect_anomaly`, `set_detect_anomaly`."""

import contextlib
import threading
import warnings

import pytest


def leaf(t, values):
    return t.tensor(values, dtype=t.float64, requires_grad=True)


@contextlib.contextmanager
def detect(t, **kwargs):
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        context = t.autograd.detect_anomaly(**kwargs)
    with context:
        yield


@pytest.fixture
def quiet():
    """Ignore the warnings that say where an operation was recorded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# -- switching ------------------------------------------------------------------------------------


def test_nothing_is_looked_for_by_default(t):
    assert t.is_anomaly_enabled() is False
    assert t.is_anomaly_check_nan_enabled() is True


def test_contexts_nest(t):
    with detect(t):
        with detect(t, check_nan=False):
            assert t.is_anomaly_enabled() and not t.is_anomaly_check_nan_enabled()
        assert t.is_anomaly_enabled() and t.is_anomaly_check_nan_enabled()
        with t.autograd.set_detect_anomaly(False):
            assert not t.is_anomaly_enabled()
        assert t.is_anomaly_enabled()
    assert not t.is_anomaly_enabled()


def test_an_exception_switches_off(t):
    with pytest.raises(KeyError, match="k"), detect(t):
        raise KeyError("k")
    assert not t.is_anomaly_enabled()


def test_set_detect_anomaly_as_a_function(t):
    t.autograd.set_detect_anomaly(True, check_nan=False)
    try:
        assert t.is_anomaly_enabled() and not t.is_anomaly_check_nan_enabled()
    finally:
        t.autograd.set_detect_anomaly(False)
    assert not t.is_anomaly_enabled()


def test_the_modules_have_the_names(t):
    assert t.autograd.anomaly_mode.detect_anomaly is t.autograd.detect_anomaly
    assert t.autograd.anomaly_mode.set_detect_anomaly is t.autograd.set_detect_anomaly


# -- NaN in the backward pass ---------------------------------------------------------------------


def test_a_nan_in_the_backward_pass_raises(t, quiet):
    x = leaf(t, [0.0, 1.0])
    with t.autograd.set_detect_anomaly(True):
        y = (x.sqrt() * 0).sum()
        message = "Function 'SqrtBackward0' returned nan values in its 0th output"
        with pytest.raises(RuntimeError, match=message):
            y.backward()
    assert x.grad is None


def test_without_the_mode_a_nan_passes(t):
    x = leaf(t, [0.0, 1.0])
    (x.sqrt() * 0).sum().backward()
    assert x.grad[0].isnan() and x.grad[1].item() == 0.0


def test_without_looking_at_values_a_nan_passes(t):
    x = leaf(t, [0.0, 1.0])
    with t.autograd.set_detect_anomaly(True, check_nan=False):
        (x.sqrt() * 0).sum().backward()
    assert x.grad[0].isnan()


def test_the_number_of_the_output_is_told(t, quiet):
    x, y = leaf(t, 2.0), leaf(t, float("nan"))
    with t.autograd.set_detect_anomaly(True):
        z = y * x
        message = "Function 'MulBackward0' returned nan values in its 1th output"
        with pytest.raises(RuntimeError, match=message):
            z.backward()


def test_only_gradients_that_are_asked_for_are_looked_at(t, quiet):
    x, y = leaf(t, 2.0), leaf(t, float("nan"))
    with t.autograd.set_detect_anomaly(True):
        assert t.autograd.grad(y * x, y)[0].item() == 2.0


def test_an_infinite_gradient_does_not_raise(t, quiet):
    x = leaf(t, [0.0, 1.0])
    with t.autograd.set_detect_anomaly(True):
        x.sqrt().sum().backward()
    assert x.grad.tolist() == [float("inf"), 0.5]


def test_a_nan_in_the_forward_pass_alone_does_not_raise(t, quiet):
    x = leaf(t, [-1.0, 1.0])
    with t.autograd.set_detect_anomaly(True):
        y = x.log().detach()
        (x * 2).sum().backward()
    assert y[0].isnan() and x.grad.tolist() == [2.0, 2.0]


def test_the_mode_of_the_backward_pass_counts(t, quiet):
    x = leaf(t, [0.0, 1.0])
    y = (x.sqrt() * 0).sum()
    with (
        t.autograd.set_detect_anomaly(True),
        pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values"),
    ):
        y.backward()
    with t.autograd.set_detect_anomaly(True):
        z = (x.sqrt() * 0).sum()
    z.backward()
    assert x.grad[0].isnan()


def test_a_nan_of_a_custom_function_raises(t, quiet):
    class Broken(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * float("nan")

    x = leaf(t, 1.0)
    with t.autograd.set_detect_anomaly(True):
        y = Broken.apply(x)
        with pytest.raises(RuntimeError, match="Function 'BrokenBackward' returned nan values"):
            y.backward()
    assert x.grad is None


def test_second_derivatives_are_looked_at(t, quiet):
    x = leaf(t, 0.0)
    with t.autograd.set_detect_anomaly(True):
        (g,) = t.autograd.grad(x.abs() ** 1.5, x, create_graph=True)
        with pytest.raises(RuntimeError, match="returned nan values"):
            t.autograd.grad(g, x)


def test_results_are_the_same_under_the_mode(t, quiet):
    results = []
    for mode in (False, True):
        x = leaf(t, [[1.0, 2.0], [3.0, 4.0]])
        with t.autograd.set_detect_anomaly(mode):
            y = (x @ x).exp().log().clamp(0, 100) + x.T * x.sum(0)
            y[0].mul_(2)
            (g,) = t.autograd.grad((y * y).sum(), x, create_graph=True)
            (g * g).sum().backward()
        results.append([*g.flatten().tolist(), *x.grad.flatten().tolist()])
    assert results[1] == pytest.approx(results[0], rel=1e-12)


def test_hooks_and_retained_gradients_under_the_mode(t, quiet):
    x, log = leaf(t, 2.0), []
    with t.autograd.set_detect_anomaly(True):
        y = x * x
        y.retain_grad()
        y.register_hook(lambda g: log.append(g.item()))
        x.register_hook(lambda g: g * 10)
        (y * 3).backward()
    assert log == [3.0] and y.grad.item() == 3.0 and x.grad.item() == 120.0


def test_a_nan_that_a_tensor_hook_makes_goes_unnoticed_until_a_node_passes_it_on(t, quiet):
    x = leaf(t, 2.0)
    with t.autograd.set_detect_anomaly(True):
        y = x * 3
        y.register_hook(lambda g: g * float("nan"))
        with pytest.raises(RuntimeError, match="Function 'MulBackward0' returned nan values"):
            (y * 5).backward()
        w = leaf(t, 2.0)
        w.register_hook(lambda g: g * float("nan"))
        (w * 5).backward()
        assert w.grad.isnan()


# -- where an operation was recorded --------------------------------------------------------------


def test_a_failing_backward_pass_shows_where_the_operation_was_recorded(t):
    x = leaf(t, [0.0, 1.0])
    with t.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = (x.sqrt() * 0).sum()  # the marked line
        with pytest.raises(RuntimeError, match="returned nan values"):
            y.backward()
    (message,) = [str(w.message) for w in caught if "Error detected in" in str(w.message)]
    assert message.startswith("Error detected in SqrtBackward0.")
    assert "Traceback of forward call that caused the error:" in message
    assert "# the marked line" in message and __file__ in message


def test_an_exception_in_backward_shows_where_the_function_was_called(t):
    class Broken(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("broken")

    x = leaf(t, 1.0)
    with t.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = Broken.apply(x)  # the marked line
        with pytest.raises(ValueError, match="broken"):
            y.backward()
    (message,) = [str(w.message) for w in caught]
    assert message.startswith("Error detected in BrokenBackward.")
    assert "# the marked line" in message


def test_an_operation_recorded_without_the_mode_has_no_traceback(t):
    x = leaf(t, [0.0, 1.0])
    y = (x.sqrt() * 0).sum()
    with t.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="returned nan values"):
            y.backward()
    (message,) = [str(w.message) for w in caught if "Error detected in" in str(w.message)]
    assert "No forward pass information available" in message


def test_an_operation_of_a_backward_pass_shows_what_induced_it(t):
    x = leaf(t, 0.0)
    with t.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = x.abs() ** 1.5  # the marked line
        (g,) = t.autograd.grad(y, x, create_graph=True)
        with pytest.raises(RuntimeError, match="returned nan values"):
            t.autograd.grad(g, x)
    text = "\n".join(str(w.message) for w in caught)
    assert "Previous calculation was induced by PowBackward0" in text
    assert "# the marked line" in text


def test_the_error_for_a_write_is_shown_with_the_line_that_recorded(t):
    x = leaf(t, [1.0, 2.0])
    with t.autograd.set_detect_anomaly(True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = x * 1
        z = (y * y).sum()  # the marked line
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.backward()
    (message,) = [str(w.message) for w in caught]
    assert message.startswith("Error detected in MulBackward0.")
    assert "# the marked line" in message


def test_a_graph_walked_twice_under_the_mode(t, quiet):
    x = leaf(t, 2.0)
    with t.autograd.set_detect_anomaly(True):
        y = x * x
        y.backward(retain_graph=True)
        y.backward()
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second ti"):
            y.backward()
    assert x.grad.item() == 8.0


def test_a_pass_that_raised_under_the_mode_can_be_repeated_without_it(t, quiet):
    x = leaf(t, [0.0, 1.0])
    with t.autograd.set_detect_anomaly(True):
        y = (x.sqrt() * 0).sum()
        with pytest.raises(RuntimeError, match="returned nan values"):
            y.backward(retain_graph=True)
    assert x.grad is None
    y.backward()
    assert x.grad[0].isnan()


def test_a_nested_pass_under_the_mode(t, quiet):
    x, w = leaf(t, 2.0), leaf(t, 5.0)
    with t.autograd.set_detect_anomaly(True):
        y = x * x

        def hook(g):
            with t.enable_grad():
                (w * w).backward()

        y.register_hook(hook)
        (y * 3).backward()
    assert (x.grad.item(), w.grad.item()) == (12.0, 10.0)


def test_the_mode_works_from_another_thread(t, quiet):
    # for PyTorch the switch is one for all threads, here it is the thread's own
    seen = []

    def work():
        x = leaf(t, [0.0, 1.0])
        with t.autograd.set_detect_anomaly(True):
            try:
                (x.sqrt() * 0).sum().backward()
            except RuntimeError as error:
                seen.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen[0].startswith("Function 'SqrtBackward0' returned nan values")


def test_a_warning_that_is_an_error_does_not_take_the_place_of_the_error(t, capsys):
    x = leaf(t, [1.0, 2.0])
    with detect(t), warnings.catch_warnings():
        warnings.simplefilter("error")
        y = x + 1
        z = y**2
        y += 1
        with pytest.raises(RuntimeError, match="one of the variables needed for gradient"):
            z.sum().backward()
    assert "Error detected in PowBackward0" in capsys.readouterr().err
