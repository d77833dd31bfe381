"""Test checkpoints beyond PyTorch: errors that it does not detect, and hidden effects."""

import functools
import gc
import threading
import weakref

import numpy as np
import pytest

import wengert as wg
from support.samples import differentiable_args, samples, supports
from wengert.interp.eager import K
from wengert.prims.whole import TABLE
from wengert.tape.base import LEAF, new_tensor
from wengert.tape.modes import MODE
from wengert.tape.record import run
from wengert.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace"


@pytest.fixture
def x():
    return wg.tensor([1.0, 2.0, 3.0], requires_grad=True)


def keep(policy, **options):
    return functools.partial(create_selective_checkpoint_contexts, policy, **options)


# -- every operation ------------------------------------------------------------------------------


def square_sum(v):
    return (v * v.conj()).real.sum() if v.is_complex() else (v * v).sum()


def gradients(function, inputs):
    """First and second derivatives of random weights of the results."""
    outs = function(*inputs)
    outs = [out for out in (outs if isinstance(outs, tuple) else (outs,)) if out.grad_fn]
    rng = np.random.default_rng(3)
    weights = [wg.as_tensor(rng.standard_normal(out.shape)).to(out.dtype) for out in outs]
    first = wg.autograd.grad(outs, inputs, weights, create_graph=True, allow_unused=True)
    again = [g for g in first if g is not None and g.requires_grad]
    second = []
    if again:
        total = sum(map(square_sum, again))
        second = wg.autograd.grad(total, inputs, allow_unused=True)
    return [None if g is None else g.detach().numpy() for g in (*first, *second)]


def assert_same(have, want):
    for a, b in zip(have, want, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_array_equal(a, b)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", [n for n, p in TABLE.items() if p.is_differentiable])
def test_every_operation_has_the_same_derivatives_in_a_checkpoint(name):
    prim = TABLE[name]
    for dtype in (np.float64, np.complex128):
        if not supports(prim, dtype):
            continue
        for sample in samples(prim, dtype, np.random.default_rng(20)):
            traced = differentiable_args(prim, sample.arrays, twice=True)
            tensors = [
                new_tensor(a, LEAF if i in traced else None) for i, a in enumerate(sample.arrays)
            ]
            inputs = [tensors[i] for i in traced]
            if not inputs:
                continue

            def function(*values, tensors=tensors, traced=traced, sample=sample):
                arguments = list(tensors)
                for i, value in zip(traced, values, strict=True):
                    arguments[i] = value
                return run(prim, arguments, sample.params)

            want = gradients(function, inputs)
            for early_stop in (True, False):
                region = functools.partial(
                    checkpoint, function, use_reentrant=False, early_stop=early_stop
                )
                assert_same(gradients(region, inputs), want)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", [n for n, p in TABLE.items() if p.is_differentiable])
def test_every_operation_has_the_same_gradient_when_its_result_is_kept(name):
    prim = TABLE[name]
    if not supports(prim, np.float64):
        return
    for sample in samples(prim, np.float64, np.random.default_rng(20)):
        traced = differentiable_args(prim, sample.arrays)
        grads = []
        for context_fn in (None, keep(lambda *args, **kwargs: True)):
            tensors = [
                new_tensor(a, LEAF if i in traced else None) for i, a in enumerate(sample.arrays)
            ]

            def function(tensors=tensors, sample=sample):
                outs = run(prim, tensors, sample.params)
                outs = outs if isinstance(outs, tuple) else (outs,)
                # squares, so that results are saved too
                return sum(square_sum(out) for out in outs if out.requires_grad)

            if context_fn is None:
                total = function()
            else:
                total = checkpoint(function, use_reentrant=False, context_fn=context_fn)
            if traced and isinstance(total, wg.Tensor):
                total.backward()
            grads.append([t.grad for t in tensors])
        for have, want in zip(*grads, strict=True):
            assert (have is None) == (want is None)
            if have is not None:
                np.testing.assert_array_equal(have.numpy(), want.numpy())


# -- what PyTorch lets pass -----------------------------------------------------------------------


def test_a_write_to_a_tensor_of_the_closure_is_noticed(x):
    w = wg.ones(3, requires_grad=True)
    y = checkpoint(lambda x: x * w, x, use_reentrant=False)
    with wg.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


def test_a_write_to_the_memory_of_a_view_of_the_closure_is_noticed(x):
    m = wg.ones(3, 3, requires_grad=True)
    y = checkpoint(lambda x: x @ m.t(), x, use_reentrant=False)
    with wg.no_grad():
        m[0].zero_()
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.sum().backward()


def test_the_check_of_the_closure_may_be_left_out(x):
    w = wg.ones(3)
    y = checkpoint(lambda x: x * w, x, use_reentrant=False, determinism_check="none")
    w.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_a_write_to_a_keyword_argument_is_noticed(x):
    w = wg.ones(3)
    y = checkpoint(lambda x, w: x * w, x, w=w, use_reentrant=False, determinism_check="none")
    w.add_(1)
    with pytest.raises(RuntimeError, match=rf"{MODIFIED}(.|\n)*needed by checkpoint.*as its 'w'"):
        y.sum().backward()


def test_a_function_that_overwrites_what_it_saved_is_noticed(x):
    def f(x):
        y = x.clone()
        s = y * y
        y.add_(1)
        return s + y.sin()

    with pytest.raises(RuntimeError, match=MODIFIED):
        f(x).sum().backward()
    with pytest.raises(RuntimeError, match=MODIFIED):
        checkpoint(f, x, use_reentrant=False).sum().backward()


def test_a_buffer_filled_by_the_function_itself_is_no_write_in_between(x):
    buffer = wg.zeros(3)
    w = wg.ones(3, requires_grad=True)

    def f(x, factor):
        buffer.copy_(x.detach() * factor)
        return w * buffer

    y = checkpoint(f, x, 2.0, use_reentrant=False)
    checkpoint(f, x, 3.0, use_reentrant=False)
    y.sum().backward()
    assert w.grad.tolist() == [2.0, 4.0, 6.0]


def test_early_stop_is_no_exception_that_the_function_may_catch(x):
    log = []

    def f(x):
        try:
            y = x.exp().sin()
        except Exception:
            log.append("caught")
            raise
        return y + 1

    checkpoint(f, x, use_reentrant=False).sum().backward()
    assert log == []
    np.testing.assert_allclose(x.grad.numpy(), (x.exp() * x.exp().cos()).detach().numpy())


def test_a_walk_that_broke_off_may_be_repeated_though_nothing_was_to_be_kept(x):
    calls = []

    def f(x):
        calls.append(None)
        if len(calls) == 2:
            raise KeyError("k")
        return x.exp().sin()

    loss = (checkpoint(f, x, use_reentrant=False) * x).sum()
    with pytest.raises(KeyError, match="k"):
        loss.backward()
    loss.backward()
    e = x.detach().exp()
    np.testing.assert_allclose(x.grad.numpy(), (e.sin() + x.detach() * e * e.cos()).numpy())


def test_a_recomputation_that_broke_off_gives_back_what_it_took(x):
    calls = []

    def f(x):
        y = x.exp()
        calls.append(None)
        if len(calls) == 2:
            raise KeyError("k")
        return y.sin()

    loss = checkpoint(f, x, use_reentrant=False, context_fn=keep(["exp"])).sum()
    with pytest.raises(KeyError, match="k"):
        loss.backward()
    loss.backward()
    e = x.detach().exp()
    np.testing.assert_allclose(x.grad.numpy(), (e * e.cos()).numpy())


# -- memory ---------------------------------------------------------------------------------------


def arrays_saved(function, x, call):
    """Which of the arrays that a function notes are alive after the forward pass."""
    noted = []

    def note(tensor):
        noted.append(weakref.ref(tensor._payload))
        return tensor

    out = call(functools.partial(function, note), x)
    alive = [reference() is not None for reference in noted]
    return out, noted, alive


def test_the_arrays_themselves_are_let_go_of(x):
    def f(note, x):
        return note(note(x.exp()) * 2).sin().cos()

    _, _, alive = arrays_saved(f, x, lambda f, x: f(x))
    assert alive == [True, True]
    for reentrant in (False, True):
        region = functools.partial(checkpoint, use_reentrant=reentrant)
        out, noted, alive = arrays_saved(f, x, region)
        assert alive == [False, False]
        out.sum().backward()
        assert all(reference() is None for reference in noted)


def test_only_what_a_policy_keeps_is_kept(x):
    def f(note, x):
        return note(note(x.exp()) * 2).sin().cos()

    region = functools.partial(checkpoint, use_reentrant=False, context_fn=keep(["exp"]))
    out, noted, alive = arrays_saved(f, x, region)
    assert alive == [True, False]
    out.sum().backward()
    assert [reference() is not None for reference in noted] == [False] * 4


def test_what_a_policy_keeps_is_not_computed_again(x, monkeypatch):
    computed = []

    def counting(name):
        kernel = getattr(K, name)

        def compute(a):
            computed.append(name)
            return kernel(a)

        return compute

    for name in ("exp", "tanh"):
        monkeypatch.setattr(K, name, counting(name))
    out = checkpoint(
        lambda x: x.exp().tanh().sin(), x, use_reentrant=False, context_fn=keep(["exp"])
    )
    assert computed == ["exp", "tanh"]
    out.sum().backward()
    assert computed == ["exp", "tanh", "tanh"]


def test_graphs_are_freed_without_the_collector(x):
    gc.collect()
    gc.disable()
    try:
        token = type("Token", (), {})()
        alive = weakref.ref(token)

        def f(x, token):
            inner = checkpoint(lambda v: v.exp() * v, x, use_reentrant=False)
            return inner.sin() * x

        # never walked, walked once, walked twice
        for walks in (0, 1, 2):
            y = checkpoint(f, x * 1, token, use_reentrant=False).sum()
            for _ in range(walks):
                y.backward(retain_graph=True)
            del y
        del token
        assert alive() is None
    finally:
        gc.enable()


def test_recomputed_arrays_do_not_outlive_the_walk_that_left_some(x):
    noted = []

    def f(x):
        a = x.exp()
        b = (x * 2).exp()
        noted.extend(weakref.ref(t._payload) for t in (a, b))
        return a.sin(), b.sin()

    a, b = checkpoint(f, x, use_reentrant=False)
    a.sum().backward()
    # those of b were computed too, and let go of
    assert [reference() is not None for reference in noted] == [False] * 4
    b.sum().backward()


# -- modes ----------------------------------------------------------------------------------------


def test_the_mode_is_the_default_again_afterwards(x):
    modes = []

    def f(x):
        modes.append(MODE.get())
        return x.exp().sin()

    y = checkpoint(f, x, use_reentrant=False, context_fn=keep(["exp"]))
    assert MODE.get() is None
    y.sum().backward()
    assert MODE.get() is None
    assert all(mode is not None and mode.grad for mode in modes)


def test_switches_count_in_their_own_thread(x):
    done = []

    def work():
        calls = []

        def f(x):
            y = x.exp().sin() + 1
            calls.append(None)
            return y

        checkpoint(f, x, use_reentrant=False).sum().backward()
        done.append(len(calls))

    with set_checkpoint_early_stop(False), set_checkpoint_debug_enabled(True):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert done == [1]


def test_threads_walk_the_same_regions(x):
    def f(v):
        return checkpoint(lambda u: u.exp().sin() * u, v.cos(), use_reentrant=False) * v

    y = checkpoint(f, x, use_reentrant=False, preserve_rng_state=False).sum()
    (want,) = wg.autograd.grad(y, x, retain_graph=True)
    results = []

    def work():
        for _ in range(20):
            results.append(wg.autograd.grad(y, x, retain_graph=True)[0].tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [want.tolist()] * 80


def test_a_backward_pass_in_inference_mode(x):
    y = checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False).sum()
    with wg.inference_mode():
        y.backward()
    np.testing.assert_allclose(x.grad.numpy(), (x.exp() * x.exp().cos()).detach().numpy())


def test_contexts_of_policies_under_anomaly_detection(x):
    with (
        pytest.warns(UserWarning, match="Anomaly Detection has been enabled"),
        wg.autograd.detect_anomaly(),
    ):
        y = checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False, context_fn=keep(["exp"]))
        y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), (x.exp() * x.exp().cos()).detach().numpy())


# -- policies -------------------------------------------------------------------------------------


def names_asked(function, *inputs):
    names = []

    def policy(ctx, op, *args, **kwargs):
        names.append((op, len(args), sorted(kwargs)))
        return False

    checkpoint(function, *inputs, use_reentrant=False, context_fn=keep(policy))
    return names


def test_operations_are_named_by_strings(x):
    m = wg.ones(3, 3)
    assert names_asked(lambda x, m: (m @ m) @ x.exp() * x + 1, x, m) == [
        ("mm", 2, []),
        ("exp", 1, []),
        ("mv", 2, []),
        ("mul", 2, []),
        ("add", 1, ["other"]),
    ]


def test_views_and_writes_are_not_asked_about(x):
    def f(x):
        y = x.exp().view(3, 1)[1:]
        y.mul_(2)
        return y

    assert [name for name, *_ in names_asked(f, x)] == ["exp"]


def test_a_list_names_operations(x):
    with pytest.raises(ValueError, match="Expected op in `op_list` to be an OpOverload"):
        keep(["exp", "matmul2"])()
    with pytest.raises(ValueError, match="Expected op in `op_list` to be an OpOverload"):
        keep([wg.exp])()


def test_a_kept_result_may_be_changed_if_that_is_meant(x):
    def f(x):
        y = x * 2
        z = y + 1
        y.detach().add_(1)
        return z.sin()

    def region(**options):
        return checkpoint(f, x, use_reentrant=False, context_fn=keep(["mul"], **options))

    with pytest.raises(RuntimeError, match="Tensor cached during selective activation checkpoint"):
        region().sum().backward()
    region(allow_cache_entry_mutation=True).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), (2 * (2 * x + 2).cos()).detach().numpy(), 1e-6)


def test_an_answer_that_is_no_policy(x):
    with pytest.raises(TypeError, match="the policy must return a CheckpointPolicy"):
        checkpoint(
            lambda x: x.exp(),
            x,
            use_reentrant=False,
            context_fn=keep(lambda ctx, op, *args, **kwargs: "save"),
        )
    assert MODE.get() is None


# -- errors ---------------------------------------------------------------------------------------


def test_errors_name_the_function(x):
    calls = []

    def fickle(x):
        calls.append(None)
        return x.exp().sin() if len(calls) == 1 else x

    with pytest.raises(CheckpointError, match="fickle"):
        checkpoint(fickle, x, use_reentrant=False).sum().backward()


def test_a_sequence_needs_as_many_functions_as_segments(x):
    for segments in (0, 3, -1):
        with pytest.raises(ValueError, match="segments must be from 1 to the number of functions"):
            checkpoint_sequential([wg.exp, wg.sin], segments, x, use_reentrant=False)
