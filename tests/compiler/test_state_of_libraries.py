"""Test that no state of the package, of Python, or of libraries counts as unchanged."""

from __future__ import annotations

import abc
import builtins
import math
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.autograd import forward_ad
from wengert.base.patches import PATCHES
from wengert.compat import jax, mxnet, tensorflow
from wengert.nn import functional as F

X = wg.tensor([1.0, 2.0, 3.0])


class Kind(abc.ABC):
    @abc.abstractmethod
    def part(self) -> None: ...


class Thing:
    pass


THING = Thing()


def later() -> Any:
    try:
        return wg.an_attribute_of_a_user  # type: ignore[attr-defined]
    except AttributeError:
        return 2.0


def setting(owner: Any, name: str, value: Any) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(owner, name, value, raising=False)


CASES: dict[str, tuple[Callable[[Any], Any], Callable[[pytest.MonkeyPatch], Any]]] = {
    "the deterministic mode": (
        lambda x: x * (2 + wg.get_deterministic_debug_mode()),
        lambda patch: wg.set_deterministic_debug_mode(1),
    ),
    "a switch of a backend": (
        lambda x: x * (2 + wg.backends.cuda.flash_sdp_enabled()),
        lambda patch: wg.backends.cuda.enable_flash_sdp(False),
    ),
    "classes that may be loaded": (
        lambda x: x + len(wg.serialization.get_safe_globals()),
        lambda patch: wg.serialization.add_safe_globals([Thing]),
    ),
    "how modules are converted": (
        lambda x: x * (2 + wg.__future__.get_swap_module_params_on_conversion()),
        lambda patch: wg.__future__.set_swap_module_params_on_conversion(True),
    ),
    "an attribute of the class of tensors": (
        lambda x: x * x.factor,
        setting(wg.Tensor, "factor", 3.0),
    ),
    "an attribute of a function of the package": (
        lambda x: x * F.relu.factor,  # type: ignore[attr-defined]
        lambda patch: patch.setattr(F.relu, "factor", 3.0, raising=False),
    ),
    "an attribute that the package does not have": (
        lambda x: x * later(),
        setting(wg, "an_attribute_of_a_user", 5.0),
    ),
    "an attribute that getattr does not find": (
        lambda x: x * getattr(wg, "another_of_a_user", 2.0),
        setting(wg, "another_of_a_user", 5.0),
    ),
    "an attribute that hasattr does not find": (
        lambda x: x * (2 + hasattr(wg, "a_third_of_a_user")),
        setting(wg, "a_third_of_a_user", 5.0),
    ),
    "a class that is registered": (
        lambda x: x * (2 + isinstance(THING, Kind)),
        lambda patch: Kind.register(Thing),
    ),
    "a constant of math": (lambda x: x * math.pi, setting(math, "pi", 3.0)),
    "a constant of NumPy": (lambda x: x * np.e, setting(np, "e", 3.0)),
    "a function of Python": (lambda x: x * abs(-2.0), setting(builtins, "abs", lambda x: 9.0)),
}


@pytest.mark.parametrize("name", CASES)
def test_calls_see_a_state_that_changes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, change = CASES[name]
    PATCHES.watch()
    monkeypatch.setattr(wg.Tensor, "factor", 2.0, raising=False)
    monkeypatch.setattr(F.relu, "factor", 2.0, raising=False)
    f: Any = wg.compile(function, backend="numpy", options={"measure": False, "quiet": True})
    before = [function(X).tolist(), f(X).tolist(), f(X).tolist()]
    kept = wg.serialization.get_safe_globals()
    try:
        change(monkeypatch)
        after = [function(X).tolist(), f(X).tolist()]
    finally:
        monkeypatch.undo()
        wg.set_deterministic_debug_mode(0)
        wg.backends.cuda.enable_flash_sdp(True)
        wg.__future__.set_swap_module_params_on_conversion(False)
        wg.serialization.clear_safe_globals()
        wg.serialization.add_safe_globals(kept)
    assert before[0] == before[1] == before[2] != after[0] == after[1], (before, after, f.reason)


def _training(patch: pytest.MonkeyPatch) -> Callable[[], Any]:
    before = mxnet.autograd.set_training(True)
    return lambda: mxnet.autograd.set_training(before)


def _settings_of_numpy(patch: pytest.MonkeyPatch) -> Callable[[], Any]:
    mxnet.util.set_np(dtype=True)
    return mxnet.util.reset_np


def _epsilon(patch: pytest.MonkeyPatch) -> Callable[[], Any]:
    tensorflow.keras.backend.set_epsilon(0.25)
    return lambda: tensorflow.keras.backend.set_epsilon(1e-7)


def _x64(patch: pytest.MonkeyPatch) -> Callable[[], Any]:
    jax.config.update("jax_enable_x64", True)
    return lambda: jax.config.update("jax_enable_x64", False)


def _x64_here(patch: pytest.MonkeyPatch) -> Callable[[], Any]:
    context = jax.experimental.enable_x64()
    context.__enter__()
    return lambda: context.__exit__()


def _tangents(patch: pytest.MonkeyPatch) -> Callable[[], Any]:
    context = forward_ad._set_fwd_grad_enabled(False)
    context.__enter__()
    return lambda: context.__exit__(None, None, None)


def with_tangents(x: Any) -> Any:
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(forward_ad.make_dual(x, x) * 2).tangent
    return x if tangent is None else tangent


def cross_entropy(x: Any) -> Any:
    return tensorflow.keras.losses.binary_crossentropy(x * 0, x)


SETTINGS: dict[str, tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]] = {
    "MXNet's training": (
        lambda x: mxnet.npx.dropout(x, p=1 - 1e-9) * 1,
        mxnet.np.ones,
        _training,
    ),
    "MXNet's dtype": (lambda x: x + mxnet.np.ones(3), mxnet.np.ones, _settings_of_numpy),
    "Keras's epsilon": (cross_entropy, tensorflow.ones, _epsilon),
    "JAX's dtypes": (lambda x: jax.numpy.arange(3.0) + x, jax.numpy.ones, _x64),
    "JAX's dtypes in a context": (lambda x: jax.numpy.arange(3.0) * 2, jax.numpy.ones, _x64_here),
    "whether tangents are propagated": (with_tangents, wg.ones, _tangents),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_calls_see_a_setting_that_functions_of_the_package_read(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, make, change = SETTINGS[name]
    x = make(3)

    def told(call: Any) -> list[Any]:
        results = [call(x) for _ in range(2)]
        undo = change(monkeypatch)
        try:
            results += [call(x) for _ in range(2)]
        finally:
            undo()
        results.append(call(x))
        return [(str(result.dtype), np.asarray(result).tolist()) for result in results]

    f: Any = wg.compile(function, backend="numpy", options={"measure": False, "quiet": True})
    expected = told(function)
    assert told(f) == expected
    assert expected[0] != expected[2]
    assert f.reason is None


@pytest.mark.parametrize("first", [False, True])
def test_calls_inside_jvp_see_whether_tangents_propagate(first: bool) -> None:
    f = wg.compile(lambda x: x * x, backend="numpy", options={"measure": False, "quiet": True})
    x = wg.ones(3) * 2

    def called(x: Any, propagates: bool) -> Any:
        with forward_ad._set_fwd_grad_enabled(propagates):
            return f(x)

    for turn in (first, first, not first, first, not first):
        slope = wg.func.jvp(lambda x, turn=turn: called(x, turn) + x, (x,), (wg.ones(3),))[1]
        assert slope.tolist() == [1 + 4 * turn] * 3


def test_a_setting_that_a_call_leaves_changed_is_changed_by_each_call() -> None:
    def function(x: Any) -> Any:
        mxnet.autograd.set_training(bool(x.sum() > 4))
        return x * 2

    f: Any = wg.compile(function, backend="numpy", options={"measure": False, "quiet": True})
    try:
        for n in (1, 1, 3, 1, 3):
            f(X * n / 2)
            assert mxnet.autograd.is_training() == (n == 3)
    finally:
        mxnet.autograd.set_training(False)


def test_functions_that_ask_for_modes_and_devices_are_compiled() -> None:
    def function(x: Any) -> Any:
        known = wg.is_grad_enabled(), wg.cuda.is_available(), wg.get_default_dtype()
        return x * len(known) * (1 + wg.is_inference_mode_enabled())

    f = wg.compile(function, backend="numpy", options={"measure": False}, fullgraph=True)
    assert f(X).tolist() == function(X).tolist()


def test_the_class_of_a_tensor_does_not_hear_of_compilation() -> None:
    heard: list[Any] = []

    class Loud(wg.Tensor):
        @classmethod
        def __torch_function__(
            cls, function: Any, kinds: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            heard.append(getattr(function, "__name__", function))
            return super().__torch_function__(function, kinds, args, kwargs or {})

    f = wg.compile(lambda x: x * 2, options={"quiet": True})
    x = X.clone().as_subclass(Loud)
    heard.clear()
    for _ in range(3):
        f(x)
    assert heard == ["mul"] * 3


def test_hooks_of_all_optimisers_run_in_compiled_functions() -> None:
    weight = wg.ones(2, requires_grad=True)
    optimiser = wg.optim.SGD([weight], lr=0.5)
    steps: list[float] = []

    @wg.compile(backend="numpy", options={"measure": False})
    def step(x: Any) -> None:
        optimiser.zero_grad()
        (weight * x).sum().backward()
        optimiser.step()

    for _ in range(3):
        step(wg.ones(2))
    assert step.reason is None
    hooks = wg.optim.optimizer
    handle = hooks.register_optimizer_step_post_hook(lambda *_: steps.append(weight[0].item()))
    with pytest.warns(UserWarning, match="there are hooks of all modules or optimisers"):
        step(wg.ones(2))
    step(wg.ones(2))
    handle.remove()
    step(wg.ones(2))
    assert steps == [-1.0, -1.5]


def test_arrays_are_written_to_files_in_each_call(tmp_path: Path) -> None:
    array, path = np.arange(3.0), tmp_path / "array"
    name = str(path)

    def write(x: Any) -> Any:
        array.tofile(name)
        return x * 2

    quick = wg.compile(write, backend="numpy")
    with pytest.warns(UserWarning, match="tofile"):
        quick(X)
    for _ in range(2):
        path.unlink()
        quick(X)
        assert np.array_equal(np.fromfile(name), array)


def test_weak_references_are_counted_in_each_call() -> None:
    held: list[Any] = []

    def count(x: Any) -> Any:
        return x * weakref.getweakrefcount(THING)

    quick = wg.compile(count, backend="numpy", options={"measure": False})
    for n in range(4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert quick(wg.tensor(1.0)).item() == n
        held.append(weakref.ref(THING, held.remove))
