"""Layer 9 · compat: `Variable`, a mutable value that tapes watch when it is read.

A variable is not a tensor. Reading it returns a tensor with the current value, which later
assignments do not change. Each read that a tape follows is an operation with an edge to the
variable's `Source`, so the gradient with respect to the variable is the sum over all its reads.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, ClassVar

import numpy as np

from wengert.base.dtypes import is_differentiable
from wengert.base.error_states import errstate
from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.signatures import named
from wengert.compat.tensorflow.dtypes import DType, numpy_dtype, of_numpy
from wengert.compat.tensorflow.eager import written
from wengert.compat.tensorflow.environment import qualified
from wengert.compat.tensorflow.errors import invalid
from wengert.compat.tensorflow.infix import install
from wengert.compat.tensorflow.recording import Read, Source, active
from wengert.compat.tensorflow.shapes import TensorShape
from wengert.compat.tensorflow.tensor import DEVICE, Reference, Tensor, converted, made
from wengert.compat.tensorflow.words import refusal
from wengert.numpy.indexing import read
from wengert.tape.base import TensorBase, new_tensor


class VariableSynchronization(enum.Enum):
    """The synchronization of a variable among replicas: accepted, without effect here."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """The aggregation of updates among replicas: accepted, without effect here."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


def put(array, places, values) -> None:
    """Write parts to given positions of an array."""
    array[places] = values


_WAYS = (
    ("add", np.add.at, "Add to"),
    ("sub", np.subtract.at, "Subtract from"),
    ("mul", np.multiply.at, "Multiply"),
    ("div", np.divide.at, "Divide"),
    ("max", np.maximum.at, "Take the maximum with"),
    ("min", np.minimum.at, "Take the minimum with"),
    ("update", put, "Assign to"),
)


def _scatter(cls: type, name: str, function: Callable[..., Any], what: str) -> None:
    def scatter(self, sparse_delta, use_locking=False, name=None) -> Any:
        places, values = self._rows(sparse_delta)
        return self._scattered(function, places, values)

    doc = f"{what} the rows given by an `IndexedSlices`."
    setattr(cls, f"scatter_{name}", named(scatter, f"scatter_{name}", doc))

    def scatter_nd(self, indices, updates, name=None) -> Any:
        places = np.asarray(converted(indices)._payload)
        return self._scattered(function, tuple(np.moveaxis(places, -1, 0)), updates)

    doc = f"{what} the elements or slices at the rows of `indices`."
    setattr(cls, f"scatter_nd_{name}", named(scatter_nd, f"scatter_nd_{name}", doc))


def install_scatters(cls: type) -> None:
    """Install the scatter methods on the class of variables."""
    for name, function, what in _WAYS:
        _scatter(cls, name, function, what)


READERS: ContextVar[tuple[list[Any], ...]] = ContextVar("wengert_tf_readers", default=())
"""Lists that collect every trainable variable when it is read."""


_NUMBERS = itertools.count()
"""A counter in the order of creation."""


class _Cell:
    """The state that a variable shares with the handles that its assignments return."""

    __slots__ = ("number", "shape", "source", "value")

    def __init__(self, value, shape: TensorShape) -> None:
        self.number = next(_NUMBERS)
        self.value = value
        self.shape = shape
        self.source = Source(value)


class Variable:
    """A mutable value, shared by all references to the variable.

    Parameters
    ----------
    initial_value: An argument of `convert_to_tensor`, or a function without parameters that returns
        one.
    trainable : bool, optional. Whether tapes watch the variable when it is read; True by default.
    name : str, optional. The name, to which ``:0`` is appended.
    dtype : optional. The type to convert `initial_value` to.
    constraint : callable, optional. The function that an optimizer applies to the value after each
        step.
    shape : optional. A `TensorShape` with unknown sizes, for values whose shape may change.
    validate_shape, caching_device, variable_def, import_scope, synchronization, aggregation,
    experimental_enable_variable_lifting: Accepted, without effect.

    Raises
    ------
    ValueError: If `initial_value` is missing, or is a tensor of another dtype than `dtype`.

    Examples
    --------
    >>> x = tf.Variable(3.0, name="x")
    >>> x.assign_add(1.0)
    <tf.Variable 'UnreadVariable' shape=() dtype=float32, numpy=4.0>
    >>> with tf.GradientTape() as tape:
    ...     y = x**2
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=8.0>
    """

    __slots__ = ("__dict__", "__weakref__", "_cell", "_constraint", "_name", "_trainable")
    __array_priority__ = 100
    _save_slice_info: ClassVar[Any] = None

    def __init__(
        self,
        initial_value=None,
        trainable: bool | None = None,
        validate_shape=True,
        caching_device=None,
        name: str | None = None,
        variable_def=None,
        dtype=None,
        import_scope=None,
        constraint: Callable[..., Any] | None = None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
        shape=None,
        experimental_enable_variable_lifting=True,
    ) -> None:
        if initial_value is None:
            raise refusal(ValueError, "The `initial_value` arg")
        if callable(initial_value) and not isinstance(initial_value, TensorBase | Variable):
            initial_value = initial_value()
        try:
            value = converted(initial_value, numpy_dtype(dtype))._payload
        except ValueError as error:
            raise ValueError(f"initial_value: {error}") from None
        known = TensorShape(value.shape)
        if shape is not None:
            known.assert_is_compatible_with(shape)
            known = TensorShape(shape)
        self._cell = _Cell(_owned(value), known)
        self._name = qualified(name or "Variable") + ":0"
        self._trainable = trainable is None or bool(trainable)
        self._constraint = constraint

    # -- what it is -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name, with ``:0`` appended."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return of_numpy(self._cell.value.dtype)

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return self._cell.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self._cell.value.ndim)

    def get_shape(self) -> TensorShape:
        """Return the shape."""
        return self.shape

    @property
    def trainable(self) -> bool:
        """Whether tapes watch the variable automatically."""
        return self._trainable

    @property
    def constraint(self) -> Callable[..., Any] | None:
        """The function that an optimizer applies to the value after each step."""
        return self._constraint

    @property
    def device(self) -> str:
        """The device of the memory: always the CPU."""
        return DEVICE

    @property
    def synchronization(self) -> VariableSynchronization:
        """Always AUTO."""
        return VariableSynchronization.AUTO

    @property
    def aggregation(self) -> VariableAggregation:
        """Always NONE."""
        return VariableAggregation.NONE

    @property
    def handle(self) -> Any:
        """The identity of the variable; the same object throughout its life."""
        return self._cell.source

    @property
    def initial_value(self) -> Any:
        """Raise an error, as in eager TensorFlow."""
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    def is_initialized(self) -> Any:
        """Return True as a tensor: a variable always has a value."""
        return made(new_tensor(np.bool_(True)))

    def ref(self) -> Reference:
        """Return a hashable reference to this variable, for sets and dicts."""
        return Reference(self)

    # -- reading ----------------------------------------------------------------------------------

    def _as_tensor(self) -> Any:
        """Return the current value; active tapes may start to watch the variable."""
        cell = self._cell
        payload = cell.value
        context = active()
        if self._trainable:
            for readers in READERS.get():
                readers.append(self)
        if context is None:
            return made(new_tensor(payload))
        watched = False
        source = cell.source
        for tape in context.tapes:
            if self._trainable and tape.watches_variables:
                tape.watch(source)
                tape.variables.setdefault(id(source), self)
            watched = watched or tape.watches(source)
        watched = watched and is_differentiable(payload.dtype)
        found = new_tensor(payload, Read(source) if watched else None)
        found.__class__ = Tensor
        return found if context.lifts is None else context.lifts.read(self, found)

    def value(self) -> Any:
        """Return the current value as a tensor."""
        return self._as_tensor()

    def read_value(self) -> Any:
        """Return the current value as a tensor."""
        return self._as_tensor()

    def numpy(self) -> Any:
        """Return the value as a NumPy array; nothing done with it is recorded."""
        for readers in READERS.get() if self._trainable else ():
            readers.append(self)
        value = self._cell.value
        return value[()] if not value.ndim else value.copy()

    __array__ = Tensor.__array__

    def __float__(self) -> float:
        return float(self._as_tensor())

    def __int__(self) -> int:
        return int(self._as_tensor())

    def __complex__(self) -> complex:
        return complex(self._as_tensor())

    def __bool__(self) -> bool:
        return bool(self._as_tensor())

    def __index__(self) -> int:
        return self._as_tensor().__index__()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._as_tensor())

    def __getitem__(self, index) -> Any:
        part = self._as_tensor()[index]
        part.assign = lambda value, **_: self._assigned_at(index, value)
        return part

    def __setitem__(self, index, value) -> None:
        raise refusal(AttributeError, "'ResourceVariable' object has")

    def sparse_read(self, indices, name=None) -> Any:
        """Return the rows at `indices`."""
        return made(read(self._as_tensor(), np.asarray(converted(indices)._payload)))

    def gather_nd(self, indices, name=None) -> Any:
        """Return the elements or slices at the rows of `indices`."""
        places = np.asarray(converted(indices)._payload)
        return made(read(self._as_tensor(), tuple(np.moveaxis(places, -1, 0))))

    # -- assigning --------------------------------------------------------------------------------

    def _assigned(self, value, read_value=True) -> Any:
        self._cell.value = value
        return _Unread(self) if read_value else None

    def assign(self, value, use_locking=False, name=None, read_value=True) -> Any:
        """Assign another value to the variable.

        Tensors that were read before keep their values. No gradient flows from the variable to
        `value`.

        Returns
        -------
        Variable: A handle of the same variable, or None if `read_value` is false.

        Raises
        ------
        ValueError: If `value` is a tensor of another dtype, or has another shape.
        """
        given = converted(value, self._cell.value.dtype)._payload
        if not self.shape.is_compatible_with(given.shape):
            raise refusal(
                ValueError, "Cannot assign value", self._name, self.shape, TensorShape(given.shape)
            )
        return self._assigned(_owned(given), read_value)

    @errstate(all="ignore")
    def _updated(self, delta, sign: int, op_name: str, read_value: bool) -> Any:
        value = self._cell.value
        given = converted(delta, value.dtype)._payload
        if given.shape != value.shape:
            raise refusal(
                invalid, "Cannot update variable", _listed(value), _listed(given), operation=op_name
            )
        return self._assigned(value + given if sign > 0 else value - given, read_value)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True) -> Any:
        """Add to the value; otherwise like `assign`."""
        return self._updated(delta, 1, "AssignAddVariableOp", read_value)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True) -> Any:
        """Subtract from the value; otherwise like `assign`."""
        return self._updated(delta, -1, "AssignSubVariableOp", read_value)

    def _assigned_at(self, index, value) -> Any:
        changed = np.array(self._cell.value)
        where = index if isinstance(index, tuple) else (index,)
        changed[tuple(np.asarray(i) if isinstance(i, TensorBase) else i for i in where)] = (
            np.asarray(converted(value, changed.dtype)._payload)
        )
        return self._assigned(changed)

    def _scattered(self, function: Callable[..., Any], indices, updates) -> Any:
        changed = np.array(self._cell.value)
        given = np.asarray(converted(updates, changed.dtype)._payload)
        function(changed, indices, given)
        return self._assigned(changed)

    def _rows(self, delta) -> tuple[Any, Any]:
        if not (hasattr(delta, "indices") and hasattr(delta, "values")):
            raise TypeError(f"sparse_delta is not IndexedSlices: {delta}")
        return np.asarray(converted(delta.indices)._payload), delta.values

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None) -> Any:
        """Assign rows within each element of a batch: ``var[i, indices[i, j]] = values[i, j]``."""
        places, values = self._rows(sparse_delta)
        batch = np.indices(places.shape)[:-1]
        return self._scattered(put, (*batch, places), values)

    def __copy__(self) -> Any:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo) -> Any:
        made_ = Variable(
            np.array(self._cell.value),
            trainable=self._trainable,
            constraint=self._constraint,
            shape=self.shape,
        )
        made_._name = self._name
        memo[id(self)] = made_
        return made_

    def __reduce_ex__(self, protocol) -> Any:
        return _unpickled, (np.array(self._cell.value), self._trainable, self._name)

    # -- printing, keys ---------------------------------------------------------------------------

    def __repr__(self) -> str:
        text = written(self.numpy())
        return (
            f"<tf.Variable {self._name!r} shape={self.shape} dtype={self.dtype.name}, numpy={text}>"
        )

    def __hash__(self) -> int:
        raise refusal(TypeError, "Variable is unhashable.", self)


# the class's name in TensorFlow, which programs print
Variable.__name__ = Variable.__qualname__ = "ResourceVariable"


class _Unread(Variable):
    """The result of an assignment: a handle of the same variable with another name."""

    __slots__ = ()

    def __init__(self, variable: Variable) -> None:
        self._cell = variable._cell
        self._name = "UnreadVariable"
        self._trainable = variable._trainable
        self._constraint = variable._constraint


def _unpickled(value, trainable: bool, name: str) -> Variable:
    variable = Variable(value, trainable=trainable)
    variable._name = name
    return variable


def _owned(payload) -> Any:
    """Return the values in an array that is never written to."""
    return np.asarray(payload)


def _listed(value) -> str:
    return "[" + ",".join(map(str, value.shape)) + "]"


def _refused(symbol: str, method: str | None) -> Callable[..., Any]:
    advice = f"Use `variable.{method}(value)`" if method else "Use `variable.assign(...)`"

    def operator(self, other) -> Any:
        raise refusal(RuntimeError, "`variable {}= value`", symbol, advice, symbol)

    return operator


install(Variable, in_place=False)
install_scatters(Variable)
for _name, _symbol, _way in (
    ("add", "+", "assign_add"),
    ("sub", "-", "assign_sub"),
    ("mul", "*", None),
    ("truediv", "/", None),
    ("floordiv", "//", None),
    ("pow", "**", None),
    ("mod", "%", None),
    ("matmul", "@", None),
):
    setattr(Variable, f"__i{_name}__", _refused(_symbol, _way))

__all__ = defined(globals())
