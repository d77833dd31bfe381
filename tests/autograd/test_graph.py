"""`autograd.graph`, where it does more than PyTorch's, or does it more reliably."""

import gc
import os
import weakref

import numpy as np
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
    assert seen == [] and not a.ext.hooks


def test_the_error_for_a_multi_hook_names_the_tensor():
    with pytest.raises(RuntimeError, match=r"cannot register a hook .*: tensors\[1\]"):
        register_multi_grad_hook((leaf(2.0), wg.ones(2)), print)


# -- gradients that grad() returns ----------------------------------------------------------------


def test_the_gradient_of_a_hooked_tensor_does_not_depend_on_what_else_is_asked_for():
    # PyTorch gives 3 instead of 300 if x is asked for too
    x = leaf(2.0)
    y = x * x
    y.register_hook(lambda g: g * 100)
    z = y * 3
    (alone,) = wg.autograd.grad(z, y, retain_graph=True)
    together, below = wg.autograd.grad(z, [y, x])
    assert (alone.item(), together.item(), below.item()) == (300.0, 300.0, 1200.0)
