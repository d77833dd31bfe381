"""Test `inference_mode` and tensors made in it."""

import copy

import pytest


@pytest.fixture
def x(t):
    return t.tensor([1.0, 2.0], requires_grad=True)


def state(t):
    return t.is_inference_mode_enabled(), t.is_grad_enabled()


# -- the mode -------------------------------------------------------------------------------------


def test_the_mode_as_a_context(t, x):
    with t.inference_mode():
        assert state(t) == (True, False)
        y = x * 2
    assert state(t) == (False, True)
    assert not y.requires_grad and y.grad_fn is None and y.is_leaf
    assert y.is_inference() and not x.is_inference()


def test_the_mode_off_inside_on(t, x):
    with t.inference_mode():
        with t.inference_mode(False):
            assert state(t) == (False, True)
            assert (x * 2).requires_grad
            assert not (x * 2).is_inference()
        assert state(t) == (True, False)
    assert state(t) == (False, True)


def test_the_mode_inside_no_grad_and_the_other_way_round(t):
    with t.no_grad():
        with t.inference_mode():
            assert state(t) == (True, False)
        assert state(t) == (False, False)
    with t.inference_mode():
        with t.no_grad():
            assert state(t) == (True, False)
        assert state(t) == (True, False)
    assert state(t) == (False, True)


def test_enable_grad_inside_records_nothing(t, x):
    with t.inference_mode(), t.enable_grad():
        assert state(t) == (True, True)
        y = x * 2
    assert not y.requires_grad and y.is_inference()


def test_an_object_may_be_used_again(t):
    mode = t.inference_mode()
    for _ in range(2):
        with mode:
            assert state(t) == (True, False)
        assert state(t) == (False, True)


def test_an_exception_restores_the_mode(t):
    with pytest.raises(KeyError, match="k"), t.inference_mode():
        raise KeyError("k")
    assert state(t) == (False, True)


@pytest.mark.parametrize("parentheses", [True, False])
def test_the_mode_as_a_decorator(t, x, parentheses):
    decorate = t.inference_mode() if parentheses else t.inference_mode

    @decorate
    def run(x):
        """Doc."""
        assert state(t) == (True, False)
        return x * 2

    assert run(x).is_inference()
    assert run.__name__ == "run" and run.__doc__ == "Doc."
    assert state(t) == (False, True)


def test_the_mode_off_as_a_decorator(t, x):
    @t.inference_mode(False)
    def run(x):
        return x * 2

    with t.inference_mode():
        y = run(x)
    (slope,) = t.autograd.grad(y.sum(), x)
    assert slope.tolist() == t.full_like(x, 2.0).tolist()


# -- which tensors are inference tensors ----------------------------------------------------------


MADE = [
    *("ones(2)", "zeros(2)", "tensor([1.0])", "rand(2)", "arange(3)", "eye(2)", "empty(2)"),
    *("full((2,), 1.0)", "linspace(0, 1, 3)", "zeros_like(t.ones(2))", "randn(2)"),
]


@pytest.mark.parametrize("call", MADE)
def test_tensors_made_from_nothing_are_inference_tensors(t, call):
    with t.inference_mode():
        assert eval(f"t.{call}").is_inference()
    assert not eval(f"t.{call}").is_inference()


def test_results_are_inference_tensors(t, x):
    with t.inference_mode():
        y = x * 2
        results = [y + 1, y.sum(), y.max(0).values, y > x, t.cat([y, y]), y.clone(), x.clone()]
    assert all(result.is_inference() for result in results)


def test_views_of_ordinary_tensors_are_ordinary(t, x):
    y = t.ones(2, 2)
    with t.inference_mode():
        assert not x[0].is_inference()
        assert not y.view(4).is_inference()
        assert not y.T.is_inference()
        assert not y.unbind(0)[0].is_inference()
        assert not x.detach().is_inference()


def test_views_of_inference_tensors_are_inference_tensors_also_outside(t):
    with t.inference_mode():
        y = t.ones(2, 2)
        assert y[0].is_inference()
    assert y[0].is_inference()
    assert y.view(4).is_inference()


def test_results_outside_are_ordinary(t):
    with t.inference_mode():
        y = t.ones(2)
    assert not (y * 2).is_inference()
    assert not y.clone().is_inference()
    assert not t.is_inference(y + y)


def test_is_inference_as_a_function(t, x):
    with t.inference_mode():
        y = x * 2
    assert t.is_inference(y) and not t.is_inference(x)


def test_a_deepcopy_made_in_the_mode(t):
    y = t.ones(2)
    with t.inference_mode():
        twin = copy.deepcopy(y)
    assert twin.tolist() == [1.0, 1.0]


def test_an_inference_tensor_may_be_made_to_require_a_gradient_only_inside(t):
    with t.inference_mode():
        inside = t.ones(2, requires_grad=True)
        assert inside.requires_grad
        y = t.ones(2)
        y.requires_grad_()
        assert y.requires_grad and (y * 2).grad_fn is None


def test_a_reshape_that_is_a_view(t):
    with t.inference_mode():
        y = t.ones(4)
    assert y.reshape(2, 2).is_inference()


# -- what cannot be done with them ----------------------------------------------------------------


def test_they_cannot_be_saved_for_backward(t, x):
    with t.inference_mode():
        y = t.ones(2)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * y


def test_they_can_be_used_where_they_are_not_saved(t, x):
    with t.inference_mode():
        y = t.ones(2)
    z = x + y
    z.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    assert (y * 2).tolist() == [2.0, 2.0]


def test_they_cannot_be_written_to_outside(t):
    with t.inference_mode():
        y = t.ones(2)
    message = "Inplace update to inference tensor outside InferenceMode is not allowed"
    for write in (lambda: y.add_(1), lambda: y.zero_(), lambda: y.copy_(t.ones(2))):
        with pytest.raises(RuntimeError, match=message):
            write()
    with pytest.raises(RuntimeError, match=message), t.no_grad():
        y.mul_(2)
    with pytest.raises(RuntimeError, match=message):
        y[0] = 5.0


def test_they_can_be_written_to_inside(t):
    with t.inference_mode():
        y = t.ones(2)
        y.add_(1)
        y[0] = 5.0
        y[1:].mul_(2)
    with t.inference_mode():
        y.mul_(2)
    assert y.tolist() == [10.0, 8.0]


def test_a_clone_is_an_ordinary_tensor(t, x):
    with t.inference_mode():
        y = t.ones(2)
    z = y.clone()
    z.add_(1)
    (x * z).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_they_track_no_version(t):
    with t.inference_mode():
        y = t.ones(2)
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        _ = y._version


def test_they_cannot_require_a_gradient_outside(t):
    with t.inference_mode():
        y = t.ones(2)
    message = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed"
    with pytest.raises(RuntimeError, match=message):
        y.requires_grad_()
    with pytest.raises(RuntimeError, match=message):
        y.requires_grad = True
    assert not y.requires_grad
    y.requires_grad_(False)


def test_writes_to_ordinary_tensors_inside(t):
    y = t.ones(2)
    before = y._version
    with t.inference_mode():
        y.add_(1)
    assert y.tolist() == [2.0, 2.0]
    assert not y.is_inference()
    assert y._version > before


def test_a_write_inside_to_a_saved_tensor_is_noticed(t):
    x = t.ones(2, requires_grad=True)
    y = x.clone()
    z = (y * y).sum()
    with t.inference_mode():
        y.mul_(3)
    with pytest.raises(RuntimeError, match="one of the variables needed for gradient computation"):
        z.backward()


def test_a_leaf_may_be_written_to_inside(t, x):
    with t.inference_mode():
        x.mul_(2)
    assert x.tolist() == [2.0, 4.0] and x.requires_grad and x.is_leaf


def test_a_view_made_inside_cannot_be_written_to_outside_where_it_is_recorded(t):
    x = t.ones(2, requires_grad=True)
    y = x.clone()
    with t.inference_mode():
        v = y[0]
    with pytest.raises(RuntimeError, match="A view was created in inference mode and is being mod"):
        v.mul_(2)
    assert y.tolist() == [1.0, 1.0]


def test_a_view_made_inside_of_a_tensor_without_history_may_be_written_to(t):
    y = t.ones(2)
    with t.inference_mode():
        v = y[0]
    v.mul_(2)
    assert y.tolist() == [2.0, 1.0]


def test_a_graph_may_be_walked_inside(t, x):
    y = (x * x).sum()
    with t.inference_mode():
        y.backward()
        assert state(t) == (True, False)
    assert x.grad.tolist() == [2.0, 4.0]


def test_functions_inside(t, x):
    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    with t.inference_mode():
        y = Double.apply(x)
    assert y.is_inference() and y.grad_fn is None


def test_a_function_cannot_save_an_inference_tensor(t, x):
    class Scale(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(factor)
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0], None

    with t.inference_mode():
        factor = t.ones(2)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        Scale.apply(x, factor)


def test_they_have_no_hooks_and_no_gradient(t, x):
    with t.inference_mode():
        y = x * 2
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't requi"):
        y.register_hook(print)
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        y.sum().backward()


def test_out_of_ordinary_operations_inside_with_numbers(t, x):
    with t.inference_mode():
        assert (1 + x).is_inference() and (x / 2).is_inference() and (x**2).is_inference()
        assert (-x).is_inference() and (x @ x).is_inference()
        assert x[[0, 1]].is_inference()


def test_data_of_an_inference_tensor(t):
    with t.inference_mode():
        y = t.ones(2)
    assert y.data.tolist() == [1.0, 1.0]
    assert y.data.is_inference() and y.detach().is_inference()
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        y.data * t.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor"):
        y.data.requires_grad_()
    y.data.mul_(1)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        y.mul_(1)
    assert y.numpy().tolist() == [1.0, 1.0]


def test_views_of_what_requires_a_gradient_require_none(t):
    with t.inference_mode():
        x = t.ones(2, 3, requires_grad=True)
        y = x.view(-1)
        assert x.requires_grad and not y.requires_grad and y.is_leaf and y.is_inference()
