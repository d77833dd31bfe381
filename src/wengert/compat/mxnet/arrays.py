"""Layer 9 · compat: `NDArray`, MXNet's array.

NOTE [arrays of MXNet]
An `NDArray` is a tensor of this library with MXNet's recording (see NOTE [MXNet records on
request]), attached gradients, dtypes and printing. It uses the operations of `wengert.numpy`, whose
results are plain arrays that change their class; the tape does not know this class.
``mxnet.np.ndarray`` is a subclass, as in MXNet, with NumPy's shapes and comparisons; an `NDArray`
itself has at least one dimension, and its comparisons return numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from wengert import numpy as wnp
from wengert.compat.kit.namespaces import defined
from wengert.compat.mxnet import backprop, results
from wengert.compat.mxnet.base import MXNetError, refusal, reraise, shown
from wengert.compat.mxnet.context import Context, checked
from wengert.compat.mxnet.state import RECORDING
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.detachments import note
from wengert.tape.record import T
from wengert.tape.sites import warn
from wengert.tensor.overrides import disabled_torch_function

_REQUESTS = ("null", "write", "add")


class NDArray(wnp.ndarray):
    """The array of ``mxnet.nd``, which has at least one dimension.

    Examples
    --------
    >>> x = nd.array([[1, 2], [3, 4]])
    %(recording)s
    ...     y = x * x
    %(backward_pass)s
    [[2. 4.]
     [6. 8.]]
    <NDArray 2x2 @cpu(0)>
    """

    __slots__ = ()
    __torch_function__ = disabled_torch_function
    __hash__ = TensorBase.__hash__
    __array_priority__ = 1000

    # -- gradients --------------------------------------------------------------------------------

    def attach_grad(self, grad_req="write", stype: str | None = None) -> None:
        """Attach a gradient of zeros, and turn the array into a leaf.

        Its history is dropped: no gradient flows past the array.

        Parameters
        ----------
        grad_req : {'write', 'add', 'null'}. Whether a backward pass overwrites `grad`, accumulates
            into it, or ignores it.
        stype : str, optional. Only ``"default"``: gradients are dense.

        Raises
        ------
        KeyError: If `grad_req` is unknown.

        Examples
        --------
        >>> x = np.arange(3)
        >>> x.attach_grad()
        >>> x.grad
        array([0., 0., 0.])
        """
        if grad_req not in _REQUESTS:
            raise KeyError(f"{grad_req!r}: grad_req must be 'write', 'add' or 'null'")
        if stype not in (None, "default"):
            raise MXNetError(f"stype={stype!r}: gradients are dense here, leave stype out")
        zeros = results.adopt(new_tensor(np.zeros_like(self._payload)), _class_of(self))
        results.mark(self, zeros, grad_req)

    def drop_grad(self) -> None:
        """Drop the gradient and its edge; the array becomes a constant again."""
        vars(self).pop("_grad_req", None)
        self._edge = None
        if self._ext is not None:
            self._ext.grad = None

    @property  # type: ignore[misc]
    def grad(self) -> Any:
        """The attached gradient, the same array before and after a backward pass; or None."""
        return None if self._ext is None else self._ext.grad

    @property
    def grad_req(self) -> str | None:
        """The request for `grad` (``"write"`` or ``"add"``), or None without a gradient."""
        return vars(self).get("_grad_req")

    @property
    def _fresh_grad(self) -> bool:
        return bool(vars(self).get("_fresh_grad", False))

    @_fresh_grad.setter
    def _fresh_grad(self, value) -> None:
        vars(self)["_fresh_grad"] = bool(value)

    def backward(  # type: ignore[override]
        self, out_grad=None, retain_graph=False, train_mode=True
    ) -> None:
        """Compute the gradients of this array with respect to all arrays with an attached gradient.

        Parameters
        ----------
        out_grad : NDArray, optional. The cotangent of this array, of its shape; default: ones, so
            that several elements are summed.
        retain_graph : bool. Whether to keep the graph for another pass.
        train_mode : bool. The value of `autograd.is_training` during the pass.

        Raises
        ------
        MXNetError: If the array was not recorded, or its graph has been used up.
        """
        backprop.backward([self], [out_grad], retain_graph, train_mode)

    def detach(self) -> Any:
        """Return an array over the same memory, outside the graph."""
        if self._edge is not None:
            note(".detach()", self)
        return results.adopt(results.plain(self), _class_of(self))

    # -- properties -------------------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """NumPy's type of the elements."""
        return self._payload.dtype.type

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(self._payload.shape)

    @property
    def ctx(self) -> Context:
        """The device of the array: ``cpu(0)``."""
        return Context("cpu")

    context = ctx

    @property
    def stype(self) -> str:
        """``"default"``: arrays are dense."""
        return "default"

    @property
    def writable(self) -> bool:
        """Whether the array is writable."""
        return True

    def __repr__(self) -> str:
        sizes = "x".join(map(str, self.shape))
        return f"\n{self._array()}\n<{type(self).__name__} {sizes} @{self.ctx}>"

    def __str__(self) -> str:
        return self.__repr__()

    def __format__(self, spec: str) -> str:
        if not self._payload.ndim:
            return format(self._payload.item(), spec)
        return format(str(self), spec)

    def __getattr__(self, name: str) -> Any:
        cure = {"device": ": write x.ctx"}.get(name, "")
        if name.endswith("_") and not name.startswith("_"):
            cure = ": MXNet's arrays are written to by x[:] = ..., x += ..., and so on"
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{cure}")

    def __dir__(self) -> list[str]:
        # without PyTorch's in-place methods, which are refused
        return [n for n in object.__dir__(self) if n.startswith("_") or not n.endswith("_")]

    def __len__(self) -> int:
        if not self._payload.ndim:
            raise TypeError("len() of unsized object")
        return len(self._payload)

    def __bool__(self) -> bool:
        if self._payload.size == 1:
            return bool(self._payload.item())
        if not self._payload.size and type(self) is NDArray:
            return False
        raise refusal(ValueError, "The truth value", type(self).__name__)

    def _scalar(self) -> Any:
        if self._payload.size != 1:
            raise refusal(TypeError, "only size-1 arrays", self.shape)
        return self._payload.item()

    def __float__(self) -> float:
        return float(self._scalar())

    def __int__(self) -> int:
        return int(self._scalar())

    __index__ = __int__

    def __complex__(self) -> complex:
        return complex(self._scalar())

    # -- leaving, copying -------------------------------------------------------------------------

    def asnumpy(self) -> Any:
        """Return a copy as a NumPy array; no gradient flows through it."""
        if self._edge is not None and RECORDING.get():
            note(".asnumpy()", self)
        return np.array(self._payload)

    def numpy(self, **options) -> Any:
        """Return a NumPy array; same as `asnumpy`."""
        return self.asnumpy()

    def asscalar(self) -> Any:
        """Return the only element as a number."""
        if self._payload.size != 1:
            raise ValueError("The current array is not a scalar")
        return self.asnumpy().reshape(-1)[0]

    def item(self, *args) -> Any:
        """Return one element as a Python number: the only one, or the one at an index."""
        return self.asnumpy().item(*args)

    def tolist(self) -> Any:
        """Return the elements in nested lists."""
        return self._payload.tolist()

    def __array__(self, dtype=None, copy: bool | None = None) -> Any:
        if self._edge is not None and RECORDING.get():
            return super().__array__(dtype)  # raises an error with advice
        return self.asnumpy() if dtype is None else self.asnumpy().astype(dtype)

    def as_np_ndarray(self) -> Any:
        """Return the array as an ``mxnet.np.ndarray`` over the same memory; recorded."""
        return results.adopt(T.alias(results.operand(self, writes=True)), results.CLASSES["np"])

    def as_nd_ndarray(self) -> Any:
        """Return the array as an ``mxnet.nd.NDArray`` over the same memory; recorded."""
        if type(self) is NDArray:
            return self
        result = T.alias(results.operand(self, writes=True))
        result.__class__ = NDArray
        return result

    def copy(self) -> Any:
        """Return a copy; recorded."""
        return results.adopt(T.clone(results.operand(self)), _class_of(self))

    def copyto(self, other) -> Any:
        """Copy the elements to another array, or to a context.

        Raises
        ------
        TypeError: If `other` is neither an array nor a context.
        """
        if isinstance(other, NDArray):
            if other is self:
                warn("You are attempting to copy an array to itself")
            else:
                other[...] = self
            return other
        if not isinstance(other, Context):
            raise TypeError(f"copyto does not support type {shown(other)}")
        checked(other)
        return self.copy()

    def as_in_context(self, context) -> Any:
        """Return the array itself: only one context holds arrays."""
        checked(context)
        return self

    as_in_ctx = as_in_context

    def astype(self, dtype, *args, copy=True, **more) -> Any:
        """Convert to another dtype; recorded. With ``copy=False``, may return the array itself."""
        kind = np.dtype(dtype)
        if not copy and kind == self._payload.dtype:
            return self
        return results.adopt(T.to_copy(results.operand(self), dtype=kind), _class_of(self))

    def wait_to_read(self) -> None:
        """Do nothing: results are ready when an operation returns."""

    wait_to_write = wait_to_read

    def tostype(self, stype: str) -> Any:
        """Return the array itself for ``"default"``; other storage types are not offered."""
        if stype != "default":
            raise MXNetError(f"tostype({stype!r}): arrays are dense here; see wengert.sparse")
        return self

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return memo.setdefault(id(self), results.adopt(new_tensor(self.asnumpy()), _class_of(self)))

    def __reduce_ex__(self, protocol) -> tuple[Any, ...]:
        return _rebuilt, (_class_of(self), self.asnumpy())

    # -- elements ---------------------------------------------------------------------------------

    def __getitem__(self, index) -> Any:
        """Return the elements that an index selects, as an array."""
        place = results.index_of(index)
        if type(self) is NDArray:
            place = _with_a_dimension(place, self._payload.shape)
        given = (self, place)
        return results.computed(_class_of(self), wnp.ndarray.__getitem__, given, {}, views=True)

    def __setitem__(self, index, value) -> None:
        """Write to the elements that an index selects; recorded inside ``record()``."""
        target = results.operand(self, writes=True)
        if isinstance(value, list | tuple) and not results.holds_array(value):
            value = np.asarray(value, self._payload.dtype)
        try:
            wnp.ndarray.__setitem__(target, results.index_of(index), results.operand(value))
        except (RuntimeError, ValueError) as error:
            reraise(error)

    def __iter__(self) -> Iterator[Any]:
        if not self._payload.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    # -- NumPy ------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc, method: str, *inputs, **kwargs) -> Any:
        """Apply NumPy's own ufuncs as recorded operations that return arrays of this class."""

        def apply(*given, **named) -> Any:
            return wnp.ndarray.__array_ufunc__(self, ufunc, method, *given, **named)

        out = kwargs.pop("out", None)
        if out is not None:
            kwargs["out"] = out[0] if isinstance(out, tuple) else out
        return results.computed(_class_of(self), apply, inputs, kwargs)

    def __array_function__(
        self, function, types, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        def apply(*given, **named) -> Any:
            return wnp.ndarray.__array_function__(self, function, types, given, named)

        return results.computed(_class_of(self), apply, args, kwargs)


results.CLASSES["nd"] = NDArray


def _with_a_dimension(index, shape: tuple[int, ...]) -> Any:
    """Convert the index of an element to that of a view of shape (1,), for legacy arrays."""
    parts = index if isinstance(index, tuple) else (index,)
    if len(parts) != len(shape) or not all(isinstance(part, int) for part in parts):
        return index
    *front, last = parts
    if not -shape[-1] <= last < shape[-1]:
        return index  # raises an error
    return (*front, slice(last % shape[-1], last % shape[-1] + 1))


def _class_of(array) -> Any:
    return array.__class__


def _rebuilt(cls: type, array) -> Any:
    result = new_tensor(array)
    result.__class__ = cls
    return result


__all__ = defined(globals())
