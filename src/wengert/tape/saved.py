"""Layer 4 · tape: the saved values of nodes: their checks, and the attributes that show them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base import errors
from wengert.base.sections import fill_sections
from wengert.prims.record import METADATA, Primitive, names_of
from wengert.tape.base import FREED, OutputEdge, new_tensor, version_of, version_then
from wengert.tape.node import Node, edge_of, target_of
from wengert.tape.saving import Guarded, Packed, stood_in
from wengert.tape.sites import line_of, shown


def check_saved(node: Node, name: str, saved: Any, at: int | None = None) -> Any:
    """Return a saved argument as a tensor; raise if it was freed, or written to since.

    If `name` stands for any number of arguments, `at` is the number of the one to check.
    """
    if saved is FREED:
        raise errors.backward_twice(node.label, line_of(node))
    if isinstance(saved, Packed | Guarded):
        return stood_in(node, saved)
    position = _position(node, name) if at is None else at
    expected = version_then(node, position)
    if version_of(saved) != expected:
        raise errors.modified_in_place(
            saved._payload,
            _origin(node, node.prim.args.index(name) if at is None else at),
            saved._vc,
            expected,
            node.label,
            name,
            *sites_of(node, saved._vc),
        )
    return saved


def check_result(node: Any) -> Any:
    """Return the values of a saved output; raise if it was freed, or written to since."""
    if node.result is FREED:
        raise errors.backward_twice(node.label, line_of(node))
    if isinstance(node.result, Packed | Guarded):
        return stood_in(node, node.result)._payload
    raise errors.modified_in_place(
        node.result,
        f"output 0 of {node.label}",
        node.result_vc,
        node.result_at,
        node.label,
        "result",
        *sites_of(node, node.result_vc),
    )


def sites_of(node: Any, cell: Any) -> tuple[str, str]:
    """Return the lines that recorded `node` and that last wrote to the memory, if noted."""
    return line_of(node), shown((list(cell[2]), None)) if len(cell) > 2 and cell[2] else ""


def _position(node: Node, name: str) -> int:
    return node.prim.saved_args.index(name)


def _origin(node: Node, at: int) -> str:
    source, index = target_of(node.edges[at])
    return "" if source is None else f"output {index} of {source.name().split('::')[-1]}"


def unpack(node: Any, name: str, raw: bool) -> Any:
    """Return a rule's argument `name`: a payload, or with ``raw=False`` a tensor in the graph."""
    prim = node.prim
    if name in prim.args:
        saved = getattr(node, f"s_{name}")
        if isinstance(saved, tuple):
            return tuple(
                _unpack_argument(node, name, s, raw, node.edges[i], i) for i, s in enumerate(saved)
            )
        if saved is None:
            return None
        return _unpack_argument(node, name, saved, raw, node.edges[prim.args.index(name)])
    if name == "result":
        result = node.result
        if isinstance(result, Packed | Guarded):
            result = stood_in(node, result)._payload
        elif result is FREED or node.result_vc[0] != node.result_at:
            check_result(node)
        if raw:
            return result
        ext = node._ext
        if ext is not None and ext.result_edge is not None:
            edge = ext.result_edge()
        else:
            edge = OutputEdge(node, 0) if node.several else node
        # an unpacked payload is not shared, so it needs no version cell
        return new_tensor(result, edge, None if result is not node.result else node.result_vc)
    if name in prim.params:
        value = getattr(node, f"p_{name}")
        if value is FREED:
            raise errors.backward_twice(node.label)
        return _unpacked(value)
    return getattr(node, name)


def _is_packed(part: Any) -> bool:
    return isinstance(part, Packed)


def _unpacked(value: Any) -> Any:
    """Return a parameter with its packed arrays unpacked."""
    if isinstance(value, tuple) and any(map(_is_packed, value)):
        return tuple(part._payload if _is_packed(part) else part for part in value)
    return value


def _unpack_in_passes(node: Any, name: str) -> None:
    """Make passes over `node` unpack a parameter's arrays before its rules, and repack after."""
    held: Any = None

    def unpack(grads: Any) -> None:
        nonlocal held
        held = node.kept(name)
        node.keep(name, _unpacked(held))

    def put_back(inputs: Any, outputs: Any) -> None:
        if node.kept(name) is not FREED:
            node.keep(name, held)

    node.register_prehook(unpack)
    node.register_hook(put_back)


def _unpack_argument(
    node: Any, name: str, saved: Any, raw: bool, edge: Any, at: int | None = None
) -> Any:
    if saved is FREED or saved._vc is not None or isinstance(saved, Packed | Guarded):
        saved = check_saved(node, name, saved, at)
    if raw:
        return saved._payload
    # the tensor may have left the graph since (detach_, requires_grad_): the edge records its
    # former state
    if edge_of(saved) is edge:
        return saved
    return new_tensor(saved._payload, edge, saved._vc)


_TENSORS = ("indices",)
"""Parameters that users see as tensors."""


class SavedTensor:
    """A tensor that a node keeps for the backward pass: ``grad_fn._raw_saved_self``.

    Examples
    --------
    >>> node = wg.tensor([0.0], requires_grad=True).exp().grad_fn
    >>> node._raw_saved_result.data
    tensor([1.], grad_fn=<ExpBackward0>)
    """

    __slots__ = ("_at", "_name", "_node")
    _at: int | None
    _name: str
    _node: Any

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @classmethod
    def of(cls, node: Any, name: str, at: int | None = None) -> SavedTensor:
        """Return the tensor that `node` saved as `name`; of several, number `at`."""
        saved = cls.__new__(cls)
        saved._node, saved._name, saved._at = node, name, at
        return saved

    @property
    def data(self) -> Any:
        """The stored value: the tensor, or its packed form."""
        held = self._held()
        if isinstance(held, Packed):
            return held.packed
        return self.unpack()

    @property
    def unpack_hook(self) -> Callable[[Any], Any] | None:
        """The hook that unpacks `data`, or None if no hook packed it."""
        held = self._held()
        return held.unpack if isinstance(held, Packed) else None

    def unpack(self) -> Any:
        """Return the saved tensor, like ``grad_fn._saved_self``."""
        value = getattr(self._node, f"_saved_{self._name}")
        return value if self._at is None else value[self._at]

    def _held(self) -> Any:
        held = self._node.kept(self._name)
        return held if self._at is None or held is FREED else held[self._at]

    def register_hooks(self, *hooks: Callable[[Any], Any]) -> None:
        """Pack the tensor with the first hook; the second unpacks it when it is needed.

        Raises
        ------
        RuntimeError: If hooks are already set, if the tensor has been freed, if none was saved, or
            if the first hook writes to its argument.
        TypeError: If the arguments are not two functions.

        Examples
        --------
        >>> x = wg.tensor([1.0, 2.0], requires_grad=True)
        >>> y = x.exp()
        >>> y.grad_fn._raw_saved_result.register_hooks(lambda t: t.half(), lambda p: p.float())
        >>> y.sum().backward()
        >>> x.grad
        tensor([2.7188, 7.3906])
        """
        if len(hooks) != 2 or not all(map(callable, hooks)):
            raise TypeError(
                "register_hooks(): incompatible function arguments: a function that packs and one "
                f"that unpacks are expected, but got {[type(hook).__name__ for hook in hooks]}"
            )
        pack_hook, unpack_hook = hooks
        node, name, at = self._node, self._name, self._at
        value = self._held()
        if value is FREED:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved "
                "intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the "
                "graph a second time or if you need to access saved variables after calling "
                "backward."
            )
        if value is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor with value None is forbidden."
            )
        if isinstance(value, Packed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
                "only one pair of hooks is allowed at a time."
            )
        packed = Packed(self.unpack(), pack_hook, unpack_hook)
        held = node.kept(name)
        if name in _TENSORS and at is not None and not any(map(_is_packed, held)):
            # rules read parameters unconverted
            _unpack_in_passes(node, name)
        node.keep(name, packed if at is None else (*held[:at], packed, *held[at + 1 :]))


class Saved:
    """The attribute ``_saved_<name>`` of a node: the value that its operation saved, or None.

    It is a descriptor since ``__getattr__`` would slow down every attribute of every node.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, node: Any, owner: Any = None) -> Any:
        return self if node is None else self.of(node, self.name)

    def of(self, node: Any, name: str) -> Any:
        """Return the value of the attribute."""
        return _shown(unpack(node, name, raw=False)) if name in node.prim.saved else None


class RawSaved(Saved):
    """The attribute ``_raw_saved_<name>`` of a node: a `SavedTensor`, or a tuple of them."""

    __slots__ = ()

    def of(self, node: Any, name: str) -> Any:
        """Return the value of the attribute."""
        held = node.kept(name) if name in node.prim.saved else None
        if isinstance(held, tuple):
            return tuple(SavedTensor.of(node, name, i) for i in range(len(held)))
        return SavedTensor.of(node, name)


def _shown(value: Any) -> Any:
    """Return `value` with tensors in place of arrays."""
    if isinstance(value, np.ndarray):
        # a copy, so that a write to it does not reach the value that the rule uses
        return new_tensor(value.copy())
    if isinstance(value, tuple) and any(isinstance(part, np.ndarray) for part in value):
        return tuple(map(_shown, value))
    return value


class Shown:
    """The attribute ``_saved_<name>`` of a node whose record defines what it shows there."""

    __slots__ = ("form", "names")

    def __init__(self, form: Callable[..., Any]) -> None:
        self.form = form
        self.names = names_of(form)

    def __get__(self, node: Any, owner: Any = None) -> Any:
        if node is None:
            return self
        kept = [unpack(node, name, raw=False) for name in self.names]
        saved = node.prim.saved_args
        if any(v is None for name, v in zip(self.names, kept, strict=True) if name in saved):
            return None  # not needed for the arguments that require a gradient
        return _shown(self.form(*kept))


def saved_attributes(prim: Primitive) -> dict[str, Any]:
    """Return the attributes of nodes of `prim` that show their saved values."""
    names = {*prim.args, *prim.params, "result", *prim.saved}
    shown: dict[str, Any] = {
        f"_saved_{name}": Saved(name) for name in names if not name.endswith(METADATA)
    }
    for name in prim.saved:
        arg = name.removesuffix("_shape")
        if arg != name and not prim.variadic and arg not in prim.saved:
            shown[f"_saved_{arg}_sym_sizes"] = Saved(name)
    for name in (*prim.args, *_TENSORS, "result"):
        if name in prim.saved:
            shown[f"_raw_saved_{name}"] = RawSaved(name)
    for name, form in prim.shows.items():
        if isinstance(form, str):
            shown[f"_saved_{name}"] = shown[f"_saved_{form}"]
            if f"_raw_saved_{form}" in shown:
                shown[f"_raw_saved_{name}"] = shown.pop(f"_raw_saved_{form}")
        else:
            shown[f"_saved_{name}"] = Shown(_nothing if form is None else form)
            if form is None:
                shown.pop(f"_raw_saved_{name}", None)
    return shown


def _nothing() -> None:
    """Return None, which nodes show for a name that they do not list."""


fill_sections(globals())
