"""Layer 4 · tape: Python source generated from a record: its node class, `apply` and recorder.

NOTE [generated code]
A generic recorder that loops over arguments, parameters and saved names costs about twice what the
same steps cost written out. So the steps are written out, once for each primitive, when it is first
used. The recorder handles what is common (tensors of one real floating type, in the default mode or
under `no_grad`) and hands everything else to `wengert.tape.record`; both make nodes that the
general `apply_rules` understands, and the tests run every primitive both ways.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.interp.eager import K
from wengert.prims.record import TABLE, Primitive
from wengert.tape.base import FREED, LEAF, SURFACE, TensorBase, new_tensor, version_of
from wengert.tape.compiled import compiled_maker, compiled_node
from wengert.tape.masked import INVALID, mark, unmasked
from wengert.tape.modes import NO_GRAD, current_mode
from wengert.tape.node import (
    Node,
    check_result,
    check_saved,
    next_sequence,
    saved_attributes,
    unpack,
)
from wengert.tape.rules import apply_rules, is_diagonal
from wengert.tape.sites import OURS
from wengert.tape.views import attach_view

__all__ = ["lifted_class", "node_class", "noter", "recorder", "reflected_recorder"]

_FREED_CELL = (-1, None)
_CLASSES: dict[str, type[Node]] = {}
_LIFTED: dict[str, type[Node]] = {}


def _compile(source: str, name: str, scope: dict[str, Any]) -> Any:
    """The function `name` of generated `source`, whose lines show in tracebacks."""
    filename = f"<wengert {name}>"
    scope["__name__"] = "wengert.tape.generated"
    OURS.add(filename)
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(compile(source, filename, "exec"), scope)
    return scope[name]


def saved_slots(prim: Primitive) -> list[str]:
    """The slots that a node of `prim` has beside those of all nodes."""
    slots: list[str] = []
    for name in prim.saved:
        if name in prim.args:
            slots.append(f"s_{name}")
        elif name == "result":
            slots += ["result", "result_vc", "result_at"]
        elif name in prim.params:
            slots.append(f"p_{name}")
        else:
            slots.append(name)
    if prim.broadcasts:
        slots.append("shapes")
    if prim.differentiable != 1:
        slots.append("outputs_meta")
    return slots


def _release(node: Any) -> None:
    for name in node.prim.saved_args:
        if getattr(node, f"s_{name}") is not None:
            setattr(node, f"s_{name}", FREED)
    if "result" in node.prim.saved:
        node.result, node.result_vc = FREED, _FREED_CELL


def node_class(prim: Primitive) -> type[Node]:
    """The class of the nodes that `prim` records, made on first use."""
    cls = _CLASSES.get(prim.name)
    if cls is None:
        label = prim.node.rsplit("::", 1)[-1]
        body: dict[str, Any] = {
            "__slots__": saved_slots(prim),
            "__module__": "wengert.autograd",
            "__doc__": f"{prim.doc} (recorded)",
            "prim": prim,
            "label": label,
            "full_name": prim.node,
            "blanks": prim.blanks,
            "hidden": tuple(i for i, arg in enumerate(prim.args) if arg in prim.fixed),
            "several": prim.differentiable != 1,
            "release": _release,
            **saved_attributes(prim),
        }
        plain = prim.differentiable == 1 and not prim.variadic
        body["apply"] = _apply_of(prim, recorded=False) if plain else apply_rules
        # made when a graph of the backward pass is first asked for
        body["apply_in"] = _first_apply_in if plain else apply_rules
        bases: tuple[Any, ...] = (Node,)
        compiled = compiled_node(prim)
        if compiled is not None:
            bases = (compiled, Node)
            body["__slots__"] = ()
            del body["apply"]
        cls = _CLASSES.setdefault(prim.name, type(label, bases, body))
    return cls


def lifted_class(prim: Primitive) -> type[Node]:
    """The class for complex values and payloads that are not arrays: it applies rules generally."""
    cls = _LIFTED.get(prim.name)
    if cls is None:
        body = {
            "__slots__": ("complexes",),
            "__module__": "wengert.autograd",
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
    results: tuple[Any, ...] = cls.apply_in(node, g, keep, edges)
    return results


def _apply_of(prim: Primitive, recorded: bool) -> Callable[..., Any]:
    """``apply(node, g, keep, edges)`` with everything written out.

    Parameters
    ----------
    recorded
        Whether for tensors, whose operations are recorded, instead of raw arrays.
    """
    edges = [f"e{i}" for i in range(len(prim.args))]
    lines = ["def apply(node, g, keep, edges):"]
    if recorded:
        lines += [
            "    if g.__class__ is not Tensor or g.payload.__class__ not in PLAIN or g.level:",
            "        return apply_rules(node, g, keep, edges)",
        ]
    lines.append(f"    {', '.join(edges)}, = edges")
    if prim.masks:
        lines.append("    mark()")
    freed: list[str] = []
    for name in prim.saved_args:
        lines += [
            f"    s_{name} = node.s_{name}",
            f"    if s_{name} is not None and s_{name}.vc is not None:",
            f"        check_saved(node, {name!r}, s_{name})",
        ]
        if recorded:
            position = prim.args.index(name)
            lines += [
                f"    if s_{name} is not None:",
                f"        edge = s_{name}.edge",
                f"        if (s_{name} if edge is LEAF else edge) is not node.edges[{position}]:",
                f"            s_{name} = "
                f"new_tensor(s_{name}.payload, node.edges[{position}], s_{name}.vc)",
            ]
        freed.append(f"node.s_{name} = FREED")
    if "result" in prim.saved:
        lines += [
            "    result = node.result",
            "    if node.result_vc[0] != node.result_at:",
            "        check_result(node)",
        ]
        if recorded:
            lines[-3:] = ["    result = unpack(node, 'result', False)"]
        freed += ["node.result = FREED", "node.result_vc = FREED_CELL"]
    if freed:
        lines += ["    if not keep:"] + [f"        {line}" for line in freed]
    F: Any = SURFACE.namespace if recorded else K
    scope: dict[str, Any] = {
        "F": F,
        "FREED": FREED,
        "FREED_CELL": _FREED_CELL,
        "INVALID": INVALID,
        "LEAF": LEAF,
        "PLAIN": frozenset({np.ndarray, np.float32, np.float64}),
        "Tensor": SURFACE.cls,
        "apply_rules": apply_rules,
        "check_saved": check_saved,
        "check_result": check_result,
        "mark": mark,
        "new_tensor": new_tensor,
        "sum_to": F.sum_to,
        "unmasked": unmasked,
        "unpack": unpack,
    }
    results = []
    for i, rule in enumerate(prim.rules):
        if rule is None:
            results.append("None")
            continue
        scope[f"rule{i}"] = rule.call
        values = ["F", "g"]
        for name in rule.names:
            if name in prim.args:
                values.append(f"s_{name}" if recorded else f"s_{name}.payload")
            elif name == "result":
                values.append("result")
            elif name in prim.params:
                values.append(f"node.p_{name}")
            else:
                values.append(f"node.{name}")
        call = f"rule{i}({', '.join(values)})"
        guard = "" if len(edges) == 1 else f" if e{i} is not None else None"
        lines.append(f"    g{i} = {call}{guard}")
        results.append(f"g{i}")
    if is_diagonal(prim):
        fixed = [f"g{i} = unmasked(F, g, g{i})" for i, rule in enumerate(prim.rules) if rule]
        lines += ["    if INVALID:", *[f"        {line}" for line in fixed]]
    if prim.broadcasts and prim.is_differentiable:
        lines += ["    shapes = node.shapes", "    if shapes is not None:"]
        for i, rule in enumerate(prim.rules):
            if rule is not None:
                lines.append(f"        if g{i} is not None: g{i} = sum_to(g{i}, shape=shapes[{i}])")
    lines.append(f"    return {', '.join(results)},")
    return _compile("\n".join(lines) + "\n", "apply", scope)


# -- recorder ------------------------------------------------------------------------------------


def recorder(prim: Primitive, slow: Callable[..., Any], scalars: bool = False) -> Any:
    """The function that computes `prim` on tensors and records it.

    Parameters
    ----------
    slow
        ``slow(prim, args, params)``, for all that is not common.
    scalars
        Whether a Python number to the right goes to the primitive's form for numbers.
    """
    args = prim.args
    if "f" in prim.refuses:
        return lambda *values: slow(prim, values, {})
    signature = ", ".join([*args, *(["*", *prim.params] if prim.params else [])])
    params = ", ".join(f"{p}={p}" for p in prim.params)
    named = "{" + ", ".join(f"{p!r}: {p}" for p in prim.params) + "}"
    packed = f"({', '.join(args)},), {named}"
    arrays = [f"a{i}" for i in range(len(args))]
    edges = [f"e{i}" for i in range(len(args))]
    typed = [i for i, arg in enumerate(args) if arg not in prim.fixed]
    scope: dict[str, Any] = {
        "_prim": prim,
        "_slow": slow,
        "_kernel": getattr(K, prim.name),
        "_new": TensorBase.__new__,
        "_new_node": node_class(prim).__new__ if prim.is_differentiable else None,
        "Tensor": SURFACE.cls,
        "Node": node_class(prim) if prim.is_differentiable else None,
        "_mode": current_mode,
        "NO_GRAD": NO_GRAD,
        "LEAF": LEAF,
        "F32": np.dtype(np.float32),
        "F64": np.dtype(np.float64),
        "next_sequence": next_sequence,
        "version_of": version_of,
        "ndarray": np.ndarray,
        "attach_view": attach_view,
    }
    maker = compiled_maker(prim)
    if maker is not None:
        if scalars and prim.scalar is not None:
            scope["_number"] = getattr(SURFACE.namespace, prim.scalar)
        return maker(scope)
    # what starts with an underscore cannot be the name of an argument or a parameter
    lines = [f"def {prim.name}({signature}):"]
    if scalars and prim.scalar is not None:
        scope["_number"] = getattr(SURFACE.namespace, prim.scalar)
        lines += [
            f"    _kind = {args[1]}.__class__",
            "    if _kind is float or _kind is int:",
            f"        return _number({args[0]}, {TABLE[prim.scalar].params[0]}={args[1]})",
        ]
    elif scalars and prim.infix is not None and not prim.is_differentiable:
        scope["_same"] = (np.dtype(np.float32), np.dtype(np.float64))
        lines += [
            f"    _kind = {args[1]}.__class__",
            "    if _kind is float or _kind is int:",
            f"        a0 = {args[0]}.payload",
            "        if a0.dtype in _same and a0.__class__ is ndarray:",
            "            _out = _new(Tensor)",
            f"            _out.payload = {prim.infix.format('a0', args[1])}",
            "            _out.edge = _out.vc = _out.ext = None",
            "            return _out",
        ]
    compute = prim.infix.format(*arrays) if prim.infix else None
    if compute is None:
        compute = f"_kernel({', '.join(arrays)}{', ' + params if params else ''})"
    same = "".join(f" and a{i}.dtype is _dtype" for i in typed[1:])
    load = [f"a{i} = {arg}.payload" for i, arg in enumerate(args)]
    if prim.view:
        load.append("if a0.__class__ is not ndarray: a0 = self.array()")
    traced = [i for i, rule in enumerate(prim.rules) if rule is not None]
    nothing = " and ".join(f"e{i} is None" for i in traced)
    targets = ", ".join(
        f"{arg} if e{i} is LEAF else e{i}" if i in traced else "None" for i, arg in enumerate(args)
    )
    lines += [
        "    _m = _mode()",
        "    try:",
        *[f"        {line}" for line in load],
        f"        _dtype = a{typed[0]}.dtype",
        f"        _plain = (_dtype is F32 or _dtype is F64){same}",
        "        _plain = _plain and (_m is None or _m is NO_GRAD or _m.observed)",
        "    except AttributeError:",
        "        _plain = False",
        "    if not _plain:",
        f"        return _slow(_prim, {packed})",
        *(
            [
                "    try:",
                f"        _r = {compute}",
                "    except ValueError:",
                f"        return _slow(_prim, {packed})",
            ]
            if prim.broadcasts
            else [f"    _r = {compute}"]
        ),
        "    _out = _new(Tensor)",
        "    _out.payload = _r",
        "    _out.vc = _out.ext = None",
        *(
            # an edge that `attach_view` may set
            [
                "    _out.edge = None",
                f"    attach_view(self, _out, _prim, {named}, None, _m is None or _m.grad)",
            ]
            if prim.view
            else []
        ),
    ]
    observe = [
        "    if _m is not None and _m is not NO_GRAD:",
        f"        _m.anomaly.look(_prim, {packed}, _out)",
    ]
    if not traced:
        lines += ["    _out.edge = None", *observe, "    return _out"]
        return _compile("\n".join(lines) + "\n", prim.name, scope)
    lines += [
        *[f"    e{i} = {args[i]}.edge" for i in traced],
        f"    if (_m is not None and not _m.grad) or ({nothing}):",
        *([] if prim.view else ["        _out.edge = None"]),
        *[f"    {line}" for line in observe],
        "        return _out",
        "    _out.edge = _node = _new_node(Node)",
        f"    _node.edges = ({targets},)",
        "    _node.seq = next_sequence()",
        "    _node.ext = None",
        *[f"    {line}" for line in _saving(prim, edges, arrays)],
        "    if _m is not None:",
        "        _m.anomaly.note(_node)",
        f"        _m.anomaly.look(_prim, {packed}, _out)",
        "    return _out",
    ]
    return _compile("\n".join(lines) + "\n", prim.name, scope)


_NOTERS: dict[str, Any] = {}


def noter(prim: Primitive) -> Any:
    """The function that makes a node of `prim` for values that are written elsewhere.

    It takes the arguments and parameters of the recorder and gives a node without its result, or
    None where they are not all of one real floating dtype. Made on first use.
    """
    made = _NOTERS.get(prim.name)
    if made is None:
        made = _NOTERS[prim.name] = _noter(prim)
    return made


def _noter(prim: Primitive) -> Any:
    args = prim.args
    if prim.variadic or prim.differentiable != 1 or not prim.is_differentiable:
        return lambda *args, **params: None
    signature = ", ".join([*args, *(["*", *prim.params] if prim.params else [])])
    arrays = [f"a{i}" for i in range(len(args))]
    edges = [f"e{i}" for i in range(len(args))]
    typed = [i for i, arg in enumerate(args) if arg not in prim.fixed]
    traced = [i for i, rule in enumerate(prim.rules) if rule is not None]
    targets = ", ".join(
        f"{arg} if e{i} is LEAF else e{i}" if i in traced else "None" for i, arg in enumerate(args)
    )
    same = "".join(f" or a{i}.dtype is not _dtype" for i in typed[1:])
    scope: dict[str, Any] = {
        "_new_node": node_class(prim).__new__,
        "Node": node_class(prim),
        "LEAF": LEAF,
        "F32": np.dtype(np.float32),
        "F64": np.dtype(np.float64),
        "next_sequence": next_sequence,
        "version_of": version_of,
    }
    lines = [
        f"def {prim.name}({signature}):",
        *[f"    {array} = {arg}.payload" for array, arg in zip(arrays, args, strict=True)],
        f"    _dtype = a{typed[0]}.dtype",
        f"    if (_dtype is not F32 and _dtype is not F64){same}:",
        "        return None",
        *[f"    e{i} = {args[i]}.edge" for i in traced],
        "    _node = _new_node(Node)",
        f"    _node.edges = ({targets},)",
        "    _node.seq = next_sequence()",
        "    _node.ext = None",
        *[f"    {line}" for line in _saving(prim, edges, arrays, result=False)],
        "    return _node",
    ]
    return _compile("\n".join(lines) + "\n", prim.name, scope)


def reflected_recorder(prim: Primitive, slow: Callable[..., Any], name: str) -> Any:
    """The function behind a reflected operator, ``other + tensor``."""
    if prim.rscalar is None:
        return lambda self, other: slow(prim, (other, self), {})
    param = TABLE[prim.rscalar].params[0]
    source = f"""def {name}(self, other):
    kind = other.__class__
    if kind is float or kind is int:
        return number(self, {param}=other)
    return slow(prim, (other, self), {{}})
"""
    number = getattr(SURFACE.namespace, prim.rscalar)
    return _compile(source, name, {"number": number, "slow": slow, "prim": prim})


def _saving(prim: Primitive, edges: list[str], arrays: list[str], result: bool = True) -> list[str]:
    lines: list[str] = []
    saved = prim.saved_args
    for name in saved:
        users = [
            e for e, rule in zip(edges, prim.rules, strict=True) if rule and name in rule.names
        ]
        if len(users) == sum(rule is not None for rule in prim.rules):
            lines.append(f"_node.s_{name} = {name}")
        else:
            asked = " or ".join(f"{e} is not None" for e in users)
            lines.append(f"_node.s_{name} = {name} if {asked} else None")
    if saved:
        untouched = " and ".join(f"{name}.vc is None" for name in saved)
        versions = ", ".join(f"version_of({name})" for name in saved)
        lines.append(f"_node.versions = None if {untouched} else ({versions},)")
    for name in prim.saved:
        if name == "result":
            if result:
                lines += [
                    "_node.result = _r",
                    "_out.vc = _node.result_vc = [0, None]",
                    "_node.result_at = 0",
                ]
        elif name in prim.params:
            lines.append(f"_node.p_{name} = {name}")
        elif name not in prim.args:
            arg, what = name.rsplit("_", 1)
            lines.append(f"_node.{name} = {arrays[prim.args.index(arg)]}.{what}")
    if prim.broadcasts:
        equal = " == ".join(f"{a}.shape" for a in arrays)
        shapes = ", ".join(f"{a}.shape" for a in arrays)
        lines.append(f"_node.shapes = None if {equal} else ({shapes},)")
    return lines
