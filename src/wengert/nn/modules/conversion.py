"""Layer 8 · nn: conversions of all parameters and buffers of a module and its submodules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import NoneType
from typing import TYPE_CHECKING, Any, Self, cast, overload

from wengert.__future__ import get_swap_module_params_on_conversion
from wengert.base.device import as_device, is_meta
from wengert.base.device import device as Place
from wengert.base.dtypes import as_dtype, is_differentiable
from wengert.base.dtypes import dtype as DType
from wengert.nn.parameter import Parameter, is_lazy
from wengert.ops.like import empty_like
from wengert.tape.base import SparseValue
from wengert.tape.modes import no_grad
from wengert.tape.sites import warn
from wengert.tensor.copying import swap_tensors
from wengert.types import Device, Tensor

if TYPE_CHECKING:
    from wengert.nn.modules.module import Module


class Conversion:
    """The methods of a module that apply to all of its parameters, buffers and submodules."""

    training: bool
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    children: Callable[[], Iterator[Any]]
    buffers: Callable[..., Iterator[Any]]
    parameters: Callable[..., Iterator[Any]]

    def apply(self, fn: Callable[[Module], object]) -> Self:
        """Call `fn` with each submodule, then with this module.

        Examples
        --------
        >>> outer = wg.nn.Module()
        >>> outer.inner = wg.nn.Module()
        >>> seen = []
        >>> _ = outer.apply(seen.append)
        >>> seen == [outer.inner, outer]
        True
        """
        for module in self.children():
            module.apply(fn)
        fn(cast("Module", self))
        return self

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Self:
        """Replace the values and gradients of parameters and buffers by ``fn`` of them.

        Parameters keep their identity, so that optimisers and tied weights still refer to them.
        """
        swaps = get_swap_module_params_on_conversion()
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is None:
                continue
            with no_grad():
                made = fn(param)
                grad = None if param.grad is None else fn(param.grad)
            if grad is not None:
                # while dtype or shape changes, a gradient of the old one would be refused
                param.grad, kept = None, param.grad
                if isinstance(grad, SparseValue):
                    kept = grad
                elif swaps:
                    if grad is not kept:
                        swap_tensors(kept, grad)
                else:
                    kept.data = grad
            plain = type(param).__torch_function__ is Parameter.__torch_function__
            if swaps:
                swap_tensors(param, Parameter(made, param.requires_grad))
            elif plain and not is_meta(made.device):
                param.data = made
            else:
                param = self._parameters[name] = Parameter(made, param.requires_grad)
            if grad is not None:
                param.grad = kept
        for name, buffer in self._buffers.items():
            if is_lazy(buffer):
                buffer.data = fn(buffer)
            elif buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    @overload
    def to(
        self, device: Device = ..., dtype: DType | None = ..., non_blocking: bool = ...
    ) -> Self: ...
    @overload
    def to(self, dtype: DType, non_blocking: bool = ...) -> Self: ...
    @overload
    def to(self, tensor: Tensor, non_blocking: bool = ...) -> Self: ...
    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert parameters and buffers of floating point or complex dtype, in place.

        Call it as ``to(dtype)``, ``to(device)``, ``to(device, dtype)`` or ``to(tensor)``. Integers
        stay integers. Devices are ``"cpu"`` and, with a GPU, ``"cuda"``.

        Parameters
        ----------
        device, dtype, non_blocking, memory_format: As for `Tensor.to`.

        Returns
        -------
        Module: This module itself.

        Raises
        ------
        TypeError: If the dtype is integral or boolean.
        RuntimeError: If there is no backend for the device.

        Examples
        --------
        %(a_module)s
        >>> module.to(wg.float64).weight.dtype
        torch.float64
        """
        device, dtype, _, memory_format = parsed(args, kwargs)
        if device is not None and not is_meta(device):
            device = as_device(device)
        if dtype is not None:
            if not is_differentiable(dtype.dtype):
                raise TypeError(
                    "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                    f"dtype={dtype!r}"
                )
            if dtype.is_complex:
                warn(
                    "Complex modules are a new feature under active development whose design may "
                    "change, and some modules might not work as expected when using complex "
                    "tensors as parameters or buffers: to(dtype) makes every parameter complex.",
                )

        def converted(tensor: Any) -> Any:
            if device is not None and is_meta(tensor.device) and not is_meta(device):
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use "
                    "torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving module "
                    "from meta to a different device."
                )
            wanted = dtype if is_differentiable(tensor.dtype.numpy) else None
            if memory_format is not None and tensor.dim() in (4, 5):
                return tensor.to(device, dtype=wanted, memory_format=memory_format)
            return tensor.to(device, dtype=wanted)

        return self._apply(converted)

    def type(self, dst_type: DType | str) -> Self:
        """Convert all parameters and buffers to `dst_type`, integers too, in place."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self) -> Self:
        """Convert floating point parameters and buffers to float32, in place."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Self:
        """Convert floating point parameters and buffers to float64, in place."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Self:
        """Convert floating point parameters and buffers to float16, in place."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Self:
        """Convert floating point parameters and buffers to bfloat16, in place."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cpu(self) -> Self:
        """Move parameters and buffers to the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device: Device = None) -> Self:
        """Move parameters and buffers to a GPU.

        Raises
        ------
        RuntimeError: If there is no GPU (see `wengert.cuda`).
        """
        return self._apply(lambda tensor: tensor.cuda(device))

    def share_memory(self) -> Self:
        """Move parameters and buffers to memory shared with other processes (`share_memory_`)."""
        for tensor in (*self.parameters(), *self.buffers()):
            tensor.share_memory_()
        return self

    def to_empty(self, *, device: Device, recurse: bool = True) -> Self:
        """Give parameters and buffers new, uninitialised memory on `device`."""
        place = device if is_meta(device) else as_device(device)
        return self._apply(lambda tensor: empty_like(tensor, device=place), recurse=recurse)

    def train(self, mode: bool = True) -> Self:
        """Set this module and its submodules to training mode (or, with False, to evaluation).

        Raises
        ------
        ValueError: If `mode` is not a boolean.
        """
        if not isinstance(mode, bool):
            raise ValueError(f"training mode is expected to be boolean, not {mode!r}")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set this module and its submodules to evaluation mode: the same as ``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether gradients of the parameters are recorded."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Remove the gradients of all parameters, or fill them with zeros.

        Parameters
        ----------
        set_to_none : bool. Whether ``.grad`` becomes None rather than zeros.
        """
        for param in self.parameters():
            grad = param.grad
            if grad is None:
                continue
            if set_to_none:
                param.grad = None
            else:
                if grad.grad_fn is None:
                    grad.requires_grad_(False)
                else:
                    grad.detach_()
                grad.zero_()


def parsed(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, bool, Any]:
    """Return the device, dtype, non_blocking and memory format that the arguments of `to` say."""
    names: tuple[str, ...] = ("device", "dtype", "non_blocking", "copy")
    if args and isinstance(args[0], Tensor):
        names = ("tensor", *names[2:])
    elif args and args[0] is not None and _is_dtype(args[0]):
        names = names[1:]
    given = {"non_blocking": False, "copy": False, **dict(zip(names, args, strict=False))}
    fits = len(args) <= len(names) and not kwargs.keys() & set(names[: len(args)])
    given.update(kwargs)
    memory_format, tensor = given.pop("memory_format", None), given.pop("tensor", None)
    if tensor is not None:
        fits = fits and isinstance(tensor, Tensor) and not given.keys() & {"device", "dtype"}
        given.update(device=tensor.device, dtype=tensor.dtype)
    device, dtype = given.pop("device", None), given.pop("dtype", None)
    non_blocking, copy = given.pop("non_blocking"), given.pop("copy")
    fits = fits and isinstance(non_blocking, bool) and isinstance(copy, bool) and not given
    places = (str, int, Place, NoneType)
    if not (fits and isinstance(device, places) and (dtype is None or _is_dtype(dtype))):
        got = [type(value).__name__ for value in args]
        got += [f"{name}={type(value).__name__}" for name, value in kwargs.items()]
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({', '.join(got)}), but it "
            "takes a device and a dtype, a dtype, or a tensor, then non_blocking"
        )
    if copy:
        raise RuntimeError(".to() does not accept copy argument: use copy.deepcopy()")
    return device, None if dtype is None else as_dtype(dtype), non_blocking, memory_format


def _is_dtype(value: Any) -> bool:
    # a name for a dtype: a NumPy class, or a string with or without "torch."
    try:
        as_dtype(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)
