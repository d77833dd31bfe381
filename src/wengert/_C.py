"""Layer 8 · _C: private names of PyTorch that programs and tests use.

There is no compiled core of that name here. These are functions and classes of the tape that have
no public name in PyTorch.
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
from wengert.base.device import as_device, device, get_default_device
from wengert.base.elsewhere import elsewhere
from wengert.base.patches import Setting
from wengert.interp.batched import Batched
from wengert.interp.levels import memory_of
from wengert.kernels.spectral import LinAlgError
from wengert.kernels.strided import shares_owner
from wengert.nn import functional
from wengert.nn.modules.conversion import parsed
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.modes import change_mode, current_mode, full_mode
from wengert.tape.modes import is_grad_enabled as is_grad_enabled
from wengert.tape.modes import is_multithreading_enabled as _is_multithreading_enabled
from wengert.tape.modes import set_grad_enabled as _set_grad_enabled
from wengert.tape.node import AccumulateGrad, Node, accumulator_of, edge_of, next_sequence
from wengert.tape.saved import SavedTensor
from wengert.tape.saving import RUNNING, keeps_aside, stand_in, unpacked
from wengert.tape.sites import warn
from wengert.tape.watch import CURRENT
from wengert.tensor.overrides import DisableTorchFunction as DisableTorchFunction
from wengert.tensor.overrides import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from wengert.tensor.overrides import disabled_torch_function as _disabled_torch_function_impl
from wengert.tensor.overrides import is_enabled as _is_torch_function_enabled
from wengert.tensor.overrides import is_in_mode as _is_torch_function_mode_enabled

__all__ = [
    "DispatchKey",
    "DispatchKeySet",
    "_ConvBackend",
    "_ExcludeDispatchKeyGuard",
    "_TensorBase",
    "_TensorMeta",
    "_add_cached_tensor",
    "_autograd",
    "_current_autograd_node",
    "_current_graph_task_execution_order",
    "_current_graph_task_id",
    "_disabled_torch_function_impl",
    "_get_accelerator",
    "_get_default_device",
    "_get_tracing_state",
    "_log_api_usage_once",
    "_mps_is_available",
    "_functions",
    "_is_alias_of",
    "_is_cached_tensor",
    "_is_fwd_grad_enabled",
    "_is_multithreading_enabled",
    "_is_torch_function_enabled",
    "_is_torch_function_mode_enabled",
    "_nn",
    "_remove_cached_tensor",
    "_select_conv_backend",
    "_set_cached_tensors_enabled",
    "_set_fwd_grad_enabled",
    "_set_grad_enabled",
    "_LinAlgError",
    "_WeakTensorRef",
    "_will_engine_execute_node",
    "has_lapack",
    "is_grad_enabled",
]

__path__: list[str] = []  # `_C._functorch` is a row of a table
__getattr__ = elsewhere(__name__)

_TensorBase = TensorBase
_TensorMeta = type(TensorBase)


def _get_tracing_state() -> None:
    """Return None: nothing is traced for TorchScript."""


def _no_mode(*inputs: Any) -> None:
    """Return None: no mode of PyTorch's compilers is active, and no tensor is of one."""


def _get_accelerator(check: bool | None = None) -> device:
    """Return the CPU: there is no accelerator."""
    return as_device("cpu")


def _get_default_device() -> str:
    """Return the type of the device on which tensors are made."""
    return get_default_device().type


def _is_alias_of(data: Any, other: Any) -> bool:
    """Return whether two tensors share the memory that they view."""
    return bool(shares_owner(memory_of(data._payload), memory_of(other._payload)))


def _mps_is_available() -> bool:
    """Return False: there is no support for GPUs."""
    return False


def _log_api_usage_once(name: str) -> None:
    """Do nothing: API use is not logged."""


def _current_autograd_node() -> Node | None:
    """Return the node that the backward pass is running, in a hook or Function; else None."""
    at = RUNNING.get()
    return accumulator_of(at) if isinstance(at, TensorBase) else at


def _will_engine_execute_node(node: Any) -> bool:
    """Return whether the running backward pass will execute `node`; for hooks.

    Raises
    ------
    RuntimeError
        Outside a backward pass, for anything but a node, and for a leaf when `grad` captures
        gradients and accumulates no ``.grad``.
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
    """Return a number for the running backward pass; -1 if there is none."""
    walk = CURRENT.get()
    if walk is None:
        return -1
    if walk not in _id_of:
        _id_of[walk] = next(_ids)
    return _id_of[walk]


def _current_graph_task_execution_order() -> list[Node]:
    """Return the nodes that the backward pass will execute, in order; for hooks.

    Raises
    ------
    RuntimeError: Outside a backward pass, and unless `set_multithreading_enabled(False)` is set.
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
    """A weak reference to a tensor, which knows whether it is gone."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: TensorBase) -> None:
        self._tensor = weakref.ref(tensor)

    def expired(self) -> bool:
        """Return whether the tensor is gone."""
        return self._tensor() is None


class DelayedError(Node):
    """A function that returns its arguments, and raises when a gradient flows through it."""

    __slots__ = ("message", "num_inputs")

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message = message
        self.num_inputs = num_inputs

    def __call__(self, *tensors: Any) -> Any:
        """Return the tensors, behind a node that raises when it is executed."""
        made = tuple(
            new_tensor(t._array(), Error.before((edge_of(t),), self.message), t._share_version())
            for t in tensors
        )
        return made[0] if len(made) == 1 else made


class _After(Node):
    """A node after that of a tensor."""

    __slots__ = ()

    def __init__(self, tensor: TensorBase) -> None:
        self.edges = (edge_of(tensor),)
        self._ext = None
        self._seq = next_sequence()


class _Undefined(_After):
    """Returns no gradient."""

    __slots__ = ()
    label = "UndefinedGradBackward"

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return None for each argument."""
        return (None,)

    apply_in = apply


class UndefinedGrad(Node):
    """A function that returns its argument, and passes no gradient back."""

    __slots__ = ()

    def __call__(self, tensor: Any) -> Any:
        """Return the tensor, with a history that passes no gradient."""
        return new_tensor(tensor._array(), _Undefined(tensor), tensor._share_version())


class _Warning(_After):
    """Passes its gradient on with a warning."""

    __slots__ = ()
    label = "TestWarnInAutogradBackward0"

    def apply(self, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
        warn("Warn from backward")
        return (g,)

    apply_in = apply


def _test_warn_in_autograd(tensor: TensorBase) -> Any:
    """Return a copy of `tensor` whose backward pass warns, to test the delivery of warnings."""
    return new_tensor(tensor._array().copy(), _Warning(tensor))


_caching = False
_cached: weakref.WeakValueDictionary[int, TensorBase] = weakref.WeakValueDictionary()


def _set_cached_tensors_enabled(enabled: bool) -> None:
    """Set whether tensors can be registered as cached."""
    global _caching
    _caching = enabled


def _add_cached_tensor(tensor: TensorBase) -> None:
    """Register `tensor` as cached."""
    _check_caching()
    _cached[id(tensor)] = tensor


def _remove_cached_tensor(tensor: TensorBase) -> None:
    """Unregister `tensor` as cached."""
    _check_caching()
    _cached.pop(id(tensor), None)


def _is_cached_tensor(tensor: TensorBase) -> bool:
    """Return whether `tensor` is registered as cached, and registration is enabled."""
    return _caching and id(tensor) in _cached


def _check_caching() -> None:
    if not _caching:
        raise RuntimeError(
            "cached_tensorimpls_enabled is not set: call _set_cached_tensors_enabled(True) first"
        )


def _unsafe_set_version_counter(tensors: Iterable[TensorBase], versions: Iterable[int]) -> None:
    """Set the version counter of each of `tensors`."""
    for tensor, version in zip(tensors, versions, strict=True):
        if version < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {version}")
        tensor._share_version()[0] = version


def _set_fwd_grad_enabled(enabled: bool) -> None:
    """Set whether operations propagate tangents."""
    change_mode(tangents=bool(enabled))


def _saved_tensors_hooks_is_enabled() -> bool:
    """Return whether `saved_tensors_hooks` are allowed here."""
    return full_mode().refusal is None


def _get_current_graph_task_keep_graph() -> bool:
    """Return whether the running backward pass keeps the graph; True if there is none."""
    walk = CURRENT.get()
    return True if walk is None else bool(walk.keep)


class _Alone:
    """Holds a saved tensor without a node."""

    def __init__(self, tensor: TensorBase) -> None:
        mode = current_mode()
        self._edge = edge_of(tensor)
        self._value: Any = stand_in(mode, tensor) if keeps_aside(mode) else tensor

    @property
    def _saved_tensor(self) -> Any:
        value = self._value
        return value if isinstance(value, TensorBase) else unpacked(self, value, self._edge)

    def kept(self, name: str) -> Any:
        """Return the tensor, or its stand-in."""
        return self._value

    def keep(self, name: str, value: Any) -> None:
        """Keep the tensor's stand-in."""
        self._value = value


def _make_saved_tensor(tensor: TensorBase, is_output: bool) -> SavedTensor:
    """Save `tensor` as an operation saves its arguments, or its result if it `is_output`."""
    return SavedTensor.of(
        _Alone(new_tensor(tensor._array(), None, tensor._share_version()) if is_output else tensor),
        "tensor",
    )


def _set_mkldnn_enabled(enabled: bool) -> None:
    """Do nothing: oneDNN is not used."""


has_lapack = has_spectral = True
"""NumPy always has these."""
has_mkl = has_openmp = False
"""NumPy's BLAS may be another."""
_has_cuda = _has_cudnn = _has_magma = _has_mkldnn = _has_mps = _has_xpu = False
"""None of PyTorch's libraries for devices is built in."""
_LinAlgError = LinAlgError


def _are_functorch_transforms_active() -> bool:
    """Return whether a function transform is running."""
    return bool(full_mode().levels)


def is_batchedtensor(tensor: Any) -> bool:
    """Return whether `tensor` is one of the batch that `vmap` runs a function on."""
    return isinstance(tensor, TensorBase) and isinstance(tensor._payload, Batched)


class _Names:
    """Returns the name of any attribute as its value."""

    def __getattr__(self, name: str) -> str:
        return name


class DispatchKeySet(frozenset[str]):
    """Names of PyTorch's dispatch keys, which packages list; nothing is dispatched by them here."""

    def __new__(cls, key: str) -> Self:
        return super().__new__(cls, (key,))


DispatchKey = _Names()
_ConvBackend = _Names()


def _select_conv_backend(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> str:
    """Return PyTorch's name of the method for a convolution, without its optional libraries."""
    if not (input.shape[0] and input.shape[1] and weight.numel()):
        return "Empty"
    kind = "Transpose" if transposed else "Dilated" if set(dilation) != {1} else ""
    # one dimension counts as two
    return f"Slow{kind}{max(len(stride), 2)}d"


def _stored(value: bool) -> tuple[Any, Any]:
    """Return the setter and the getter of a setting without effect."""
    held = Setting(value)
    return held.set, lambda: held.value


# every operation has a rule for batches, so nothing falls back
(
    _debug_only_display_vmap_fallback_warnings,
    _debug_only_are_vmap_fallback_warnings_enabled,
) = _stored(False)
_set_vmap_fallback_enabled, _is_vmap_fallback_enabled = _stored(True)
_DisableFuncTorch = _ExcludeDispatchKeyGuard = contextlib.nullcontext

_functions = types.SimpleNamespace(
    AccumulateGrad=AccumulateGrad,
    DelayedError=DelayedError,
    Error=Error,
    UndefinedGrad=UndefinedGrad,
)


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """Parse the arguments of ``Module.to``: device, dtype, non_blocking, memory_format."""
    wanted, *others = parsed(args, kwargs)
    return wanted if wanted is None else device(wanted), *others


class _Functions:
    """The functions of `nn.functional` under PyTorch's other name, and two more."""

    _parse_to = staticmethod(_parse_to)
    _test_warn_in_autograd = staticmethod(_test_warn_in_autograd)

    def __getattr__(self, name: str) -> Any:
        return getattr(functional, name)


_nn = _Functions()
_autograd = types.SimpleNamespace(
    SavedTensor=SavedTensor,
    _get_current_graph_task_keep_graph=_get_current_graph_task_keep_graph,
    _make_saved_tensor=_make_saved_tensor,
    _saved_tensors_hooks_is_enabled=_saved_tensors_hooks_is_enabled,
    _unsafe_set_version_counter=_unsafe_set_version_counter,
)
