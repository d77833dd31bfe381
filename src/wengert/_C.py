"""Layer 8 · _C: what programs and tests reach for under PyTorch's private names.

There is no compiled core by that name here. These are the functions and classes of the tape that
have no public name in PyTorch.
"""

from __future__ import annotations

import contextlib
import itertools
import types
import weakref
from collections.abc import Iterable
from typing import Any, Self

from wengert.autograd.forward_ad import _is_fwd_grad_enabled as _is_fwd_grad_enabled
from wengert.autograd.once import Error
from wengert.base.device import as_device
from wengert.interp.dual import ENABLED
from wengert.kernels.spectral import LinAlgError
from wengert.nn.modules.conversion import parsed
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.modes import current_mode, full_mode, set_grad_enabled
from wengert.tape.modes import is_grad_enabled as is_grad_enabled
from wengert.tape.modes import is_multithreading_enabled as _is_multithreading_enabled
from wengert.tape.node import AccumulateGrad, Node, accumulator_of, edge_of, next_sequence
from wengert.tape.saved import SavedTensor
from wengert.tape.saving import RUNNING, keeps_aside, stand_in, unpacked
from wengert.tape.sites import warn
from wengert.tape.watch import CURRENT
from wengert.tensor.overrides import (
    DisableTorchFunctionSubclass as DisableTorchFunctionSubclass,
)
from wengert.tensor.overrides import disabled_torch_function as _disabled_torch_function_impl

__all__ = [
    "DispatchKey",
    "DispatchKeySet",
    "_ExcludeDispatchKeyGuard",
    "_TensorBase",
    "_TensorMeta",
    "_add_cached_tensor",
    "_autograd",
    "_current_autograd_node",
    "_current_graph_task_execution_order",
    "_current_graph_task_id",
    "_disabled_torch_function_impl",
    "_get_tracing_state",
    "_log_api_usage_once",
    "_functions",
    "_is_cached_tensor",
    "_is_fwd_grad_enabled",
    "_is_multithreading_enabled",
    "_nn",
    "_remove_cached_tensor",
    "_set_cached_tensors_enabled",
    "_set_fwd_grad_enabled",
    "_set_grad_enabled",
    "_LinAlgError",
    "_WeakTensorRef",
    "_will_engine_execute_node",
    "has_lapack",
    "is_grad_enabled",
]

_TensorBase = TensorBase
_TensorMeta = type(TensorBase)


def _get_tracing_state() -> None:
    """None: nothing is traced for TorchScript."""


def _log_api_usage_once(name: str) -> None:
    """Nothing: no use is counted."""


def _current_autograd_node() -> Node | None:
    """The node that the backward pass is at, in a hook or a custom Function; else None."""
    at = RUNNING.get()
    return accumulator_of(at) if isinstance(at, TensorBase) else at


def _will_engine_execute_node(node: Any) -> bool:
    """Whether the backward pass that is under way comes to `node`; for hooks.

    Raises
    ------
    RuntimeError
        Outside of a backward pass, for anything but a node, and for a leaf where `grad` captures
        gradients and adds to no ``.grad``.
    """
    if not isinstance(node, Node):
        raise RuntimeError(
            f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}"
        )
    walk = CURRENT.get()
    if walk is None:
        raise RuntimeError(
            "_get_should_execute_nodes should only be called during the backward pass"
        )
    if not isinstance(node, AccumulateGrad):
        return bool(walk.executes(node))
    if not walk.accumulate:
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running "
            "autograd.grad(). This is currently not supported."
        )
    return bool(walk.executes(node.variable))


_ids = itertools.count()
_id_of: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


def _current_graph_task_id() -> int:
    """A number of the backward pass that is under way; -1 if there is none."""
    walk = CURRENT.get()
    if walk is None:
        return -1
    if walk not in _id_of:
        _id_of[walk] = next(_ids)
    return _id_of[walk]


def _current_graph_task_execution_order() -> list[Node]:
    """The nodes that the backward pass comes to, in their order; for hooks.

    Raises
    ------
    RuntimeError: Outside of a backward pass, and unless `set_multithreading_enabled` says False.
    """
    walk = CURRENT.get()
    if walk is None:
        raise RuntimeError(
            "_current_graph_task_execution_order should only be called during the backward pass"
        )
    if _is_multithreading_enabled():
        raise RuntimeError(
            "_current_graph_task_execution_order expects the current backward to be executed with "
            "multithreading disabled, e.g. by running under autograd.set_multithreading_enabled("
            "False)"
        )
    return [accumulator_of(at) if at._seq > 0 else at for at in walk.order()]


class _WeakTensorRef:
    """A weak reference to a tensor, which tells whether that is gone."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: TensorBase) -> None:
        self._tensor = weakref.ref(tensor)

    def expired(self) -> bool:
        """Whether the tensor is gone."""
        return self._tensor() is None


class DelayedError(Node):
    """A function that hands its arguments on, and raises where a gradient would go through it."""

    __slots__ = ("message", "num_inputs")

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message = message
        self.num_inputs = num_inputs

    def __call__(self, *tensors: Any) -> Any:
        """The tensors, behind a node that refuses to be walked."""
        made = tuple(
            new_tensor(t._array(), Error.before((edge_of(t),), self.message), t._share_version())
            for t in tensors
        )
        return made[0] if len(made) == 1 else made


class _Undefined(Node):
    """Gives no gradient."""

    __slots__ = ()
    label = "UndefinedGradBackward"

    def __init__(self, tensor: TensorBase) -> None:
        self.edges = (edge_of(tensor),)
        self._ext = None
        self._seq = next_sequence()

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """None for each argument."""
        return (None,)

    apply_in = apply


class UndefinedGrad(Node):
    """A function that hands its argument on, and no gradient back."""

    __slots__ = ()

    def __call__(self, tensor: Any) -> Any:
        """The tensor, with a history through which no gradient comes."""
        return new_tensor(tensor._array(), _Undefined(tensor), tensor._share_version())


class _Warning(Node):
    """Hands its gradient on with a warning."""

    __slots__ = ()
    label = "TestWarnInAutogradBackward0"

    def __init__(self, tensor: TensorBase) -> None:
        self.edges = (edge_of(tensor),)
        self._ext = None
        self._seq = next_sequence()

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        warn("Warn from backward")
        return (g,)

    apply_in = apply


def _test_warn_in_autograd(tensor: TensorBase) -> Any:
    """A copy of `tensor` whose backward pass warns, to test how warnings come through."""
    return new_tensor(tensor._array().copy(), _Warning(tensor))


_caching = False
_cached: weakref.WeakValueDictionary[int, TensorBase] = weakref.WeakValueDictionary()


def _set_cached_tensors_enabled(enabled: bool) -> None:
    """Let tensors be noted as cached by somebody, or not."""
    global _caching
    _caching = enabled


def _add_cached_tensor(tensor: TensorBase) -> None:
    """Note that `tensor` is cached."""
    _check_caching()
    _cached[id(tensor)] = tensor


def _remove_cached_tensor(tensor: TensorBase) -> None:
    """Note that `tensor` is not cached any more."""
    _check_caching()
    _cached.pop(id(tensor), None)


def _is_cached_tensor(tensor: TensorBase) -> bool:
    """Whether `tensor` is noted as cached, and such notes count."""
    return _caching and id(tensor) in _cached


def _check_caching() -> None:
    if not _caching:
        raise RuntimeError(
            "cached_tensorimpls_enabled is not set: call _set_cached_tensors_enabled(True) first"
        )


def _unsafe_set_version_counter(tensors: Iterable[TensorBase], versions: Iterable[int]) -> None:
    """Set how often the memory of each of `tensors` is said to have been written to."""
    for tensor, version in zip(tensors, versions, strict=True):
        if version < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {version}")
        tensor._share_version()[0] = version


def _set_fwd_grad_enabled(enabled: bool) -> None:
    """Have operations carry tangents along from now on, or not."""
    ENABLED.set(enabled)


def _set_grad_enabled(enabled: bool) -> None:
    """Record operations from now on, or not."""
    set_grad_enabled(enabled)


def _saved_tensors_hooks_is_enabled() -> bool:
    """Whether `saved_tensors_hooks` may be used here."""
    return full_mode().refusal is None


def _get_current_graph_task_keep_graph() -> bool:
    """Whether the backward pass that is under way leaves the graph; True if there is none."""
    walk = CURRENT.get()
    return True if walk is None else bool(walk.keep)


class _Alone:
    """What keeps a tensor that no node saved."""

    def __init__(self, tensor: TensorBase) -> None:
        mode = current_mode()
        self._edge = edge_of(tensor)
        self._value: Any = stand_in(mode, tensor) if keeps_aside(mode) else tensor

    @property
    def _saved_tensor(self) -> Any:
        value = self._value
        return value if isinstance(value, TensorBase) else unpacked(self, value, self._edge)

    def kept(self, name: str) -> Any:
        """The tensor, or what stands for it."""
        return self._value

    def keep(self, name: str, value: Any) -> None:
        """Keep what stands for the tensor."""
        self._value = value


def _make_saved_tensor(tensor: TensorBase, is_output: bool) -> SavedTensor:
    """`tensor` saved as an operation saves its arguments, or its result if it `is_output`."""
    return SavedTensor.of(
        _Alone(new_tensor(tensor._array(), None, tensor._share_version()) if is_output else tensor),
        "tensor",
    )


has_lapack = has_spectral = True
"""NumPy has these in every build."""
has_mkl = has_openmp = False
"""NumPy's library of products may be another."""
_LinAlgError = LinAlgError


class _Names:
    """Has any attribute: its name."""

    def __getattr__(self, name: str) -> str:
        return name


class DispatchKeySet(frozenset[str]):
    """Names of what PyTorch dispatches by, which packages list; nothing is dispatched here."""

    def __new__(cls, key: str) -> Self:
        return super().__new__(cls, (key,))


DispatchKey = _Names()
_ExcludeDispatchKeyGuard = contextlib.nullcontext

_functions = types.SimpleNamespace(
    AccumulateGrad=AccumulateGrad,
    DelayedError=DelayedError,
    Error=Error,
    UndefinedGrad=UndefinedGrad,
)


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """What arguments of ``Module.to`` say: device, dtype, non_blocking, memory_format."""
    wanted, dtype, layout = parsed(args, kwargs)
    wanted = wanted if wanted is None else as_device(wanted)
    return wanted, dtype, bool(kwargs.get("non_blocking")), layout


_nn = types.SimpleNamespace(_parse_to=_parse_to, _test_warn_in_autograd=_test_warn_in_autograd)
_autograd = types.SimpleNamespace(
    SavedTensor=SavedTensor,
    _get_current_graph_task_keep_graph=_get_current_graph_task_keep_graph,
    _make_saved_tensor=_make_saved_tensor,
    _saved_tensors_hooks_is_enabled=_saved_tensors_hooks_is_enabled,
    _unsafe_set_version_counter=_unsafe_set_version_counter,
)
