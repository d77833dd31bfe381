"""Test anomaly detection beyond PyTorch: the element, its origin, and the source line."""

import threading
import warnings

import pytest

import wengert as wg


def leaf(values):
    return wg.tensor(values, dtype=wg.float64, requires_grad=True)


@pytest.fixture
def caught():
    """The warnings that come, as a list."""
    with warnings.catch_warnings(record=True) as entries:
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        yield entries


def looking(**kwargs):
    return wg.autograd.set_detect_anomaly(True, **kwargs)


def line_of(marker):
    """The number of the line of this file that ends in `marker`, a comment."""
    with open(__file__, encoding="utf-8") as file:
        (number,) = [i for i, line in enumerate(file, 1) if line.rstrip().endswith(f"# {marker}")]
    return number


def texts(entries):
    return [str(entry.message) for entry in entries]


# -- forward --------------------------------------------------------------------------------------


def test_the_first_value_that_is_not_finite_is_named(caught):
    x = leaf([[1.0, 2.0], [0.0, -3.0]])
    with looking():
        x.log()  # forward nan
    (text,) = texts(caught)
    assert text.startswith(
        "Anomaly detection found the first value of the forward pass that is not finite: log gave "
        "nan at element (1, 1), from -3.0"
    )
    assert f"test_anomaly.py:{line_of('forward nan')}  x.log()" in text


def test_the_warning_points_to_the_line_of_the_operation(caught):
    x = leaf([0.0])
    with looking():
        x.log()  # forward warning
    assert caught[0].filename == __file__
    assert caught[0].lineno == line_of("forward warning")
    assert caught[0].category is UserWarning


def test_an_infinity_made_of_finite_values_is_named(caught):
    x = leaf([1.0, 1000.0])
    with looking():
        x.exp()
    (text,) = texts(caught)
    assert "exp gave inf at element (1,), from 1000.0" in text


def test_a_nan_is_named_before_an_infinity_of_the_same_operation(caught):
    x = leaf([0.0, -1.0])
    with looking():
        x.log()
    assert "log gave nan at element (1,), from -1.0" in texts(caught)[0]


def test_all_arguments_of_the_element_are_told(caught):
    x, y = leaf([[1.0, 2.0]]), leaf([[4.0], [0.0]])
    with looking():
        x / y
    (text,) = texts(caught)
    assert "div gave inf at element (1, 0), from 1.0, 0.0" in text


def test_a_scalar_has_an_empty_element(caught):
    with looking():
        leaf(0.0).log()
    assert "log gave -inf at element (), from 0.0" in texts(caught)[0]


def test_a_number_counts_as_an_argument(caught):
    with looking():
        leaf([0.0]) ** -1
    (text,) = texts(caught)
    assert "pow gave inf at element (0,), from 0.0, -1" in text


def test_only_the_first_value_is_named(caught):
    x = leaf([0.0, 1.0])
    with looking():
        y = x.log()
        y = y - y
        y.sqrt()
    assert len(caught) == 1 and "log gave -inf" in texts(caught)[0]


def test_another_context_looks_again(caught):
    for _ in range(2):
        with looking():
            leaf([0.0]).log()
    assert len(caught) == 2 and all("log gave -inf" in text for text in texts(caught))


def test_values_that_came_in_not_finite_are_meant(caught):
    x = leaf([float("inf"), float("nan"), 1.0])
    with looking():
        y = x * 2
        z = wg.where(y > 0, y, y.detach() * 0 - float("inf"))
        z.exp()
    assert texts(caught) == []


def test_a_nan_out_of_infinities_is_named(caught):
    x = leaf([float("inf"), 1.0])
    with looking():
        x - x
    assert "sub gave nan at element (0,), from inf, inf" in texts(caught)[0]


def test_operations_that_are_not_recorded_are_looked_at_too(caught):
    x = wg.tensor([0.0])
    with looking(), wg.no_grad():
        x.log()
    assert "log gave -inf" in texts(caught)[0]


def test_a_loss_of_range_is_named(caught):
    x = wg.tensor([1e30], dtype=wg.float32, requires_grad=True)
    with looking():
        x * x
    assert "mul gave inf at element (0,), from 1e+30, 1e+30" in texts(caught)[0]


def test_integers_and_finite_values_are_left_in_peace(caught):
    with looking():
        x = leaf([1e200, -1e200])
        (x * 1e-200).sum().backward()
        wg.arange(5) * 3
        wg.tensor([True]) & wg.tensor([False])
    assert texts(caught) == []


@pytest.mark.parametrize("size", [1, 5, 23, 24, 25, 1000])
def test_any_size_is_looked_at(caught, size):
    x = wg.ones(size, dtype=wg.float64, requires_grad=True)
    with wg.no_grad():
        x[size - 1] = 0.0
    with looking():
        x.log()
    assert f"log gave -inf at element ({size - 1},)" in texts(caught)[0]


def test_without_looking_at_values_nothing_is_named(caught):
    with looking(check_nan=False):
        leaf([0.0]).log()
    assert texts(caught) == []


# -- backward -------------------------------------------------------------------------------------


def test_a_nan_in_the_backward_pass_tells_element_values_and_line(caught):
    x = leaf([[1.0, 0.0]])
    with looking():
        y = x.sqrt()  # backward nan
        with pytest.raises(RuntimeError, match="SqrtBackward0") as raised:
            (y * 0).sum().backward()
    text = str(raised.value)
    assert text.startswith("Function 'SqrtBackward0' returned nan values in its 0th output.\n")
    assert "SqrtBackward0, element (0, 1): gradient nan for argument 0" in text
    assert "incoming gradient 0.0" in text and "result 0.0" in text
    assert f"test_anomaly.py:{line_of('backward nan')}  y = x.sqrt()" in text


def test_a_nan_in_the_backward_pass_goes_back_to_the_first_value_of_the_forward_pass(caught):
    x = leaf([0.0, 1.0])
    with looking():
        y = x.log()  # first cause
        z = y * wg.tensor([0.0, 1.0], dtype=wg.float64)
        with pytest.raises(RuntimeError, match="LogBackward0") as raised:
            (z * 1).sum().backward()
    text = str(raised.value)
    assert "before: the first value of the forward pass that is not finite: log gave -inf" in text
    assert f"test_anomaly.py:{line_of('first cause')}" in text


def test_a_nan_in_the_backward_pass_goes_back_to_the_first_infinity(caught):
    x = leaf([0.0, 4.0])
    with looking():
        y = x * 0
        z = y.sqrt()
        with pytest.raises(RuntimeError, match="MulBackward0") as raised:
            z.sum().backward()
    text = str(raised.value)
    assert "before: the first gradient that is infinite: SqrtBackward0, element (0,)" in text


def test_an_infinite_gradient_that_led_to_no_nan_is_told_in_the_end(caught):
    x = leaf([0.0, 4.0])
    with looking():
        y = x.sqrt()  # infinite gradient
        y.sum().backward()
    (text,) = texts(caught)
    assert "the first gradient that is infinite: SqrtBackward0, element (0,)" in text
    assert f"test_anomaly.py:{line_of('infinite gradient')}" in text
    assert x.grad.tolist() == [float("inf"), 0.25]


def test_a_nan_in_a_large_gradient_is_found(caught):
    x = wg.ones(50, 40, dtype=wg.float64, requires_grad=True)
    with wg.no_grad():
        x[31, 7] = 0.0
    with looking(), pytest.raises(RuntimeError, match=r"element \(31, 7\)"):
        (x.sqrt() * 0).sum().backward()


def test_second_derivatives_tell_where_both_passes_were_recorded(caught):
    x = leaf(0.0)
    with looking():
        y = x.abs() ** 1.5  # second derivative
        (g,) = wg.autograd.grad(y, x, create_graph=True)  # first pass
        with pytest.raises(RuntimeError, match="returned nan values"):
            wg.autograd.grad(g, x)
    text = "\n".join(texts(caught))
    assert "Previous calculation was induced by PowBackward0" in text
    assert f", line {line_of('second derivative')}, in test_second" in text
    assert f", line {line_of('first pass')}, in test_second" in text


def test_no_gradient_is_added_to_if_a_nan_is_found(caught):
    a, b = leaf([0.0]), leaf([2.0])
    a.grad = wg.tensor([5.0], dtype=wg.float64)
    with looking(), pytest.raises(RuntimeError, match="returned nan values"):
        (a.sqrt() * 0 * b).sum().backward()
    assert a.grad.tolist() == [5.0] and b.grad is None


# -- writes ---------------------------------------------------------------------------------------


def test_the_error_for_a_write_shows_both_lines(caught):
    x = leaf([1.0, 2.0])
    with looking():
        y = x * 1
        z = y * y  # the save
        y.add_(1)  # the write
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as raised:
            z.sum().backward()
    text = str(raised.value)
    assert f"needed by MulBackward0, as its 'self': test_anomaly.py:{line_of('the save')}" in text
    assert f"changed by add_: test_anomaly.py:{line_of('the write')}" in text
    assert "y.add_(1)" in text and "z = y * y" in text


def test_the_error_for_a_saved_result_shows_both_lines(caught):
    x = leaf([1.0, 2.0])
    with looking():
        y = x.exp()  # the result
        y.mul_(2)  # the write to the result
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as raised:
            y.sum().backward()
    text = str(raised.value)
    assert f"as its 'result': test_anomaly.py:{line_of('the result')}" in text
    assert f"changed by mul_: test_anomaly.py:{line_of('the write to the result')}" in text


def test_the_error_for_a_write_through_a_view_shows_its_line(caught):
    x = leaf([1.0, 2.0])
    with looking():
        y = x * 1
        z = y * y
        y[0] = 7.0  # the write through a view
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as raised:
            z.sum().backward()
    assert f"test_anomaly.py:{line_of('the write through a view')}" in str(raised.value)


# -- threads, contexts ----------------------------------------------------------------------------


def test_the_mode_is_the_threads_own():
    seen = []
    with looking():
        thread = threading.Thread(target=lambda: seen.append(wg.is_anomaly_enabled()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_lines_of_functions_called_are_in_the_traceback(caught):
    def inner(x):
        return x.sqrt()  # the innermost line

    def outer(x):
        return inner(x) * 0  # the outer line

    x = leaf([0.0])
    with looking(), pytest.raises(RuntimeError, match="returned nan values"):
        outer(x).sum().backward()
    (text,) = [text for text in texts(caught) if text.startswith("Error detected in")]
    outer_at = text.index(f"line {line_of('the outer line')}, in outer")
    inner_at = text.index(f"line {line_of('the innermost line')}, in inner")
    assert outer_at < inner_at


def test_no_line_of_the_library_itself_is_shown(caught):
    x = leaf([0.0])
    with looking(), pytest.raises(RuntimeError, match="returned nan values"):
        (x.sqrt() * 0).mean().backward()
    (text,) = [text for text in texts(caught) if text.startswith("Error detected in")]
    assert "wengert/tape" not in text and "<wengert" not in text


def test_code_that_is_in_no_file_is_no_problem(caught):
    scope = {"wg": wg}
    exec("x = wg.zeros(1, requires_grad=True)\ny = (x.sqrt() * 0).sum()", scope)
    with looking():
        exec("x = wg.zeros(1, requires_grad=True)\ny = (x.sqrt() * 0).sum()", scope)
        with pytest.raises(RuntimeError, match="returned nan values"):
            scope["y"].backward()


# -- with other modes -----------------------------------------------------------------------------


@pytest.mark.parametrize("check_nan", [False, True])
def test_looking_changes_no_result(caught, check_nan):
    def program():
        x = leaf([[1.0, 2.0], [3.0, 4.0]])
        y = x.T @ x
        y[0].mul_(2)
        y = wg.cat([y, x.exp().log()]).clamp(0, 100)
        a, b = y.unbind(1)
        (g,) = wg.autograd.grad((a * b).sum(), x, create_graph=True)
        (g * g).sum().backward()
        return x.grad.tolist()

    plain = program()
    with looking(check_nan=check_nan):
        assert program() == plain
    assert texts(caught) == []


def test_looking_inside_inference_mode(caught):
    with looking(), wg.inference_mode():
        y = wg.zeros(2).log()
        assert y.is_inference()
    assert "log gave -inf" in texts(caught)[0]


def test_looking_with_hooks_for_saved_tensors(caught):
    x = leaf([0.0, 1.0])
    packed = []

    def pack(tensor):
        packed.append(tensor.tolist())
        return tensor.detach()

    with looking(), wg.autograd.graph.saved_tensors_hooks(pack, lambda p: p):
        y = x.sqrt()  # packed
        with pytest.raises(RuntimeError, match=r"element \(0,\)") as raised:
            (y * 0).sum().backward()
    assert packed == [[0.0, 1.0]]
    assert f"test_anomaly.py:{line_of('packed')}" in str(raised.value)


def test_a_custom_function_is_named_with_its_line(caught):
    class Broken(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * wg.tensor([1.0, float("nan")], dtype=wg.float64)

    x = leaf([1.0, 2.0])
    with looking():
        y = Broken.apply(x)  # the function
        with pytest.raises(RuntimeError, match="Function 'BrokenBackward'") as raised:
            y.sum().backward()
    text = str(raised.value)
    assert "element (1,)" in text and f"test_anomaly.py:{line_of('the function')}" in text


def test_a_forward_value_that_a_function_spoils_is_named(caught):
    class Spoil(wg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.log()  # inside forward

        @staticmethod
        def backward(ctx, grad):
            return grad

    with looking():
        Spoil.apply(leaf([0.0]))
    assert f"test_anomaly.py:{line_of('inside forward')}" in texts(caught)[0]
