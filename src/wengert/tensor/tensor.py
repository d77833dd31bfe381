"""Layer 6 · tensor: the class `Tensor`.

Methods that are operations are the functions of `wengert.ops`, whose first parameter is the tensor;
`wengert.tensor.methods` adds them to the class. This module defines all other methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.base import errors
from wengert.base.device import check_device
from wengert.base.dtypes import default_float, is_differentiable
from wengert.base.ports import PORTS, provides
from wengert.interp.levels import Lifted, device_of
from wengert.ops.index import getitem
from wengert.ops.typed import legacy
from wengert.tape import hooks
from wengert.tape.backward import run_backward
from wengert.tape.base import (
    LEAF,
    OutputEdge,
    SparseValue,
    TensorBase,
    new_tensor,
    tensor_over,
    version_of,
)
from wengert.tape.detachments import has_tangents, note, without_tangents
from wengert.tape.handles import RemovableHandle
from wengert.tape.inference import is_inference_mode_enabled
from wengert.tape.invalidated import Invalidated
from wengert.tape.modes import untraced
from wengert.tape.node import GradientEdge, Unrecorded, is_leaf_edge, public_target
from wengert.tape.operands import is_number
from wengert.tape.sites import warn
from wengert.tape.versions import InferenceCell, is_inference
from wengert.tape.views import has_views, placed_as, require_grad_of_views
from wengert.tensor import copying, overrides
from wengert.tensor.copying import CopyProtocol
from wengert.tensor.internals import TensorInternals, gradient_kind
from wengert.tensor.metadata import TensorMetadata
from wengert.tensor.methods import TensorMethods
from wengert.tensor.numpy.protocol import NumpyProtocol
from wengert.tensor.operators import TensorOperators, install_operators


def _open_ended(method: Any) -> Any:
    """Type a method as `Any`, so that overriding methods may take fewer parameters."""
    return method


@provides("tensor")
class Tensor(
    TensorOperators,
    TensorMethods,
    TensorMetadata,
    TensorInternals,
    NumpyProtocol,
    CopyProtocol,
    TensorBase,
):
    """A NumPy array that can record how it was computed.

    Make tensors with `wengert.tensor`, `wengert.zeros` and similar functions, or from other tensors
    by an operation. With ``requires_grad=True``, every operation on a tensor is recorded, and
    `backward` computes its gradient.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> y = (x * x).sum()
    >>> y
    tensor(5., grad_fn=<SumBackward0>)
    %(backward_pass)s
    tensor([2., 4.])
    """

    # for attributes that users set; the slots are in `TensorBase`
    __slots__ = ("__dict__",)

    def __new__(cls, *data: Any, device: Any = None) -> Any:
        """Make ``Tensor()``, ``Tensor(sequence)`` or ``Tensor(2, 3)``, of the default dtype.

        ``Tensor(tensor)`` is a view of the tensor. A subclass makes instances of itself.
        """
        check_device(device)
        if len(data) == 1 and isinstance(data[0], TensorBase):
            return copying.of_class(data[0], cls)
        return copying.make(cls, legacy(data, default_float())._payload)

    # -- subclasses -------------------------------------------------------------------------------

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        overrides.adopt(cls)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Compute an operation on instances of a subclass, which may override this method.

        Parameters
        ----------
        func : callable. The function or method, which can be called on the arguments.
        types : tuple of type. The classes among the arguments that override it.
        args, kwargs: Its arguments.

        Returns
        -------
        object: The result of `func`, with tensors as instances of this class; NotImplemented if one
            of `types` is not a parent of this class.
        """
        return overrides.default_torch_function(cls, func, types, args, kwargs)

    # -- the graph --------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether operations on the tensor are recorded; may be set on leaves.

        Raises
        ------
        RuntimeError: When set on a tensor of integers or booleans, or on a non-leaf.

        Examples
        --------
        >>> x = wg.ones(2, requires_grad=True)
        >>> x.requires_grad, (2 * x).requires_grad, wg.ones(2).requires_grad
        (True, True, False)
        """
        return self._edge is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if value.__class__ is not bool:
            raise RuntimeError(f"requires_grad must be a bool, not {type(value).__name__}")
        if self.is_leaf:
            if value and is_inference(self) and not is_inference_mode_enabled():
                raise RuntimeError(
                    "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                    "allowed: clone() gives an ordinary tensor."
                )
            if value and not is_differentiable(self._payload.dtype):
                raise RuntimeError(
                    "only Tensors of floating point dtype can require gradients, but this one is "
                    f"{errors.describe(self._payload)}: convert it, for example with .float()"
                )
            if value:
                self._edge = LEAF
            elif self._edge.__class__ is not Unrecorded:
                self._edge = None
            if self._ext is not None and self._ext.views:
                require_grad_of_views(self, value)
        else:
            advice = (
                "A tensor with a history requires a gradient."
                if value
                else "If you want to use a computed variable in a subgraph that doesn't require "
                "differentiation use var_no_grad = var.detach()."
            )
            raise RuntimeError(
                f"you can only change requires_grad flags of leaf variables. {advice}"
            )

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("Deleting requires_grad is not allowed: set it to False")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad` and return the tensor; a non-leaf only accepts True.

        Examples
        --------
        >>> wg.zeros(1, 2).requires_grad_()
        tensor([[0., 0.]], requires_grad=True)
        """
        if not requires_grad or self.is_leaf:
            self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was made by the user, not by a recorded operation.

        Examples
        --------
        >>> x = wg.ones(2, requires_grad=True)
        >>> x.is_leaf, (2 * x).is_leaf
        (True, False)
        """
        edge = self._edge
        if edge.__class__ is Invalidated:
            raise RuntimeError(edge.message)
        return is_leaf_edge(edge)

    @property
    def grad_fn(self) -> Any:
        """The node of the operation that made the tensor; None for a leaf.

        Examples
        --------
        >>> x = wg.ones(2, requires_grad=True)
        >>> type((2 * x).grad_fn).__name__, x.grad_fn
        ('MulBackward0', None)
        """
        return None if self.is_leaf else public_target(self._edge)[0]

    @property
    def output_nr(self) -> int:
        """The number of the tensor among the outputs of `grad_fn`.

        Examples
        --------
        >>> x = wg.ones(2, 3, requires_grad=True)
        >>> [row.output_nr for row in x.unbind()]
        [0, 1]
        """
        return self._edge.index if isinstance(self._edge, OutputEdge) else 0

    @property
    def grad(self) -> Any:
        """The gradient accumulated by `backward`, or None.

        Leaves keep it; other tensors do after `retain_grad`. Set it to None to reset it.

        Examples
        --------
        >>> w = wg.tensor([1.0, 2.0], requires_grad=True)
        >>> (w**2).sum().backward()
        >>> w.grad
        tensor([2., 4.])
        >>> w.grad = None
        """
        ext = self._ext
        if ext is not None and ext.grad is not None:
            return ext.grad
        if not self.is_leaf and not self.retains_grad:
            warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its "
                ".grad attribute won't be populated during autograd.backward(). If you indeed want "
                "the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the "
                "non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you "
                "access the leaf Tensor instead.",
            )
        return None

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is None:
            if self._ext is not None:
                self._ext.grad = None
            return
        if isinstance(value, SparseValue):
            given: Any = value
            if (given.shape, given.dtype) != (self.shape, self.dtype):
                raise RuntimeError(
                    f"attempting to assign a sparse gradient of size '{list(given.shape)}' and "
                    f"dtype {given.dtype} to a tensor of size '{list(self.shape)}' and dtype "
                    f"{self.dtype}"
                )
            self._extra().grad = given
            return
        if not isinstance(value, TensorBase):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type "
                f"{type(value).__name__}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad")
        kind = gradient_kind(self)
        if kind is not None and value._payload.dtype != kind:
            raise RuntimeError(
                "attempting to assign a gradient with dtype "
                f"'{errors.long_name(value._payload.dtype).lower()}' to a tensor with grad_dtype "
                f"'{errors.long_name(kind)}': a gradient has its tensor's dtype, or grad_dtype"
            )
        if device_of(value._payload) != device_of(self._payload):
            raise RuntimeError(
                f"attempting to assign a gradient of device type "
                f"'{device_of(value._payload).type}' to a tensor of device type "
                f"'{self.device.type}': send it there first, by .to(device)"
            )
        if value._payload.shape != self._payload.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value._payload.shape)}' to a "
                f"tensor of size '{list(self._payload.shape)}'. Please ensure that the gradient "
                "and the tensor are the same size"
            )
        self._extra().grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    _grad = grad

    def retain_grad(self) -> None:
        """Keep the gradient of a non-leaf in `grad`; a leaf's is always kept.

        Raises
        ------
        RuntimeError: If the tensor does not require a gradient.

        Examples
        --------
        >>> h = 3 * wg.tensor([1.0, 5.0], requires_grad=True)
        >>> h.retain_grad()
        >>> h.square().sum().backward()
        >>> h.grad
        tensor([ 6., 30.])
        """
        hooks.retain_grad(self)

    @property
    def retains_grad(self) -> bool:
        """Whether this is a non-leaf whose gradient is kept.

        Examples
        --------
        >>> y = 2 * wg.ones(2, requires_grad=True)
        >>> y.retain_grad()
        >>> y.retains_grad
        True
        """
        return self._ext is not None and self._ext.retains and not self.is_leaf

    def register_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call ``hook(grad)`` whenever the gradient of the tensor is computed.

        If the hook returns something other than None, that replaces the gradient; it must have the
        same shape.

        Returns
        -------
        %(removable)s

        Raises
        ------
        RuntimeError: If the tensor does not require a gradient.

        Examples
        --------
        >>> x = wg.ones(2, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: 10 * grad)
        >>> x.sum().backward()
        >>> x.grad
        tensor([10., 10.])
        """
        return hooks.register_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call ``hook(tensor)`` whenever a backward pass has added to `grad` of this leaf.

        It runs as soon as the leaf's gradient is complete, and may consume it: for example, update
        the tensor under ``no_grad`` and set `grad` to None.

        Returns
        -------
        %(removable)s

        Raises
        ------
        RuntimeError: If the tensor is not a leaf that requires a gradient.

        Examples
        --------
        >>> x = wg.ones(2, requires_grad=True)
        >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
        >>> (3 * x).sum().backward()
        tensor([3., 3.])
        """
        return hooks.register_post_accumulate_grad_hook(self, hook)

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
        gradient : Tensor, optional. The vector of the vector-Jacobian product, of this tensor's
            shape; optional for a tensor with one element.
        retain_graph : bool, optional. Keep what the graph saved, for another pass; default: the
            value of `create_graph`.
        create_graph : bool. Record the pass itself, so that gradients can be differentiated.
        inputs : Tensor or sequence of Tensor, optional. Add to ``.grad`` of these only, leaves or
            not.

        Raises
        ------
        RuntimeError: If there is no history or more than one element and no `gradient`, if the
            graph was freed, or if a saved tensor was changed in place. In these cases no ``.grad``
            changes.

        Examples
        --------
        >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
        >>> (x**2).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        """
        if inputs is not None:
            single = isinstance(inputs, TensorBase | GradientEdge)
            inputs = [inputs] if single else list(inputs)
            if not inputs:
                raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        if gradient is not None and is_number(gradient) and self._payload.ndim == 0:
            raise TypeError(
                "gradients can be either Tensors or None, but got a number: pass "
                f"wg.tensor({gradient})"
            )
        keep = create_graph if retain_graph is None else retain_graph
        run_backward((self,), (gradient,), keep, create_graph, inputs)

    def detach(self) -> Tensor:
        """Return a tensor over the same memory, outside the graph, so that no gradient flows back.

        Examples
        --------
        >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x.detach()).sum().backward()
        >>> x.grad
        tensor([1., 2.])
        """
        if self._edge is not None:
            note(".detach()", self)
        payload = self._array()
        if isinstance(payload, Lifted):
            own, payload = payload.tensor(), payload.constant()
            if own is not None:
                return tensor_over(payload)
        detached: Tensor = new_tensor(payload, None, self._share_version())
        return placed_as(self, detached)

    def detach_(self) -> Tensor:
        """Remove the tensor from its graph, in place.

        Raises
        ------
        RuntimeError: If it is a view: use `detach`.

        Examples
        --------
        >>> (wg.ones(3, requires_grad=True) * 7).detach_()
        tensor([7., 7., 7.])
        """
        if self._is_view():
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
                "True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
                "these gradients."
            )
        payload = self._payload.constant() if isinstance(self._payload, Lifted) else self._payload
        if payload is not self._payload and has_views(self):
            raise NotImplementedError(
                "detach_() of a tensor that carries a tangent and has views, whose tangents would "
                "have no place beside its value: use detach()"
            )
        if self._edge is not None:
            note(".detach_()", self)
            self._edge = None
            if self._ext is not None and self._ext.views:
                require_grad_of_views(self, False)
        self._payload = payload
        return self

    @property
    def data(self) -> Any:
        """A tensor over the same memory, outside the graph and with a version of its own.

        The graph does not detect writes to it: prefer `detach`, or write under ``no_grad``.

        Examples
        --------
        >>> w = wg.ones(2, requires_grad=True)
        >>> w.data[0] = 5.0  # not recorded
        >>> w
        tensor([5., 1.], requires_grad=True)
        """
        if self._edge is not None:
            note(".data", self)
        cell = InferenceCell([1]) if is_inference(self) else None
        return placed_as(self, new_tensor(without_tangents(self), None, cell))

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    @data.setter
    def data(self, value: Any) -> None:
        if not isinstance(value, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self._edge is not None and not is_differentiable(value._payload.dtype):
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point "
                "or complex dtype"
            )
        if has_tangents(self._payload):
            raise NotImplementedError(
                "mutating directly with `.data` inside functorch transform is not allowed: the "
                "tensor carries a tangent. Write to it, or to its .data, in place"
            )
        self._payload = without_tangents(value)
        cell = self._vc
        if cell.__class__ is list:
            # counted for compiled calls, whose tape does not hold the tensor
            cell += [None, 0][len(cell) - 2 :]
            cell[3] += 1

    @property
    def _version(self) -> int:
        if is_inference(self):
            raise RuntimeError("Inference tensors do not track version counter.")
        untraced("it reads how often a tensor was written to")
        return version_of(self)

    def is_inference(self) -> bool:
        """Return whether the tensor was made in inference mode (see `wengert.inference_mode`).

        Examples
        --------
        >>> with wg.inference_mode():
        ...     y = wg.ones(2)
        >>> y.is_inference()
        True
        """
        return is_inference(self)

    @property
    def _base(self) -> Any:
        return None if self._ext is None or is_inference(self) else self._ext.base

    def _is_view(self) -> bool:
        return self._base is not None

    @property
    def name(self) -> str | None:
        """None: tensors have no names."""
        return None

    # -- Python's protocols -----------------------------------------------------------------------

    __getitem__ = getitem

    @_open_ended
    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        return PORTS.shown(self, contents=tensor_contents)

    def __format__(self, spec: str) -> str:
        return PORTS.formatted(self, spec)

    def __len__(self) -> int:
        if self._payload.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return int(self._payload.shape[0])

    def __iter__(self) -> Iterator[Any]:
        if self._payload.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(PORTS.namespace.unbind(self, dim=0))

    def __reversed__(self) -> Any:
        return PORTS.namespace.flip(self, dims=(0,)) if self._payload.ndim else self

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, TensorBase | np.ndarray) or is_number(value):
            return bool((self == value)._payload.any())
        raise RuntimeError(
            "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
            f"{type(value)}."
        )

    def __bool__(self) -> bool:
        if self._payload.size == 1:
            return bool(self._payload)
        if self._payload.size == 0:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
        raise RuntimeError(
            "Boolean value of Tensor with more than one value is ambiguous: use .any() or .all()"
        )

    def __index__(self) -> int:
        if self._payload.size != 1 or self._payload.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._payload.item())

    def _number(self) -> Any:
        if self._payload.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self._payload.item()

    def item(self) -> Any:
        """Return the value of a tensor with one element, as a Python number.

        Raises
        ------
        RuntimeError: If there are more elements, or none.

        Examples
        --------
        >>> wg.tensor([2.75]).item()
        2.75
        """
        if self._payload.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._payload.size} elements cannot be converted to Scalar"
            )
        if self._edge is not None:
            note(".item()", self)
        return self._payload.item()

    def tolist(self) -> Any:
        """Return the values as nested lists of Python numbers; a number for a 0-d tensor.

        Examples
        --------
        >>> wg.arange(3).reshape(3, 1).tolist()
        [[0], [1], [2]]
        """
        if self._edge is not None:
            note(".tolist()", self)
        return self._payload.tolist()


install_operators(Tensor)
