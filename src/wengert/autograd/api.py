"""Layer 7 · autograd: `backward` and `grad`, with PyTorch's arguments."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, overload

from wengert.base import errors
from wengert.base.containers import field_names, flatten
from wengert.base.ports import PORTS
from wengert.tape.backward import run_backward, run_grad
from wengert.tape.base import SparseValue, TensorBase, new_tensor
from wengert.tape.detachments import note, without_tangents
from wengert.tape.node import GradientEdge
from wengert.tape.sites import warn
from wengert.tape.watch import CURRENT
from wengert.types import Tensor

Sources: TypeAlias = Tensor | GradientEdge | Iterable[Tensor] | Iterable[GradientEdge]
"""The outputs or the inputs of a derivative."""


class _Sparse(list[Any]):
    """A list with sparse tensors in it."""


def _sources(value: Any, what: str) -> list[Any]:
    """Return one tensor or gradient edge, or a sequence of them, as a list."""
    if isinstance(value, TensorBase):
        return [value]
    values = [value] if isinstance(value, GradientEdge | SparseValue) else list(value)
    for i, item in enumerate(values):
        if isinstance(item, TensorBase | GradientEdge):
            continue
        if not isinstance(item, SparseValue):
            if isinstance(value, Mapping):
                raise TypeError(f"`{what}` argument must be a dict, not {type(value).__name__}")
            raise TypeError(
                f"{what}[{i}] must be a Tensor or a GradientEdge, but got {type(item).__name__}"
            )
        values = _Sparse(values)
    return values


def _gradients(value: Any, count: int, what: str) -> list[Any]:
    if value is None:
        return [None] * count
    values = [value] if isinstance(value, TensorBase | SparseValue) else list(value)
    for i, item in enumerate(values):
        if not isinstance(item, TensorBase | SparseValue) and item is not None:
            raise TypeError(f"{what}[{i}] must be a Tensor, but got {type(item).__name__}")
    return values


def _stored(sources: list[Any]) -> list[Any]:
    """Return sources with the values of sparse tensors in their place; the list itself if none."""
    if sources.__class__ is list:
        return sources
    return [x.stored() if isinstance(x, SparseValue) else x for x in sources]


def _seeded(outputs: Any, vectors: Any, what: str) -> tuple[list[Any], list[Any]]:
    """Return the outputs and their vectors, of sparse tensors the values and their parts."""
    sources = _sources(outputs, "outputs" if what == "grad_outputs" else "tensors")
    given = _gradients(vectors, len(sources), what)
    values = _stored(sources)
    if values is not sources and len(given) == len(sources):
        triples = zip(sources, values, given, strict=True)
        given = [g if one is held or g is None else one.at_stored(g) for one, held, g in triples]
    return values, given


def _is_checkpoint_valid() -> bool:
    """Return whether a backward pass that begins here reaches all leaves, as the current one."""
    walk = CURRENT.get()
    return walk is None or walk.targets is None


def _calculate_shape(output: Any, grad: Any, is_grads_batched: bool) -> tuple[Any, Any]:
    """Return the shapes of an output and of its cotangent, which may be batched."""
    return output.shape, grad.shape[1:] if is_grads_batched else grad.shape


def backward(
    tensors: Sources,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Sources | None = None,
) -> None:
    """Add the gradients of `tensors` to ``.grad`` of the leaves that they depend on.

    Parameters
    ----------
    tensors : Tensor, GradientEdge, or sequence of them. The outputs, floating or complex.
    grad_tensors : Tensor, None, or sequence of them, optional. The vector of each vector-Jacobian
        product, of the output's shape; may be None for an output with one element.
    retain_graph : bool, optional. Keep what the graph saved, for another backward pass; default:
        the value of `create_graph`.
    create_graph : bool. Record the pass itself, so that gradients can be differentiated.
    inputs : Tensor, GradientEdge, or sequence of them, optional. Add to ``.grad`` of these only,
        leaves or not.

    Raises
    ------
    RuntimeError: If an output has no history, or more than one element and no vector; if the graph
        was freed; if a saved tensor was changed in place. No ``.grad`` has changed then.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> wg.autograd.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    if grad_variables is not None:
        warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    outputs, grads = _seeded(tensors, grad_tensors, "grad_tensors")
    targets = None
    if inputs is not None:
        targets = _stored(_sources(inputs, "inputs"))
        if not targets:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    keep = create_graph if retain_graph is None else retain_graph
    run_backward(outputs, grads, keep, create_graph, targets)


@overload
def grad(
    outputs: Sources, inputs: dict[str, Tensor], *args: Any, **kwargs: Any
) -> dict[str, Tensor]: ...
@overload
def grad(
    outputs: Sources,
    inputs: Sources,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]: ...
def grad(
    outputs: Sources,
    inputs: Sources | dict[str, Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...] | dict[str, Tensor]:
    """Return the gradients of the sum of `outputs` with respect to `inputs`.

    No ``.grad`` changes.

    Parameters
    ----------
    outputs, inputs : Tensor, GradientEdge, or sequence of them. The tensors to differentiate, and
        those to differentiate with respect to, leaves or not; `inputs` may be a dict or dataclass.
    grad_outputs : Tensor, None, or sequence of them, optional. The vector of each vector-Jacobian
        product; may be None for an output with one element.
    retain_graph : bool, optional. Keep what the graph saved, for another pass; default: the value
        of `create_graph`.
    create_graph : bool. Record the pass itself, so that the results can be differentiated.
    only_inputs : bool. Has no effect: no ``.grad`` changes in any case. False warns, as in PyTorch.
    allow_unused : bool, optional. Return None for an input that no output depends on, instead of
        raising; default: the value of `materialize_grads`.
    is_grads_batched : bool. Whether the first dimension of each of `grad_outputs` is a batch of
        vectors: one backward pass, under `vmap`, computes a product for each.
    materialize_grads : bool. Return zeros instead of None.

    Returns
    -------
    tuple of Tensor: One for each input, of its shape and dtype; with `is_grads_batched` the batch
        dimension comes first. For a dict or a dataclass of inputs, one like it.

    Raises
    ------
    RuntimeError: If an input does not require a gradient or was not used; and as `backward` does.

    Examples
    --------
    >>> x = wg.tensor(3.0, requires_grad=True)
    >>> (dy,) = wg.autograd.grad(x**3, x, create_graph=True)
    >>> dy, wg.autograd.grad(dy, x)
    (tensor(27., grad_fn=<MulBackward0>), (tensor(18.),))
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    if not only_inputs:
        warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    results, vectors = _seeded(outputs, grad_outputs, "grad_outputs")
    rebuilt: Any = tuple
    if type(inputs) is dict or (
        not isinstance(inputs, TensorBase | list | tuple) and field_names(inputs) is not None
    ):
        inputs, rebuilt = flatten(inputs)
    given = _sources(inputs, "inputs")
    sources = _stored(given)
    if not sources:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        batches = importlib.import_module("wengert.autograd.batches")
        grads = batches.gradients_of_batch(results, sources, vectors, keep, create_graph)
    else:
        grads = run_grad(results, sources, vectors, keep, create_graph)
    if any(g is None for g in grads):
        of_batch = vectors if is_grads_batched else ()
        grads = [
            _unused(source, i, allow_unused, materialize_grads, of_batch, create_graph)
            if g is None
            else g
            for i, (g, source) in enumerate(zip(grads, sources, strict=True))
        ]
    if sources is not given:
        pairs = zip(given, sources, grads, strict=True)
        grads = [g if x is values or g is None else x.gradient(g) for x, values, g in pairs]
    return rebuilt(grads)


def _unused(
    source: Any, index: int, allow: bool, materialize: bool, vectors: Sequence[Any], graph: bool
) -> Any:
    edge = isinstance(source, GradientEdge)
    if materialize:
        shape, dtype = (
            (source.shape, source.np_dtype)
            if edge
            else (source._payload.shape, source._payload.dtype)
        )
        if shape is None:
            raise RuntimeError(
                "materialize_grads cannot be used when the given input is a GradientEdge made by "
                f"hand, whose shape is not known: inputs[{index}]. Make it with "
                "get_gradient_edge(tensor)."
            )
        count = next((v.shape[:1] for v in vectors if v is not None), ())
        zeros = PORTS.namespace.zeros(shape=(*count, *shape), dtype=dtype)
        return zeros.requires_grad_(graph)
    if not allow:
        what = source.node.name() if edge else errors.describe(source._payload)
        raise RuntimeError(
            f"The differentiated Tensor at index {index} appears to not have been used in the "
            "graph. Set allow_unused=True if this is the desired behavior. (It is "
            f"{what}; no path leads to it from the outputs. wengert.autograd.explain(output, "
            "input) says why.)"
        )
    return None


class ExecutionEngine:
    """The engine, under the name that programs use to hook into it."""

    def queue_callback(self, callback: Callable[[], Any]) -> None:
        """Call `callback` when the current backward pass has ended.

        Raises
        ------
        RuntimeError: If no backward pass is running. Call it from a hook, or from the `backward` of
            a custom Function.
        """
        walk = CURRENT.get()
        if walk is None:
            raise RuntimeError(
                "Final callbacks can only be installed during backward pass: queue them in a hook"
            )
        walk.queue(callback)


class _VariableMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_VariableMeta):
    """The old name of `Tensor`: ``Variable(tensor, requires_grad=True)`` returns a tensor.

    Examples
    --------
    >>> wg.autograd.Variable(wg.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """

    _execution_engine = ExecutionEngine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        """Make a tensor that shares the memory of `data`, outside its graph."""
        if volatile:
            warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
        if data is None:
            raise TypeError("Variable(): argument 'data' must be a Tensor")
        if not isinstance(data, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        if data._edge is not None:
            note("Variable(t)", data)
        tensor = new_tensor(without_tangents(data), None, data._share_version())
        return tensor.requires_grad_(True) if requires_grad else tensor
