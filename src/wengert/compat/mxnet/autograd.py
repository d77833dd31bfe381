"""Layer 9 · compat: ``mxnet.autograd``: recording scopes, backward passes, custom Functions.

>>> x = np.array([1.0, 2.0])
%(recording)s
...     y = (x**2).sum()
%(backward_pass)s
array([2., 4.])
"""

from __future__ import annotations

from typing import Any

from wengert.autograd import Function as _TapeFunction
from wengert.compat.mxnet import backprop
from wengert.compat.mxnet.arrays import NDArray
from wengert.compat.mxnet.base import MXNetError, public, refusal, reraise, shown
from wengert.compat.mxnet.results import adopt, mark, operand
from wengert.compat.mxnet.state import RECORDING, TRAINING, Modes
from wengert.tape.base import TensorBase
from wengert.tape.modes import no_grad

# -- modes -----------------------------------------------------------------------------------------


def record(train_mode=True) -> Any:
    """Record operations inside a ``with`` block.

    Parameters
    ----------
    train_mode : bool. The value of `is_training`, which dropout and batch normalisation read.

    Examples
    --------
    >>> with autograd.record():
    ...     autograd.is_recording(), autograd.is_training()
    (True, True)
    """
    return Modes(True, bool(train_mode))


def pause(train_mode=False) -> Any:
    """Stop recording inside a ``with`` block; its results are constants."""
    return Modes(False, bool(train_mode))


def train_mode() -> Any:
    """Set `is_training` inside a ``with`` block; recording is unchanged."""
    return Modes(None, True)


def predict_mode() -> Any:
    """Clear `is_training` inside a ``with`` block; recording is unchanged."""
    return Modes(None, False)


def is_recording() -> bool:
    """Return whether operations are recorded."""
    return RECORDING.get()


def is_training() -> bool:
    """Return whether layers are in training mode."""
    return TRAINING.get()


def set_recording(is_recording: bool) -> bool:
    """Switch recording on or off, and return the previous setting."""
    before = RECORDING.get()
    RECORDING.set(bool(is_recording))
    return before


def set_training(train_mode: bool) -> bool:
    """Switch training on or off, and return the previous setting."""
    before = TRAINING.get()
    TRAINING.set(bool(train_mode))
    return before


# -- gradients -------------------------------------------------------------------------------------


def _listed(value, name: str) -> list[Any]:
    if isinstance(value, NDArray):
        return [value]
    if not isinstance(value, list | tuple):
        raise TypeError(f"{name} must be an NDArray or a list of them, got {shown(value)}")
    for i, part in enumerate(value):
        if not isinstance(part, NDArray) and not (name == "head_grads" and part is None):
            raise TypeError(f"{name}[{i}] must be an NDArray, got {shown(part)}")
    return list(value)


def mark_variables(variables, gradients, grad_reqs="write") -> None:
    """Attach the given arrays as gradients (see `NDArray.attach_grad`).

    Parameters
    ----------
    variables, gradients : NDArray or list of NDArray. Arrays and their gradients, of the same
        number and shapes.
    grad_reqs : str or list of str. ``"write"``, ``"add"`` or ``"null"``.

    Raises
    ------
    MXNetError: If their numbers or shapes differ; nothing is changed.

    Examples
    --------
    >>> x, dx = nd.ones(2), nd.zeros(2)
    >>> autograd.mark_variables(x, dx)
    >>> with autograd.record():
    ...     y = 3 * x
    >>> y.backward()
    >>> dx.asnumpy()
    array([3., 3.], dtype=float32)
    """
    arrays, buffers = _listed(variables, "variables"), _listed(gradients, "gradients")
    requests = [grad_reqs] * len(arrays) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(arrays) == len(buffers) == len(requests):
        raise refusal(
            MXNetError, "mark_variables: {} variables,", len(arrays), len(buffers), len(requests)
        )
    for i, (array, buffer, request) in enumerate(zip(arrays, buffers, requests, strict=True)):
        if request not in ("null", "write", "add"):
            raise KeyError(f"{request!r}: grad_reqs must be 'write', 'add' or 'null'")
        if array.shape != buffer.shape:
            raise refusal(
                MXNetError, "mark_variables: variables[{}] has", i, array.shape, i, buffer.shape
            )
    for array, buffer, request in zip(arrays, buffers, requests, strict=True):
        mark(array, buffer, request)


def _heads(heads, head_grads) -> tuple[list[Any], list[Any]]:
    arrays = _listed(heads, "heads")
    if head_grads is None:
        return arrays, [None] * len(arrays)
    grads = _listed(head_grads, "head_grads")
    if len(grads) != len(arrays):
        raise AssertionError("heads and head_grads must be lists of the same length")
    return arrays, grads


def backward(heads, head_grads=None, retain_graph=False, train_mode=True) -> None:
    """Compute the gradients of arrays with respect to all arrays with an attached gradient.

    Parameters
    ----------
    heads : NDArray or list of NDArray. Recorded results; several are summed.
    head_grads : NDArray or list of NDArray or None. The cotangents of `heads`; default: ones.
    retain_graph : bool. Whether to keep the graph for another pass; otherwise its arrays become
        constants.
    train_mode : bool. The value of `is_training` during the pass.

    Raises
    ------
    MXNetError: If one of `heads` was not recorded, or its graph has been used up; no gradient is
        changed.
    """
    arrays, grads = _heads(heads, head_grads)
    backprop.backward(arrays, grads, retain_graph, train_mode)


def grad(
    heads,
    variables,
    head_grads=None,
    retain_graph: bool | None = None,
    create_graph=False,
    train_mode=True,
) -> list[Any]:
    """Return gradients as new arrays; attached gradients stay unchanged.

    Parameters
    ----------
    heads : NDArray or list of NDArray
    variables : NDArray or list of NDArray. Arrays with an attached gradient, or recorded ones.
    head_grads : NDArray or list of NDArray or None
    retain_graph : bool, optional. Default: the value of `create_graph`.
    create_graph : bool. Whether to record the pass, so that its results can be differentiated.
    train_mode : bool

    Returns
    -------
    list of NDArray: The gradients; a list even for a single variable, as in MXNet.

    Raises
    ------
    MXNetError: If one of `heads` was not recorded, or does not depend on a variable.

    Examples
    --------
    >>> x = np.array([1.0, 2.0])
    %(recording)s
    ...     (dx,) = autograd.grad(x**3, x, create_graph=True)
    >>> dx.backward()
    >>> x.grad
    array([ 6., 12.])
    """
    arrays, grads = _heads(heads, head_grads)
    sources = _listed(variables, "variables")
    if not sources:
        raise AssertionError("variables cannot be an empty list.")
    keep = create_graph if retain_graph is None else retain_graph
    for i, source in enumerate(sources):
        if source._edge is None:
            raise _unreachable(i, "it has no attached gradient, and was not recorded")
    found = backprop.gradients(arrays, sources, grads, keep, create_graph, train_mode)
    for i, g in enumerate(found):
        if g is None:
            raise _unreachable(i, "the heads were computed without it, or outside of record()")
    return [adopt(g, type(source)) for g, source in zip(found, sources, strict=True)]


def _unreachable(index: int, why: str) -> MXNetError:
    return MXNetError(
        "Check failed: output_grads.find(xs[i].node.get()) != output_grads.end(): Cannot "
        f"differentiate with respect to the {index + 1}-th variable because it is unreachable from "
        f"the outputs. (variables[{index}]: {why}.)"
    )


# -- custom Functions ------------------------------------------------------------------------------


class Recorded(_TapeFunction):
    """The node of a call of a `Function`; each class of functions has its own subclass."""

    @staticmethod
    def forward(ctx, function, *inputs) -> Any:
        """Compute the instance's `forward`."""
        ctx.instance = function
        outputs = function.forward(*inputs)
        ctx.save_for_backward(*function._saved)
        function._saved = None
        function._ctx = ctx
        return outputs

    @staticmethod
    def backward(ctx, *cotangents) -> Any:
        """Compute the gradients with the instance's `backward`."""
        function = ctx.instance
        cls = function._class
        function._ctx = ctx
        grads = function.backward(*[adopt(g, cls) for g in cotangents])
        if isinstance(grads, TensorBase):
            grads = (grads,)
        name = type(function).__name__
        if len(grads) != function._count:
            raise refusal(
                AssertionError, "{}.backward must return", name, function._count, len(grads)
            )
        for g in grads:
            if g is not None and not isinstance(g, TensorBase):
                raise refusal(AssertionError, "autograd.Function.backward must return", type(g))
        return (None, *grads)


class Function:
    """An operation with a custom derivative.

    A subclass defines `forward`, which computes with arrays without recording, and `backward`,
    which maps the gradients of the results to those of the arguments. An instance is called once.

    Examples
    --------
    >>> class Sigmoid(autograd.Function):
    ...     def forward(self, x):
    ...         y = 1 / (1 + np.exp(-x))
    ...         self.save_for_backward(y)
    ...         return y
    ...     def backward(self, dy):
    ...         (y,) = self.saved_tensors
    ...         return dy * y * (1 - y)
    >>> x = np.array([0.0])
    %(recording)s
    ...     y = Sigmoid()(x)
    %(backward_pass)s
    array([0.25])
    """

    _recorder: Any = Recorded

    def __init_subclass__(cls, **kwargs) -> None:
        super().__init_subclass__(**kwargs)
        cls._recorder = type(cls.__name__, (Recorded,), {})

    _used = False
    _saved: Any = ()
    _ctx: Any = None
    _class: Any = NDArray
    _count = 0

    def forward(self, *inputs) -> Any:
        """Compute the results; a subclass defines it."""
        raise NotImplementedError

    def backward(self, *output_grads) -> Any:
        """Return the gradients of the arguments of `forward`; a subclass defines it."""
        raise NotImplementedError

    def save_for_backward(self, *args) -> None:
        """Keep arrays for `backward`, in `saved_tensors`."""
        self._saved = args

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The values given to `save_for_backward`."""
        if self._saved is not None:
            return tuple(self._saved)
        return tuple(self._shown(value) for value in self._ctx.saved_tensors)

    def _shown(self, value) -> Any:
        if not isinstance(value, TensorBase) or isinstance(value, NDArray):
            return value
        return adopt(value, self._class)

    def __call__(self, *inputs) -> Any:
        """Apply `forward` to arrays; recorded as one operation inside ``record()``."""
        if self._used:
            raise refusal(AssertionError, "Each Function instance")
        self._used = True
        self._count = len(inputs)
        self._class = next((type(x) for x in inputs if isinstance(x, NDArray)), NDArray)
        recorded = RECORDING.get()
        try:
            with Modes(False, None):
                if not recorded:
                    with no_grad():
                        return self.forward(*inputs)
                given = [_outside(x) for x in inputs]
                result = type(self)._recorder.apply(self, *given)
        except (RuntimeError, ValueError) as error:
            reraise(error)
        return adopt(result, self._class)


class _Graph:
    """The graph that an array was computed by."""

    def __init__(self, head) -> None:
        self._head = head

    def list_arguments(self) -> list[str]:
        """Return a name for each leaf of the graph."""
        found: set[int] = set()
        seen: set[int] = set()
        stack = [self._head]
        while stack:
            node = stack.pop()
            if node is None or id(node) in seen:
                continue
            leaf = getattr(node, "variable", None)
            if leaf is not None:
                found.add(id(leaf))
                continue
            seen.add(id(node))
            stack += [after for after, _ in node.next_functions]
        return [f"var{i}" for i in range(len(found))]

    def list_outputs(self) -> list[str]:
        """Return the name of the output."""
        return [f"{self._head.name().lower()}_output"]

    def __getattr__(self, name: str) -> Any:
        raise refusal(AttributeError, "the graph of", name)


def get_symbol(x) -> Any:
    """Return the graph that an array was computed by; it has ``list_arguments``.

    Raises
    ------
    MXNetError: If the array was not recorded.

    Examples
    --------
    >>> x = np.ones(2)
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = x * x + 2 * x
    >>> autograd.get_symbol(y).list_arguments()
    ['var0']
    """
    head = x.grad_fn
    if head is None:
        raise MXNetError("the array was not computed inside of autograd.record()")
    return _Graph(head)


def _outside(value) -> Any:
    """Return an argument in the form that operations outside the Function receive."""
    with Modes(True, None):
        return operand(value, writes=True)


__all__ = public(globals(), "NDArray")
