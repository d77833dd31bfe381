"""Layer 6 · tensor: `Tensor`, the class that users touch.

The methods that are operations are the functions of `wengert.ops`, whose first parameter is the
tensor; `wengert.tensor.methods` puts them on the class. Here stands what is not an operation.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.base import errors
from wengert.base.device import device as Device
from wengert.base.dtypes import default_float, from_numpy_dtype, is_differentiable
from wengert.base.dtypes import dtype as DType
from wengert.base.size import Size
from wengert.ops.convert import to_array
from wengert.ops.create import empty
from wengert.ops.index import getitem
from wengert.ops.matmul import matmul
from wengert.prims.table import TABLE
from wengert.tape import hooks
from wengert.tape.backward import run_backward
from wengert.tape.base import LEAF, OutputEdge, TensorBase, new_tensor, version_of
from wengert.tape.lift import is_number
from wengert.tape.node import target_of
from wengert.tape.record import record
from wengert.tape.specialise import recorder, reflected_recorder
from wengert.tensor.methods import TensorMethods
from wengert.tensor.numpy_protocol import NumpyProtocol
from wengert.tensor.printing import tensor_format, tensor_repr

__all__ = ["Tensor", "rebuild"]

_CPU = Device("cpu")


class Tensor(TensorMethods, NumpyProtocol, TensorBase):
    """A NumPy array that remembers how it was computed, if that was asked for.

    Tensors are made by `wengert.tensor`, `wengert.zeros` and their like, or from another tensor by
    an operation. With ``requires_grad=True`` every operation on one is recorded, and `backward`
    gives its gradient.

    Examples
    --------
    >>> import wengert as wg
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> y = (x * x).sum()
    >>> y
    tensor(5., grad_fn=<SumBackward0>)
    >>> y.backward()
    >>> x.grad
    tensor([2., 4.])
    """

    __slots__ = ()

    def __new__(cls, *data: Any) -> Any:
        """``Tensor()``, ``Tensor(sequence)`` and ``Tensor(2, 3)``, of the default dtype."""
        if len(data) == 1 and not isinstance(data[0], int):
            source = data[0]
            if isinstance(source, TensorBase):
                return new_tensor(source.array(), None, source.share_version())
            return new_tensor(np.asarray(to_array(source, default_float())))
        return empty(*data) if data else empty(0)

    # -- what it is -------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The sizes of the dimensions."""
        return Size(self.payload.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension."""
        return self.shape if dim is None else self.shape[self._axis(dim)]

    @property
    def dtype(self) -> DType:
        """The element type."""
        return from_numpy_dtype(self.payload.dtype)

    @property
    def device(self) -> Device:
        """Where the memory is: the CPU."""
        return _CPU

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        ndim: int = self.payload.ndim
        return ndim

    def dim(self) -> int:
        """The number of dimensions."""
        return self.ndim

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return int(self.payload.size)

    nelement = numel

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return int(self.payload.dtype.itemsize)

    def element_size(self) -> int:
        """Bytes per element."""
        return self.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return int(self.payload.nbytes)

    def stride(self, dim: int | None = None) -> Any:
        """Elements, not bytes, between neighbours along each dimension, or along one."""
        steps = tuple(step // self.itemsize for step in self.payload.strides)
        return steps if dim is None else steps[self._axis(dim)]

    def is_contiguous(self) -> bool:
        """Whether the elements lie in memory one after the other, the last dimension fastest."""
        return bool(self.payload.flags.c_contiguous)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self.array().ctypes.data)

    def storage_offset(self) -> int:
        """The first element's place in the memory of the base."""
        base = self._base
        if base is None:
            return 0
        return int(self.data_ptr() - base.data_ptr()) // self.itemsize

    def is_floating_point(self) -> bool:
        """Whether the dtype is a real floating type."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return bool(self.payload.dtype.kind == "c")

    def is_signed(self) -> bool:
        """Whether the dtype has negative numbers."""
        return self.dtype.is_signed

    is_cuda = False
    is_sparse = False
    is_quantized = False
    is_meta = False

    def _axis(self, dim: int) -> int:
        if not -max(self.ndim, 1) <= dim < max(self.ndim, 1):
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-max(self.ndim, 1)}, "
                f"{max(self.ndim, 1) - 1}], but got {dim})"
            )
        return dim

    # -- the graph --------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether operations on the tensor are recorded; may be set on leaves.

        Raises
        ------
        RuntimeError
            When set on a tensor of integers or booleans, or to False on a non-leaf.
        """
        return self.edge is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if self.is_leaf:
            if value and not is_differentiable(self.payload.dtype):
                raise RuntimeError(
                    "only Tensors of floating point dtype can require gradients, but this one is "
                    f"{errors.describe(self.payload)}: convert it, for example with .float()"
                )
            self.edge = LEAF if value else None
        elif not value:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad` and return the tensor."""
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was made by the user, not by a recorded operation."""
        return self.edge is None or self.edge is LEAF

    @property
    def grad_fn(self) -> Any:
        """The node of the operation that made the tensor; None for a leaf."""
        return None if self.is_leaf else target_of(self.edge)[0]

    @property
    def output_nr(self) -> int:
        """Which output of `grad_fn` the tensor is."""
        return self.edge.index if isinstance(self.edge, OutputEdge) else 0

    @property
    def grad(self) -> Any:
        """The gradient that `backward` has added up so far, or None.

        It is kept for leaves, and for other tensors after `retain_grad`. Set it to None to start
        afresh.
        """
        ext = self.ext
        return None if ext is None else ext.grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is None:
            if self.ext is not None:
                self.ext.grad = None
            return
        if not isinstance(value, TensorBase):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type "
                f"{type(value).__name__}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if value.payload.dtype != self.payload.dtype:
            raise RuntimeError(
                f"assigned grad has data of a different type: {value.payload.dtype}, but the "
                f"tensor is {self.payload.dtype}"
            )
        if value.payload.shape != self.payload.shape:
            raise RuntimeError(
                f"assigned grad has data of a different size: {list(value.payload.shape)}, but the "
                f"tensor is {list(self.payload.shape)}"
            )
        self.extra().grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    def retain_grad(self) -> None:
        """Keep the gradient of a non-leaf in `grad` too; of a leaf it is kept anyway.

        Raises
        ------
        RuntimeError
            If the tensor does not require a gradient.
        """
        hooks.retain_grad(self)

    @property
    def retains_grad(self) -> bool:
        """Whether this is a non-leaf whose gradient is kept."""
        return self.ext is not None and self.ext.retains and not self.is_leaf

    def register_hook(self, hook: Callable[[Any], Any]) -> hooks.RemovableHandle:
        """Call ``hook(grad)`` whenever the gradient of the tensor is computed.

        What it returns, if not None, takes the gradient's place; it must have its shape.

        Returns
        -------
        RemovableHandle
            Whose ``remove()`` takes the hook away.

        Raises
        ------
        RuntimeError
            If the tensor does not require a gradient.

        Examples
        --------
        >>> import wengert as wg
        >>> x = wg.ones(2, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: 10 * grad)
        >>> x.sum().backward()
        >>> x.grad
        tensor([10., 10.])
        """
        return hooks.register_hook(self, hook)

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradient of this tensor to ``.grad`` of the leaves that it depends on.

        Parameters
        ----------
        gradient : Tensor, optional
            The vector of the vector-Jacobian product, of this tensor's shape; may be left out for
            a tensor with one element.
        retain_graph : bool, optional
            Keep what the graph saved, for another pass; default: the value of `create_graph`.
        create_graph : bool
            Record the pass itself, so that gradients can be differentiated.
        inputs : Tensor or sequence of Tensor, optional
            Add to ``.grad`` of these only, leaves or not.

        Raises
        ------
        RuntimeError
            If there is no history or more than one element and no `gradient`, if the graph was
            freed, if a saved tensor was changed in place. No ``.grad`` has changed then.
        """
        if inputs is not None:
            inputs = [inputs] if isinstance(inputs, TensorBase) else list(inputs)
            if not inputs:
                raise RuntimeError("`inputs` argument to `backward` cannot be empty.")
        if gradient is not None and is_number(gradient) and self.payload.ndim == 0:
            raise TypeError(
                "gradients can be either Tensors or None, but got a number: pass "
                f"wg.tensor({gradient})"
            )
        keep = create_graph if retain_graph is None else retain_graph
        run_backward((self,), (gradient,), keep, create_graph, inputs)

    def detach(self) -> Tensor:
        """A tensor over the same memory, outside the graph."""
        detached: Tensor = new_tensor(self.array(), None, self.share_version())
        return detached

    def detach_(self) -> Tensor:
        """Take the tensor out of its graph, in place.

        Raises
        ------
        RuntimeError
            If it is a view: use `detach`.
        """
        if self._is_view():
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
                "True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
                "these gradients."
            )
        self.edge = None
        return self

    @property
    def data(self) -> Any:
        """A tensor over the same memory, outside the graph and with a version of its own.

        Writing to it is not noticed by the graph: prefer `detach`, or writing under ``no_grad``.
        """
        return new_tensor(self.array())

    @data.setter
    def data(self, value: Any) -> None:
        if not isinstance(value, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self.edge is not None and not is_differentiable(value.payload.dtype):
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point"
            )
        self.payload = value.array()

    @property
    def _version(self) -> int:
        return version_of(self)

    @property
    def _base(self) -> Any:
        return None if self.ext is None else self.ext.base

    def _is_view(self) -> bool:
        return self._base is not None

    @property
    def name(self) -> str | None:
        """A name given by the user; None at first."""
        return None if self.ext is None else self.ext.name

    # -- Python's protocols -----------------------------------------------------------------------

    __hash__ = TensorBase.__hash__
    __getitem__ = getitem

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other) if isinstance(other, TensorBase | np.ndarray) else NotImplemented

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(other, self) if isinstance(other, np.ndarray) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        if is_number(other):
            # PyTorch's two operations, and so its rounding
            return TensorBase.namespace.reciprocal(self) * other
        return record(TABLE["div"], (other, self), {}) if _operand(other) else NotImplemented

    def __repr__(self) -> str:
        return tensor_repr(self)

    def __format__(self, spec: str) -> str:
        return tensor_format(self, spec)

    def __len__(self) -> int:
        if self.payload.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return int(self.payload.shape[0])

    def __iter__(self) -> Iterator[Any]:
        if self.payload.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(TensorBase.namespace.unbind(self, dim=0))

    def __reversed__(self) -> Any:
        return TensorBase.namespace.flip(self, dims=(0,)) if self.payload.ndim else self

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, TensorBase | np.ndarray) or is_number(value):
            return bool((self == value).payload.any())
        raise RuntimeError(
            "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
            f"{type(value)}."
        )

    def __bool__(self) -> bool:
        if self.payload.size == 1:
            return bool(self.payload.item())
        if self.payload.size == 0:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
        raise RuntimeError(
            "Boolean value of Tensor with more than one value is ambiguous: use .any() or .all()"
        )

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.payload.size != 1 or self.payload.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.payload.item())

    def item(self) -> Any:
        """The value of a tensor with one element, as a Python number.

        Raises
        ------
        RuntimeError
            If there are more elements, or none.
        """
        if self.payload.size != 1:
            raise RuntimeError(
                f"a Tensor with {self.payload.size} elements cannot be converted to Scalar"
            )
        return self.payload.item()

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers; a number for a 0-d tensor."""
        return self.payload.tolist()

    def __copy__(self) -> Tensor:
        # PyTorch's copy.copy gives a tensor over the same memory with the same leaf status
        twin: Tensor = new_tensor(self.array(), self.edge, self.share_version())
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment. Use .detach().clone(), or .clone() to stay in the graph."
            )
        twin = new_tensor(copy.deepcopy(self.array()), self.edge)
        twin.__class__ = type(self)
        memo[id(self)] = twin
        if self.grad is not None:
            twin.grad = copy.deepcopy(self.grad, memo)
        return twin

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        if not self.is_leaf:
            raise RuntimeError(
                "a tensor that is part of a graph cannot be pickled: pickle .detach() of it"
            )
        return rebuild, (type(self), self.array(), self.requires_grad)


def rebuild(cls: type[Tensor], array: Any, requires_grad: bool) -> Tensor:
    """The tensor that was pickled."""
    tensor: Tensor = new_tensor(array, LEAF if requires_grad else None)
    tensor.__class__ = cls
    return tensor


# -- operators -----------------------------------------------------------------------------------


def _operand(value: Any) -> bool:
    return isinstance(value, TensorBase | np.ndarray | np.generic) or is_number(value)


def _operator(method: str, name: str, reflected: str | None = None) -> None:
    """Put the operation `name` on the class, as an operator that is generated on first use."""
    prim = TABLE[name]

    def general(prim: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        return record(prim, args, params) if all(map(_operand, args)) else NotImplemented

    def first(self: Any, other: Any) -> Any:
        made = recorder(prim, general, scalars=True)
        made.__name__ = made.__qualname__ = method
        setattr(Tensor, method, made)
        return made(self, other)

    def first_backwards(self: Any, other: Any) -> Any:
        made = reflected_recorder(prim, general, str(reflected))
        setattr(Tensor, str(reflected), made)
        return made(self, other)

    setattr(Tensor, method, first)
    if reflected is not None:
        setattr(Tensor, reflected, first_backwards)


def _unary_operator(method: str, name: str) -> None:
    def first(self: Any) -> Any:
        made = getattr(TensorBase.namespace, name)
        setattr(Tensor, method, made)
        return made(self)

    setattr(Tensor, method, first)


for _symbol, _name in (("neg", "neg"), ("abs", "abs"), ("invert", "bitwise_not")):
    _unary_operator(f"__{_symbol}__", _name)
for _symbol, _name in (
    ("add", "add"),
    ("sub", "sub"),
    ("mul", "mul"),
    ("truediv", "div"),
    ("pow", "pow"),
    ("mod", "remainder"),
    ("floordiv", "floor_divide"),
    ("and", "bitwise_and"),
    ("or", "bitwise_or"),
    ("xor", "bitwise_xor"),
):
    _operator(f"__{_symbol}__", _name, None if _name == "div" else f"__r{_symbol}__")
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _operator(f"__{_name}__", _name)

TensorBase.cls = Tensor
