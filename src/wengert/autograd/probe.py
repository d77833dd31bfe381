"""Layer 7 · autograd: values that a Function's `forward` computed and kept, but did not return.

NOTE [second derivatives through kept values]
`forward` is not recorded. If `backward` uses a value that `forward` computed from its inputs, and
that is neither an input nor an output, the graph that ``create_graph`` makes of `backward` holds
the value as a constant, and the second derivative is wrong without a word. Whether a kept value
depends on the inputs is found out when a graph of `backward` is first asked for: `forward` runs
once more on copies of the inputs, recorded this time, and the values that then require a gradient
are named in a warning. First-order passes pay nothing.
"""

from __future__ import annotations

import warnings
import weakref
from typing import Any

from wengert.base.dtypes import is_differentiable
from wengert.tape.base import LEAF, TensorBase, new_tensor
from wengert.tape.modes import enable_grad
from wengert.tape.node import is_leaf_edge

__all__ = ["Suspects"]

_warned: weakref.WeakSet[Any] = weakref.WeakSet()


class Suspects:
    """The tensors that a call of `forward` kept and that are neither inputs nor outputs."""

    __slots__ = ("arguments", "names")

    def __init__(self, node: Any, arguments: tuple[Any, ...], outputs: list[Any]) -> None:
        saved = [entry[0] for entry in node._saved if entry is not None]
        self.names = [
            name
            for name, value in _kept(node, saved, (*arguments, *outputs))
            if is_leaf_edge(value.edge) and is_differentiable(value.payload.dtype)
        ]
        # weakly, so that a first-order pass holds no more than it needs
        self.arguments = [
            weakref.ref(a) if isinstance(a, TensorBase) else lambda a=a: a
            for a in (arguments if self.names else ())
        ]

    def warn(self, function: Any, node: Any) -> None:
        """Warn, once for each Function, of kept values that depend on the inputs."""
        if function in _warned:
            return
        _warned.add(function)
        arguments = [reference() for reference in self.arguments]
        if any(
            a is None and need for a, need in zip(arguments, node.needs_input_grad, strict=True)
        ):
            return
        names = _dependent(function, node, arguments)
        if names:
            warnings.warn(
                f"second derivative of {function.__name__} goes through {', '.join(names)}, "
                "computed inside forward() and not returned: it is a constant to the graph, and "
                "second derivatives will be wrong. Return it as an extra output, recompute it in "
                "backward(), or decorate backward with @once_differentiable.",
                stacklevel=2,
            )


def _kept(node: Any, saved: list[Any], known: tuple[Any, ...]) -> list[tuple[str, Any]]:
    """The tensors on `node`, named as the user wrote them, that are not among `known`."""
    named = [(f"ctx.{key}", value) for key, value in vars(node).items() if key[0] != "_"]
    named += [(f"ctx.saved_tensors[{i}]", tensor) for i, tensor in enumerate(saved)]
    identities = {id(value) for value in known}
    return [
        (name, value)
        for name, value in named
        if isinstance(value, TensorBase) and id(value) not in identities
    ]


def _dependent(function: Any, node: Any, arguments: list[Any]) -> list[str]:
    """The kept values that require a gradient when `forward` is recorded."""
    again = type(node)(node.needs_input_grad)
    # copies, and not leaves, so that forward may write into them
    copies = tuple(
        new_tensor(a.payload.copy(), LEAF if need else None).clone()
        if isinstance(a, TensorBase)
        else a
        for a, need in zip(arguments, node.needs_input_grad, strict=True)
    )
    try:
        with enable_grad():
            output = function._call_forward(again, copies)
    except Exception:
        # forward cannot be recorded (it leaves the graph through NumPy, say): nothing to find
        return []
    outputs = output if isinstance(output, tuple | list) else (output,)
    saved = list(again._to_save)
    return [
        name for name, value in _kept(again, saved, (*copies, *outputs)) if value.edge is not None
    ]
