"""Layer 7 · autograd: `explain`, which says why a gradient is None, zero or an error."""

from __future__ import annotations

from typing import Any

from wengert.autograd.function import FunctionNode
from wengert.autograd.once import Error
from wengert.autograd.reasons import CURES, Explanation, listed, without_graph, without_path
from wengert.base.errors import describe
from wengert.tape.base import LEAF, TensorBase, node_of
from wengert.tape.node import Unrecorded, edge_of, public_target, target_of
from wengert.tape.paths import Paths, Reach, flat_nodes, same_edge, why_broken
from wengert.tape.sites import line_of

__all__ = ["Explanation", "explain"]


def explain(output: Any, input: Any) -> Explanation:
    """Explain why the gradient of `input` is None or zero, or why ``output.backward()`` raises.

    Parameters
    ----------
    output : Tensor. The tensor to differentiate, of any shape and dtype.
    input : Tensor. The tensor to differentiate with respect to, a leaf or not.

    Returns
    -------
    Explanation: Its text says what happened, where, and what to do; its attributes are data.

    Raises
    ------
    TypeError: If an argument is not a tensor.

    Notes
    -----
    A graph does not show where it was cut. So each thread remembers the last 16 places where a
    tensor that requires a gradient left its graph, or where recording was switched off; older ones
    are not found. The cause is certain if the output, or a tensor that its graph holds, shares the
    memory that was cut. If it is only known that a value depending on `input` was cut, the
    explanation says that it is a guess.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
    >>> y = x * 2
    >>> wg.autograd.explain((y * y).sum(), y).cause
    'not_a_leaf'
    >>> why = wg.autograd.explain((y.detach() * y.detach()).sum(), x)
    >>> why.cause, why.connected, why.certain
    ('detached', False, False)
    >>> w = wg.tensor([3.0, 4.0], requires_grad=True)
    >>> wg.autograd.explain(w.round().sum(), w)
    The gradient from output (float32 []) to input (float32 [2], a leaf) is zero everywhere.
        SumBackward0 -> RoundBackward0 -> AccumulateGrad
      Every path passes an operation that is constant except for jumps (RoundBackward0). Use the
      values from before it, or a smooth function in its place.
    """
    for name, value in (("output", output), ("input", input)):
        if not isinstance(value, TensorBase):
            raise TypeError(f"explain(): {name} must be a Tensor, not {type(value).__name__}")
    if input._edge is None:
        return _not_watched(output, input)
    if input._edge.__class__ is Unrecorded:
        return Explanation("no_grad", [*_UNRECORDED, CURES["no_grad"]])
    if output._edge is None or output._edge.__class__ is Unrecorded:
        return without_graph(output, input)
    root, target = edge_of(output), edge_of(input)
    reach = Reach(root)
    paths = Paths(reach, target)
    if same_edge(root, target) or node_of(root) in paths.between:
        return _with_path(output, input, reach, paths)
    return without_path(output, input, reach)


_UNRECORDED = (
    "No gradient: input is a view that was made while nothing was recorded, of a tensor that "
    "requires a gradient. As in PyTorch its requires_grad is True, and no gradient arrives at it.",
)


def _not_watched(output: Any, input: Any) -> Explanation:
    lines = [
        f"No gradient: input ({describe(input._payload)}) does not require one, so what is "
        "computed from it is not recorded."
    ]
    if input._payload.dtype.kind in "iub":
        lines.append(
            "Integers and booleans cannot: convert it first, as in input.float().requires_grad_()."
        )
    elif output._edge is not None and any(e is input for e in Reach(edge_of(output)).leaves):
        lines.append("It did when output was computed: requires_grad was switched off since.")
    lines += [
        "Write requires_grad=True where input is made, or call input.requires_grad_(), before "
        "output is computed from it.",
        "If input was itself computed from a tensor that requires a gradient, explain(input, that "
        "tensor) says where its graph was cut.",
    ]
    return Explanation("not_watched", lines)


# -- with a path -----------------------------------------------------------------------------------


def _with_path(output: Any, input: Any, reach: Reach, paths: Paths) -> Explanation:
    nodes = paths.shortest(edge_of(output))
    path = (*[node.label for node in nodes], target_of(edge_of(input))[0].label)
    what = "a leaf" if input._edge is LEAF else "not a leaf"
    ends = f"output ({describe(output._payload)}) to input ({describe(input._payload)}, {what})"
    lines = [f"A gradient flows from {ends}.", f"  {_shortened(path)}"]
    for node in reach.nodes:
        found = _why_broken(node) if node in paths.between else None
        if found is not None:
            lines[0] = f"A path leads from {ends}, but no gradient can be computed."
            site = line_of(node)
            lines += found[1]
            if site:
                lines.append(f"{node.label} was recorded at {site}")
            return Explanation(found[0], lines, path=path, sites=(site,) if site else ())
    if nodes and nodes[0] not in paths.passing:
        names = ", ".join(dict.fromkeys(node.label for node in flat_nodes(nodes)))
        lines[0] = f"The gradient from {ends} is zero everywhere."
        lines += [
            f"Every path passes an operation that is constant except for jumps ({names}). Use the "
            "values from before it, or a smooth function in its place.",
        ]
        return Explanation("zero", lines, path=path)
    cause = "connected"
    if input._edge is not LEAF and not input.retains_grad:
        cause = "not_a_leaf"
        lines += _not_a_leaf(input)
    elif input._ext is not None and input._ext.grad is not None:
        lines.append("input.grad holds what the backward passes so far have added to it.")
    else:
        lines += [
            "input.grad is None, since no backward pass has added to it since it was made or set "
            "to None: call output.backward(). What autograd.grad() returns is not added to it, nor "
            "is anything by a backward(inputs=...) that does not name it.",
        ]
        if input._ext is not None and input._ext.post_hooks:
            lines.append("It has hooks that run after each pass, which may have taken it away.")
    if output._payload.size != 1:
        lines.append(
            f"output has {output._payload.size} elements: reduce it, as in output.sum(), or pass "
            "backward() a gradient."
        )
    lines += _remarks(nodes, reach, paths)
    return Explanation(cause, lines, path=path)


def _why_broken(node: Any) -> tuple[str, list[str]] | None:
    """Return why a node cannot be run backwards, as a cause and lines of text; None if it can."""
    if isinstance(node, Error):
        return "once_differentiable", [f"{node.message}."]
    if isinstance(node, FunctionNode) and node._saved is None:
        found: tuple[str, str] | None = ("freed", "")
    else:
        found = why_broken(node)
    if found is None:
        return None
    cause, message = found
    if cause == "freed":
        return cause, [
            f"The graph was freed: an earlier backward() or autograd.grad() has used up the values "
            f"that {node.label} had saved.",
            "Compute output again, after what it shares with other outputs; or pass "
            "retain_graph=True to the earlier call.",
        ]
    return cause, message.split("\n")


def _not_a_leaf(input: Any) -> list[str]:
    node = public_target(input._edge)[0]
    leaves = listed(Reach(edge_of(input)).leaves)
    return [
        f"input.grad is not kept, since input is not a leaf: {node.label} made it"
        + (f" from {leaves}." if leaves else "."),
        "Call input.retain_grad() before backward(), or use autograd.grad(output, input). If a "
        "line such as x = x * 0.1, or x = tensor(..., requires_grad=True) * 0.1, made it, the leaf "
        "is the tensor before the operation: give it a name of its own.",
    ]


def _remarks(nodes: list[Any], reach: Reach, paths: Paths) -> list[str]:
    """Return remarks on other reasons why a gradient may not arrive."""
    lines = []
    custom = dict.fromkeys(n.function.__name__ for n in nodes if isinstance(n, FunctionNode))
    if custom:
        lines.append(
            "If the gradient is None even so: the path passes custom Functions, whose backward "
            f"may return None ({', '.join(custom)})."
        )
    for node in reach.nodes:
        found = None if node in paths.between else _why_broken(node)
        if found is not None:
            lines.append(
                f"backward() raises all the same, because of {node.label}, which is on no path to "
                f"input ({found[0]}); autograd.grad(output, input) does not."
            )
            break
    return lines


def _shortened(path: tuple[str, ...]) -> str:
    names = list(path)
    if len(names) > 8:
        names[4:-3] = [f"({len(names) - 7} more)"]
    return " -> ".join(names)
