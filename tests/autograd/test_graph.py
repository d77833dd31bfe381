"""Test `autograd.graph` where it does more than PyTorch's or is more reliable."""

import gc
import os
import weakref

import pytest

import wengert as wg
from wengert.autograd.graph import (
    GradientEdge,
    allow_mutation_on_saved_tensors,
    get_gradient_edge,
    register_multi_grad_hook,
    save_on_cpu,
    saved_tensors_hooks,
)


def leaf(values):
    return wg.tensor(values, dtype=wg.float64, requires_grad=True)


def numbers(grads):
    return [None if g is None else g.tolist() for g in grads]


# -- hooks for several gradients ------------------------------------------------------------------


def test_a_multi_hook_counts_an_output_of_the_pass():
    x, log = leaf(2.0), []
    y = x * 2
    w = y * 3
    register_multi_grad_hook((y, w), lambda grads: log.append(numbers(grads)))
    w.backward()
    assert log == [[3.0, 1.0]]


def test_a_multi_hook_of_leaves_works_under_grad():
    a, b, seen = leaf(2.0), leaf(3.0), []
    register_multi_grad_hook((a, b), lambda grads: seen.append(numbers(grads)))
    wg.autograd.grad(a * b, a)
    wg.autograd.grad(a * b, [a, b])
    assert seen == [[3.0, None], [3.0, 2.0]]


def test_a_multi_hook_is_freed_with_its_tensors():
    class Hook:
        def __call__(self, grads):
            return None

    a, hook = leaf(2.0), Hook()
    handle = register_multi_grad_hook((a, a * 2), hook)
    gone = weakref.ref(hook)
    del a, handle, hook
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("mode", ["all", "any"])
def test_bad_arguments_of_a_multi_hook_leave_no_hook_behind(mode):
    a, seen = leaf(2.0), []
    with pytest.raises(TypeError, match=r"tensors\[1\] must be a Tensor, not int"):
        register_multi_grad_hook((a, 3), seen.append, mode=mode)
    with pytest.raises(TypeError, match="fn must be callable, not list"):
        register_multi_grad_hook((a,), seen, mode=mode)
    (a * 2).backward()
    assert seen == [] and not a._ext.hooks


def test_the_error_for_a_multi_hook_names_the_tensor():
    with pytest.raises(RuntimeError, match=r"cannot register a hook .*: tensors\[1\]"):
        register_multi_grad_hook((leaf(2.0), wg.ones(2)), print)


# -- gradients that grad() returns ----------------------------------------------------------------


def test_the_gradient_of_a_hooked_tensor_is_taken_before_its_hooks_if_the_walk_goes_on():
    # as in PyTorch
    x = leaf(2.0)
    y = x * x
    y.register_hook(lambda g: g * 100)
    z = y * 3
    (alone,) = wg.autograd.grad(z, y, retain_graph=True)
    together, below = wg.autograd.grad(z, [y, x])
    assert (alone.item(), together.item(), below.item()) == (300.0, 3.0, 1200.0)


# -- saved tensors --------------------------------------------------------------------------------


def test_all_that_a_node_saved_is_unpacked():
    # also what the gradient that is asked for does not need, as in PyTorch
    a, b, unpacked = leaf(2.0), leaf(3.0), []

    def unpack(packed):
        unpacked.append(packed.item())
        return packed

    with saved_tensors_hooks(lambda tensor: tensor.detach(), unpack):
        y = a * b
    wg.autograd.grad(y, a)
    assert sorted(unpacked) == [2.0, 3.0]


def test_another_dtype_is_converted_back():
    x = leaf([1.0, 2.0])
    with saved_tensors_hooks(lambda tensor: tensor.half(), lambda packed: packed):
        y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0] and x.grad.dtype == wg.float64


def test_another_shape_is_refused():
    x = leaf([1.0, 2.0])
    with saved_tensors_hooks(lambda tensor: tensor, lambda packed: packed.sum()):
        y = (x * x).sum()
    with pytest.raises(RuntimeError, match=r"unpack_hook returned .*\[\].* for a tensor that was"):
        y.backward()
    assert x.grad is None


def test_the_backward_pass_may_run_after_the_context_of_mutation():
    x = leaf([1.0, 2.0])
    with allow_mutation_on_saved_tensors():
        y = x.clone()
        z = (y * y).sum()
        y.zero_()
    z.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_what_was_saved_before_the_context_of_mutation_is_checked():
    x = leaf([1.0, 2.0])
    y = x.clone()
    z = (y * y).sum()
    with allow_mutation_on_saved_tensors():
        y.zero_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.backward()


def test_what_was_saved_in_the_context_of_mutation_is_checked_for_writes_after_it():
    x = leaf([1.0, 2.0])
    with allow_mutation_on_saved_tensors():
        y = x.clone()
        z = (y * y).sum()
    y.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


# -- saving to disk -------------------------------------------------------------------------------


def test_saved_tensors_go_to_files_and_the_files_vanish(tmp_path):
    x = leaf([1.0, 2.0])
    with save_on_cpu(directory=tmp_path / "saved"):
        y = (x.exp() * x).sum()
    files = list((tmp_path / "saved").iterdir())
    assert len(files) == 3
    y.backward()
    assert x.grad.tolist() == pytest.approx((x.exp() * (1 + x)).tolist())
    assert list((tmp_path / "saved").iterdir()) == []


def test_the_files_stay_as_long_as_the_graph_is_retained(tmp_path):
    x = leaf([1.0, 2.0])
    with save_on_cpu(directory=tmp_path):
        y = (x * x).sum()
    y.backward(retain_graph=True)
    assert len(list(tmp_path.iterdir())) == 2
    y.backward()
    assert list(tmp_path.iterdir()) == []
    assert x.grad.tolist() == [4.0, 8.0]


def test_the_files_vanish_with_a_graph_that_is_never_walked(tmp_path):
    x = leaf([1.0, 2.0])
    with save_on_cpu(directory=tmp_path):
        y = (x * x).sum()
    assert len(list(tmp_path.iterdir())) == 2
    del y
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dtype", [wg.float16, wg.float32, wg.float64, wg.complex128])
def test_files_keep_dtype_and_shape(tmp_path, dtype):
    x = wg.ones(2, 3, dtype=dtype, requires_grad=True)
    scalar = wg.tensor(2.0, dtype=dtype)
    with save_on_cpu(directory=tmp_path):
        y = x.T * scalar * x.T
    y.backward(wg.ones(3, 2, dtype=dtype))
    assert x.grad.dtype == dtype and x.grad.tolist() == [[4.0] * 3] * 2


def test_second_derivatives_from_files(tmp_path):
    x = leaf(2.0)
    with save_on_cpu(directory=tmp_path):
        y = x * x * x
        (g,) = wg.autograd.grad(y, x, create_graph=True)
    assert wg.autograd.grad(g, x)[0].item() == 12.0


def test_a_file_that_was_deleted_is_an_error_and_changes_no_gradient(tmp_path):
    x = leaf([1.0, 2.0])
    with save_on_cpu(directory=tmp_path):
        y = (x * x).sum()
    for path in tmp_path.iterdir():
        os.remove(path)
    with pytest.raises(FileNotFoundError):
        y.backward()
    assert x.grad is None


# -- edges ----------------------------------------------------------------------------------------


def test_materialized_gradients_of_a_hand_made_edge_need_its_shape():
    x = leaf([1.0, 2.0])
    y, z = x * 2, x * 3
    edge = GradientEdge(z.grad_fn, 0)
    with pytest.raises(RuntimeError, match="Make it with get_gradient_edge"):
        wg.autograd.grad(y.sum(), edge, materialize_grads=True)


def test_a_hand_made_edge_to_no_output_is_refused():
    x = leaf([1.0, 2.0])
    y = x * 2
    with pytest.raises(RuntimeError, match="names output 3 of MulBackward0"):
        wg.autograd.grad(y.sum(), GradientEdge(y.grad_fn, 3))


def test_an_edge_keeps_the_graph_and_not_the_values():
    x = leaf([1.0] * 1000)
    y = x * 2
    edge, gone = get_gradient_edge(y), weakref.ref(y)
    z = (y + 1).sum()
    del y
    gc.collect()
    assert gone() is None
    assert wg.autograd.grad(z, edge)[0].tolist() == [1.0] * 1000
