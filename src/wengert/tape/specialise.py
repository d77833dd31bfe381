"""Layer 4 · tape: the node class, `apply` and recorder of each primitive, made on first use.

See NOTE [generated code].
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.ports import PORTS
from wengert.interp.eager import FUSED, LARGE, K, has_fused_rules
from wengert.prims.record import Primitive
from wengert.tape.base import (
    FREED,
    LEAF,
    OutputEdge,
    TensorBase,
    new_tensor,
    version_of,
    version_then,
)
from wengert.tape.compiled import compiled_maker, compiled_node
from wengert.tape.forms import (
    applies_directly,
    freed_numbers,
    number_form,
    saved_slots,
    saves_tensors,
)
from wengert.tape.invalidated import Invalidated
from wengert.tape.masked import INVALID, mark, unmasked
from wengert.tape.modes import NO_GRAD, current_mode
from wengert.tape.node import Node, next_sequence
from wengert.tape.rules import FLAT, apply_rules
from wengert.tape.saved import check_result, check_saved, saved_attributes, unpack
from wengert.tape.sites import LEADS, outside
from wengert.tape.steps import Steps
from wengert.tape.views import attach_view, attach_views

_FREED_CELL = (-1, None)
_PLAIN = frozenset({np.ndarray, np.float32, np.float64})
_CLASSES: dict[str, type[Node]] = {}
_LIFTED: dict[str, type[Node]] = {}
_TRACED: dict[str, Any] = {}


def _compile(name: str, signature: str, body: list[str], scope: dict[str, Any]) -> Any:
    """Compile generated lines to the function `name`; tracebacks show them."""
    source = "\n    ".join([f"def {name}({signature}):", "global _users", *body]) + "\n"
    filename = f"<wengert {name}>"
    scope["__name__"] = "wengert.tape.generated"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(compile(source, filename, "exec"), scope)
    return scope[name]


def _release_of(prim: Primitive) -> Callable[[Any], None]:
    """Make ``release(node)``."""
    if not saves_tensors(prim) and not freed_numbers(prim):
        return Node.release
    scope = {"FREED": FREED, "FREED_CELL": _FREED_CELL}
    return _compile("release", "node", Steps(prim).release(), scope)


def node_class(prim: Primitive) -> type[Node]:
    """Return the class of the nodes that `prim` records, made on first use."""
    cls = _CLASSES.get(prim.name)
    if cls is None:
        label = prim.node.rsplit("::", 1)[-1]
        body: dict[str, Any] = {
            "__slots__": saved_slots(prim),
            "__module__": "builtins",
            "__doc__": f"{prim.doc} (recorded)",
            "prim": prim,
            "label": label,
            "full_name": prim.node,
            "blanks": prim.blanks,
            "hidden": tuple(i for i, arg in enumerate(prim.args) if arg in prim.fixed),
            "several": prim.differentiable != 1,
            "release": _release_of(prim),
            **saved_attributes(prim),
        }
        body["apply"] = _apply_of(prim) if applies_directly(prim) else apply_rules
        # made on the first recorded backward pass
        single = prim.differentiable == 1 and not prim.variadic and not FLAT[prim]
        body["apply_in"] = _first_apply_in if single else apply_rules
        bases: tuple[Any, ...] = (Node,)
        compiled = compiled_node(prim, [rule and _rule(prim, rule) for rule in prim.rules])
        if compiled is not None:
            bases = (compiled, Node)
            body["__slots__"] = ()
            del body["apply"]
        cls = _CLASSES.setdefault(prim.name, type(label, bases, body))
    return cls


def level_class(prim: Primitive) -> type[Node]:
    """Return the node class that uses the general path: complex, half precision, not arrays."""
    cls = _LIFTED.get(prim.name)
    if cls is None:
        body = {
            "__slots__": ("complexes", "halves"),
            "__module__": "builtins",
            "apply": apply_rules,
            "apply_in": apply_rules,
        }
        cls = _LIFTED.setdefault(
            prim.name, type(node_class(prim).__name__, (node_class(prim),), body)
        )
    return cls


# -- apply ---------------------------------------------------------------------------------------


def _first_apply_in(node: Any, g: Any, keep: bool, edges: tuple[Any, ...]) -> tuple[Any, ...]:
    cls = node_class(node.prim)
    cls.apply_in = _apply_of(node.prim, recorded=True)
    return cls.apply_in(node, g, keep, edges)


def _apply_of(prim: Primitive, recorded: bool = False) -> Callable[..., Any]:
    """Make ``apply(node, g, keep, edges)``, or its recorded form for tensors."""
    F: Any = PORTS.namespace if recorded else K
    steps = Steps(prim)
    body = steps.apply_recorded() if recorded else steps.apply()
    return _applied(prim, F, body)


def _applied(prim: Primitive, F: Any, body: list[str], **more: Any) -> Callable[..., Any]:
    """Compile the steps of ``apply`` that compute in the namespace `F`."""
    scope: dict[str, Any] = {
        "F": F,
        "FREED": FREED,
        "FREED_CELL": _FREED_CELL,
        "INVALID": INVALID,
        "LEAF": LEAF,
        "PLAIN": _PLAIN,
        "Tensor": PORTS.tensor,
        "apply_rules": apply_rules,
        "version_then": version_then,
        "check_saved": check_saved,
        "check_result": check_result,
        "mark": mark,
        "new_tensor": new_tensor,
        "sum_to": F.sum_to,
        "unmasked": unmasked,
        "unpack": unpack,
        **{
            f"rule{i}": _rule(prim, rule) if F is K else rule.part
            for i, rule in enumerate(prim.rules)
            if rule is not None
        },
        "shared": prim.shared and prim.shared.call,
        **more,
    }
    return _compile("apply", "node, g, keep, edges", body, scope)


def _rule(prim: Primitive, rule: Any) -> Callable[..., Any]:
    """Return a rule's function on raw arrays; it may use native code for large ones."""
    how, call = FUSED[prim], rule.part
    if not has_fused_rules(prim):
        return call

    def applied(F: Any, g: Any, *args: Any) -> Any:
        if g.__class__ is np.ndarray and g.size >= LARGE:
            made = PORTS.fused(call, how, (g, *args), {})
            if made is not None:
                return made
        return call(F, g, *args)

    return applied


# -- recorder ------------------------------------------------------------------------------------


def _scope(prim: Primitive, slow: Callable[..., Any] | None, form: Primitive | None = None) -> Any:
    """Return the names that the steps of `prim`, and of its `form` for numbers, refer to."""
    scope: dict[str, Any] = {
        "_slow": slow,
        "_new": TensorBase.__new__,
        "Tensor": PORTS.tensor,
        "_mode": current_mode,
        "NO_GRAD": NO_GRAD,
        "LEAF": LEAF,
        "OutputEdge": OutputEdge,
        "F32": np.dtype(np.float32),
        "F64": np.dtype(np.float64),
        "PLAIN": _PLAIN,
        "SAME": (np.dtype(np.float32), np.dtype(np.float64)),
        "next_sequence": next_sequence,
        "_getframe": sys._getframe,
        "LEADS": LEADS,
        "_users": None,
        "NUMBERS": frozenset({float, int}),
        "version_of": version_of,
        "ndarray": np.ndarray,
        "attach_view": attach_view,
        "attach_views": attach_views,
    }
    for tag, of in (("", prim), ("_form", form)):
        if of is not None:
            scope[f"_prim{tag}"] = of
            scope[f"_kernel{tag}"] = getattr(K, of.name)
            if of.is_differentiable:
                scope[f"Node{tag}"] = node_class(of)
    return scope


def recorder(prim: Primitive, slow: Callable[..., Any]) -> Any:
    """Make the function that computes `prim` on tensors and records it.

    Parameters
    ----------
    slow: ``slow(prim, args, params)``, the general path for uncommon arguments.
    """
    return _made(prim, slow, prim.name, "recorder", number_form(prim, False))


class _SlowSteps(Steps):
    """The steps of a recorder that others of the library's functions call."""

    def sited(self) -> list[str]:
        found = ["_frame = outside(_getframe())", "_code = _frame.f_code"]
        return found if saves_tensors(self.prim) else []


class _HalfSteps(_SlowSteps):
    """The steps of a recorder that computes in float32 (see NOTE [half precision])."""

    def computed(self) -> str:
        return self.kernel_call()


def other_recorder(
    prim: Primitive, slow: Callable[..., Any], dtype: np.dtype[Any], widened: Any
) -> Any:
    """Return `recorder`'s function for complex tensors or those in half precision.

    It has the same steps; its nodes use the general path, which conjugates and rounds.

    Parameters
    ----------
    dtype: The dtype of the tensors.
    widened
        ``widened(kernel, dtype)``, which computes in float32; None if `prim` computes in `dtype`.
    """
    scope = _scope(prim, slow)
    # the one that arrays have: those of transforms' values are equal, but not identical
    dtype = np.dtype(dtype.type)
    scope.update(F32=dtype, F64=dtype, SAME=(dtype,), outside=outside)
    steps: Steps = _SlowSteps(prim)
    if widened is not None:
        steps = _HalfSteps(prim)
        scope["_kernel"] = widened(scope["_kernel"], dtype)
    if prim.is_differentiable and (dtype.kind == "c" or widened is not None):
        typed = [arg not in prim.fixed for arg in prim.args]
        halves = tuple([dtype if one else None for one in typed])
        given = (tuple(typed), None) if dtype.kind == "c" else (None, halves)
        scope["Node"] = _maker_at_level(prim, *given)
    return _compile(prim.name, steps.signature, steps.recorder(), scope)


def _maker_at_level(prim: Primitive, complexes: Any, halves: Any) -> Callable[[], Any]:
    cls = level_class(prim)

    def made() -> Any:
        node: Any = cls.__new__(cls)
        node.complexes = complexes
        node.halves = halves
        return node

    return made


class _TracedSteps(_SlowSteps):
    """The steps of a recorder, and of its nodes, for payloads that a trace computes with."""

    def computed(self) -> str:
        return "_computed"

    def opened(self) -> list[str]:
        lines = super().opened()
        foreign = " or ".join(f"{array}.__class__ is not Payload" for array in self.arrays)
        # a decision looks at the variables of frames, so there must be no tensor without a payload
        computed = [f"_computed = {self.kernel_call()}"]
        if self.prim.broadcasts:
            computed = [f"try: {computed[0]}", f"except ValueError: {self.slow}"]
        return [*lines, f"if {foreign}:", f"    {self.slow}", *computed]

    def node(self, sited: bool = False) -> list[str]:
        # arrays refuse this themselves (see NOTE [invalidated views])
        check = "if e{0}.__class__ is Invalidated: raise RuntimeError(e{0}.message)"
        return [*[check.format(i) for i in self.traced], *super().node(sited)]

    def apply(self) -> list[str]:
        foreign = "g.__class__ is not Payload"
        if self.prim.differentiable != 1:
            foreign = "any([_part.__class__ is not Payload for _part in g])"
        return [f"if {foreign}: return apply_rules(node, g, keep, edges)", *super().apply()]

    def _is_observed(self) -> bool:
        return False


def traced_recorder(prim: Primitive, slow: Callable[..., Any], payload: Any) -> Any:
    """Return `recorder`'s function for tensors over payloads of a trace, made on first use.

    Parameters
    ----------
    payload: The class of the payloads, whose `_namespace` computes with them.
    """
    made = _TRACED.get(prim.name)
    if made is None:
        form = number_form(prim, False)
        scope = _scope(prim, slow, form)
        scope.update(Payload=payload, ndarray=payload, outside=outside, Invalidated=Invalidated)
        scope["_mode"] = _mode_of_trace
        for tag, of in (("", prim), ("_form", form)):
            if of is not None:
                scope[f"_kernel{tag}"] = getattr(payload._namespace, of.name)
                if of.is_differentiable:
                    scope[f"Node{tag}"] = _traced_class(of, payload)
        steps = _TracedSteps(prim)
        body = steps.recorder(None if form is None else _TracedSteps(form, "_form"))
        made = _TRACED[prim.name] = _compile(prim.name, steps.signature, body, scope)
    return made


def _mode_of_trace() -> Any:
    """Return the mode without the trace."""
    mode = current_mode()
    return None if mode is None or mode.grad else NO_GRAD


def _traced_class(prim: Primitive, payload: Any) -> type[Node]:
    """Return the class of the nodes that `prim` records while it is traced."""
    body: dict[str, Any] = {"__slots__": (), "__module__": "builtins"}
    if applies_directly(prim):
        lines = _TracedSteps(prim).apply()
        body["apply"] = _applied(prim, payload._namespace, lines, Payload=payload)
        body["apply_in"] = body["apply"]
    return type(node_class(prim).__name__, (node_class(prim),), body)


def _made(
    prim: Primitive, slow: Callable[..., Any], name: str, kind: str, form: Primitive | None
) -> Any:
    """Make the function `name` from one kind of `Steps`, compiled if possible."""
    maker = compiled_maker(prim, kind)
    scope = _scope(prim, slow, form)
    # the operator's code includes the steps of the form
    if maker is not None and (form is None or compiled_maker(form) is not None):
        return maker(scope)
    steps = Steps(prim)
    body = getattr(steps, kind)(None if form is None else Steps(form, "_form"))
    signature = "self, other" if kind == "reflected" else steps.signature
    return _compile(name, signature, body, scope)


def operator(prim: Primitive, slow: Callable[..., Any], name: str, reflected: bool = False) -> Any:
    """Make the tensor method `name`: a binary operator whose other argument may be a number.

    Parameters
    ----------
    slow: ``slow(prim, args, params)``, the general path for uncommon arguments.
    reflected: Whether the tensor is the right operand.
    """
    form = number_form(prim, reflected)
    if reflected and form is None:
        return lambda self, other: slow(prim, (other, self), {})
    return _made(prim, slow, name, "reflected" if reflected else "operator", form)


_NODE_FACTORIES: dict[str, Any] = {}


def node_factory(prim: Primitive) -> Any:
    """Return the function that makes a node of `prim` for an in-place write.

    It takes the recorder's arguments and parameters and returns a node without its result, or None
    if they are not all of one real floating dtype. Made on first use.
    """
    made = _NODE_FACTORIES.get(prim.name)
    if made is None:
        made = _NODE_FACTORIES[prim.name] = _node_factory(prim)
    return made


def _node_factory(prim: Primitive) -> Any:
    if prim.variadic or prim.differentiable != 1 or not prim.is_differentiable:
        return lambda *args, **params: None
    steps = Steps(prim)
    return _compile(prim.name, steps.signature, steps.node_factory(), _scope(prim, None))
