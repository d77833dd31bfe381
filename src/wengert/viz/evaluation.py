"""Layer 9 · viz: one evaluation of a function: its values, their names and their formulas."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from wengert.autograd.anomaly_mode import set_detect_anomaly
from wengert.autograd.local import leaf
from wengert.base.containers import flatten, paths
from wengert.base.dtypes import is_differentiable
from wengert.interp.formulas import E
from wengert.interp.symbols import Symbol, named, simplified
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.modes import enable_grad
from wengert.tape.sites import shown, site_here, site_of
from wengert.viz.collapse import Group, groups_of
from wengert.viz.collect import Graph, Key
from wengert.viz.formulas import constant_text, expression, parameters, partial, text_of
from wengert.viz.reading import operation_of
from wengert.viz.scopes import Scopes
from wengert.viz.sweep import is_holomorphic
from wengert.viz.trace import Trace, numbered, variables_at, within
from wengert.viz.wording import subscript


class Evaluation:
    """One call of a function, with the values that it computed.

    Attributes
    ----------
    inputs, input_names: The tensors passed to the function in place of its arguments.
    outputs, output_names: The tensors that it returned.
    """

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.function = getattr(f, "__name__", type(f).__name__)
        if self.function == "<lambda>":
            self.function = "f"
        self._closed_over = _closed_over(f)
        given = list(zip(_parameters(f, len(args)), args, strict=True))
        labels = [path for name, value in given for path in paths(value, name)]
        values, rebuild = flatten(args)
        whole = not any(_is_floating(value) for value in values)
        self.inputs = [_input(value, whole) for value in values]
        self.input_names = dict(zip(map(id, self.inputs), labels, strict=True))
        self.trace = Trace()
        self._outer = site_here()
        try:
            with enable_grad(), set_detect_anomaly(True, check_nan=False), self.trace:
                result = f(*rebuild(self.inputs))
        finally:
            self.trace.finish()
        found, _ = flatten(result)
        for value in found:
            if not isinstance(value, TensorBase):
                raise TypeError(
                    f"dependency_graph(): {self.function} must return a Tensor or a container of "
                    f"Tensors, but returned {type(value).__name__}: compute with tensors and "
                    "functions of wengert"
                )
        if not found:
            raise TypeError(f"dependency_graph(): {self.function} returned no Tensor")
        self.outputs = found
        self.output_names = paths(result, self.function)
        self.graph = Graph(found)

    # -- names ------------------------------------------------------------------------------------

    def groups(self, depth: int | None, limit: int, scopes: Scopes) -> list[Group]:
        """Return the groups to draw; a reciprocal and its multiple form one division."""
        if len(self.graph.nodes) > limit or depth is not None:
            return groups_of(self.graph, limit, depth, scopes)
        uses: dict[int, int] = {}
        for vertex in self.graph.sources:
            uses[vertex] = uses.get(vertex, 0) + 1
        results = {root[0] for root in self.graph.roots if root is not None}
        groups: list[Group] = []
        for i, node in enumerate(self.graph.nodes):
            before = self.graph.nodes[i - 1] if i else None
            if (
                before is not None
                and operation_of(before) == "reciprocal"
                and _is_multiple(node)
                and [vertex for vertex, _, _ in self.graph.inputs(i)] == [i - 1]
                and uses[i - 1] == 1
                and i - 1 not in results
                and groups[-1].kind == "node"
                and not self._variables(before)
            ):
                groups[-1] = Group(i - 1, i + 1, 1, 2, "fused")
            else:
                groups.append(Group(i, i + 1))
        return groups

    def _variables(self, node: Any) -> tuple[str, ...]:
        call = self.trace.calls.get(node)
        return () if call is not None and not call.last else variables_at(self._site(node))

    def line(self, i: int) -> str:
        """Return the line of the program that recorded node `i`."""
        return shown(self._site(self.graph.nodes[i]))

    def scopes(self) -> Scopes:
        """Return the calls that led to each node."""
        nodes = self.graph.nodes
        return Scopes(nodes, [self._site(node) for node in nodes])

    def _site(self, node: Any) -> Any:
        call = self.trace.calls.get(node)
        return within(site_of(node) if call is None else call.site, self._outer)

    def names(self, groups: list[Group], given: Any) -> dict[Key, str]:
        """Return the names of values: arguments, results, program variables, v1, v2, ... ."""
        graph = self.graph
        found: dict[Key, str] = {}
        used: set[str] = set()
        for place, tensor in enumerate(graph.leaves):
            name = self.input_names.get(id(tensor)) or self._closed_over.get(id(tensor), "leaf")
            found[len(graph.nodes) + place, 0] = numbered(name, used, subscript)
        results: dict[Key, str] = {}
        for root, name in zip(graph.roots, self.output_names, strict=True):
            if root is not None and not graph.is_leaf(root[0]):
                results.setdefault(root, name)
        free: list[tuple[Key, str | None]] = []
        shown = [g.stop - 1 for g in groups if g.kind in ("node", "fused")]
        for i in shown:
            node = graph.nodes[i]
            variables = self._variables(node)
            for out in range(node.width() if node.several else 1):
                variable = variables[out] if out < len(variables) else None
                if node.several and len(variables) == 1:
                    variable = f"{variables[0]}[{out}]"
                free.append(((i, out), variable or results.get((i, out))))
        chosen = self._chosen([key for key, _ in free if key not in results], given)
        for key, variable in free:
            if key in chosen:
                found[key] = numbered(chosen[key], used, subscript)
            elif variable is not None:
                found[key] = numbered(variable, used, subscript)
        count = 0
        for key, _ in free:
            if key not in found:
                count += 1
                found[key] = numbered(f"v{count}", used, subscript)
        if isinstance(given, Mapping):
            unknown = set(given) - set(found.values())
            if unknown:
                raise ValueError(
                    f"dependency_graph(): names gives other names for {sorted(unknown)}, but the "
                    f"values are called {', '.join(dict.fromkeys(found.values()))}"
                )
            found = {key: given.get(name, name) for key, name in found.items()}
        for place, (root, name) in enumerate(zip(graph.roots, self.output_names, strict=True)):
            found[-1 - place, 0] = name if root is None else found.get(root, name)
        return found

    def _chosen(self, keys: list[Key], given: Any) -> dict[Key, str]:
        if given is None or isinstance(given, Mapping):
            return {}
        if isinstance(given, str) or len(given) > len(keys):
            raise ValueError(
                f"dependency_graph(): names must be a list of at most {len(keys)} names, one for "
                "each value on the way, or a dict from names to other names"
            )
        return dict(zip(keys, given, strict=False))

    # -- formulas ---------------------------------------------------------------------------------

    def arguments(self, i: int, names: Mapping[Key, str]) -> list[str]:
        """Return the names of the arguments of node `i`, one for each edge."""
        node = self.graph.nodes[i]
        call = self.trace.calls.get(node)
        known = {place: (vertex, out) for vertex, out, place in self.graph.inputs(i)}
        texts = []
        for place in range(len(node.edges)):
            if place in known:
                texts.append(names.get(known[place], "\u2026"))
            elif call is not None and place < len(call.tensors):
                tensor = call.tensors[place]
                known_as = self.input_names.get(id(tensor)) or self._closed_over.get(id(tensor))
                texts.append(known_as or constant_text(call.payloads[place]))
            else:
                texts.append("constant")
        return texts

    def formula(self, group: Group, names: Mapping[Key, str]) -> str:
        """Return the formula in the box of a value."""
        i = group.stop - 1
        if group.kind == "fused":
            below = E.reciprocal(named(self.arguments(group.start, names)[0]))
            return text_of(self._multiple(group, below))
        node = self.graph.nodes[i]
        args = [t for p, t in enumerate(self.arguments(i, names)) if p not in node.hidden]
        return expression(node, args, self.params(i), short=True)

    def _multiple(self, group: Group, of: Symbol) -> Symbol:
        """Return the formula of a division: a multiple of a reciprocal, or of its derivative."""
        i = group.stop - 1
        known = parameters(self.graph.nodes[i], self.params(i))
        return simplified(of * known.get("other", named("number")))

    def _dtype(self, i: int) -> Any:
        value = self.trace.values.get((self.graph.nodes[i], 0))
        return self.outputs[0]._payload.dtype if value is None else value.dtype

    def params(self, i: int) -> dict[str, Any] | None:
        """Return the parameters that node `i` was computed with, if they are known."""
        call = self.trace.calls.get(self.graph.nodes[i])
        return None if call is None else call.params

    def partial(self, group: Group, place: int, names: Mapping[Key, str]) -> Symbol | None:
        """Return the formula of a local derivative."""
        i = group.stop - 1
        node = self.graph.nodes[i]
        if not is_holomorphic(node, self._dtype(i)):
            return None
        if group.kind == "fused":
            args = self.arguments(group.start, names)
            below = partial(self.graph.nodes[i - 1], args, E.reciprocal(named(args[0])), place)
            return None if below is None else self._multiple(group, below)
        own = names.get((i, 0), "")
        return partial(node, self.arguments(i, names), own, place, self.params(i))


def _parameters(f: Callable[..., Any], count: int) -> list[str]:
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        return [f"x{subscript(i + 1)}" for i in range(count)] if count > 1 else ["x"] * count
    names: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{i}]" for i in range(count - len(names))]
    names += [f"x{subscript(i + 1)}" for i in range(len(names), count)]
    return names[:count]


def _is_floating(value: Any) -> bool:
    if isinstance(value, TensorBase):
        return is_differentiable(value._payload.dtype)
    if isinstance(value, np.ndarray | np.generic):
        return is_differentiable(value.dtype)
    return isinstance(value, float | complex)


def _input(value: Any, whole: bool) -> Any:
    """Return the value to pass for an argument of the function: a leaf, where one can be made.

    Parameters
    ----------
    whole: Whether to differentiate with respect to integers, because no argument is floating or
        complex.
    """
    if isinstance(value, TensorBase):
        made = leaf(value, is_differentiable(value._payload.dtype))
        if type(value).__dict__.get("__slots__") == ():
            # an array of another idiom: a tensor whose class defines its behaviour
            made.__class__ = type(value)
        return made
    if isinstance(value, np.ndarray | np.generic) and is_differentiable(value.dtype):
        return leaf(new_tensor(np.array(value)))
    if isinstance(value, float | complex) or (whole and type(value) is int):
        dtype = np.complex128 if isinstance(value, complex) else np.float64
        return leaf(new_tensor(np.array(value, dtype)))
    return value


def _closed_over(f: Callable[..., Any]) -> dict[int, str]:
    """Return the names of the tensors that a function closes over."""
    try:
        found = inspect.getclosurevars(f)
    except (TypeError, ValueError):
        return {}
    pairs = [*found.globals.items(), *found.nonlocals.items()]
    return {id(value): name for name, value in pairs if isinstance(value, TensorBase)}


def _is_multiple(node: Any) -> bool:
    prim = getattr(type(node), "prim", None)
    return prim is not None and prim.name == "mul_scalar"
