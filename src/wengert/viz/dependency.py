"""Layer 9 · viz: `dependency_graph`, which draws how a function computes its value.

The graph of Griewank and Walther's evaluation traces, as in textbooks: a box for each intermediate
value v1, v2, ..., the local derivatives on the arrows, and a sweep that adds the tangent or the
adjoint of each value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from wengert.base.containers import flatten
from wengert.interp.symbols import Symbol, named
from wengert.tape.base import TensorBase
from wengert.viz.assemble import Assembler, Subject
from wengert.viz.collapse import Group
from wengert.viz.collect import Facts, Key, facts_of, is_recorded
from wengert.viz.draw import words_of
from wengert.viz.drawing import Drawing
from wengert.viz.evaluation import Evaluation
from wengert.viz.formulas import product, text_of
from wengert.viz.picture import Step
from wengert.viz.steps import backward_steps, forward_steps
from wengert.viz.sweep import failure_note, ones_like, reverse_sweep, tangents_of
from wengert.viz.wording import brief, count_text, step_text

_LIMIT = 150
_MANY = 100_000
"""The number of leaves up to which each leaf is inspected."""
_FEW = 6


def dependency_graph(
    f: Callable[..., Any],
    *args: Any,
    mode: str = "backward",
    show: str = "value,grad,local",
    names: Sequence[str] | Mapping[str, str] | None = None,
    gradient: Any = None,
    tangents: Any = None,
    title: str | None = None,
    depth: int | None = None,
    limit: int = _LIMIT,
) -> Drawing:
    """Draw how `f` computes its value at `args`, with the sweep that differentiates it.

    `f` is called once. Each intermediate value has a box, ``b = log(a)``, with the name of its
    variable in the program, or v1, v2, ... if it has none. The arrows show the local derivatives;
    the boxes show the adjoints of a reverse sweep or the tangents of a forward one. The page that
    ``.save("graph.html")`` writes steps through the sweep.

    Parameters
    ----------
    f : callable. Takes `args`, and returns a tensor or a nested container of tensors.
    *args: The point: tensors, arrays, numbers, or nested containers of these. The sweep
        differentiates with respect to floating and complex ones, or Python's integers if there are
        no others; Python's numbers have double precision.
    mode : {"backward", "forward"}. From the result to the arguments, or from the arguments to the
        result.
    show : str. Some of the words that `draw` takes: ``value``, ``shape``, ``grad`` (adjoints or
        tangents), ``local``, ``saved``, ``bytes``, separated by commas.
    names : list of str or dict of str to str, optional. Names for the intermediate values in the
        order of their computation (without the arguments), or a mapping from default names to new
        ones.
    gradient : Tensor or array, optional. The adjoint of the result to start from; default: ones.
    tangents : sequence of Tensor, array or number, optional. The tangents of the arguments to start
        from; default: ones.
    title : str, optional. The heading.
    depth, limit : int, optional. See `draw`.

    Returns
    -------
    Drawing: A picture that shows itself in notebooks, with a method ``.save(path)``.

    Raises
    ------
    TypeError: If `f` is not a function, or does not return a tensor.
    ValueError: If a mode or a word of `show` is unknown, or names or tangents do not match.

    Examples
    --------
    >>> from wengert.viz import dependency_graph
    >>> def f(x):
    ...     a = x**2
    ...     b = wg.log(a)
    ...     c = wg.sin(x)
    ...     d = b * c
    ...     e = 1 / x
    ...     return d + e
    >>> picture = dependency_graph(f, 2.0).picture
    >>> [box.title for box in picture.boxes]
    ['x', 'a = x ** 2', 'b = log(a)', 'c = sin(x)', 'd = b * c', 'e = 1 / x', 'f = d + e']
    >>> for step in picture.steps[:4]:
    ...     print(step.text)
    adjoint of f = 1
    adjoint of d += adjoint of f = 1
    adjoint of e += adjoint of f = 1
    adjoint of x += adjoint of e * (-1 / x ** 2) = -0.25
    """
    given: Any = f
    if not callable(given):
        hint = "; for a tensor use draw(y)" if isinstance(given, TensorBase) else ""
        raise TypeError(
            f"dependency_graph(): f must be a function, not {type(given).__name__}{hint}"
        )
    if mode not in ("backward", "forward"):
        raise ValueError(f"dependency_graph(): mode must be 'backward' or 'forward', not {mode!r}")
    words = words_of(show, "dependency_graph")
    drawn = _Drawn(Evaluation(f, args))
    return Drawing(drawn.picture(mode, words, names, gradient, tangents, title, depth, limit))


def _is_single(group: Group) -> bool:
    """Return whether a group is drawn as one operation."""
    return group.kind in ("node", "fused")


class _Drawn:
    """The picture of one evaluation, with the notes for the reader."""

    def __init__(self, run: Evaluation) -> None:
        self.run = run
        self.notes: list[str] = []

    def picture(
        self,
        mode: str,
        words: frozenset[str],
        given: Any,
        gradient: Any,
        tangents: Any,
        title: str | None,
        depth: int | None,
        limit: int,
    ) -> Any:
        """Return the picture of the evaluation."""
        graph = self.run.graph
        scopes = self.run.scopes()
        groups = self.run.groups(depth, limit, scopes)
        subject = Subject(graph, mode, words, groups, self._facts(groups), scopes, limit)
        subject.names = self.run.names(groups, given)
        self._formulate(subject)
        seeds = self._seeds(gradient)
        directions = self._directions(tangents) if mode == "forward" else None
        try:
            self._sweep(subject, seeds, directions)
        except Exception as error:  # a custom Function may raise anything
            what = "adjoints" if mode == "backward" else "tangents"
            self.notes.append(failure_note(what, error))
        assembler = Assembler(subject, title or self._title(mode))
        picture = assembler.build()
        if all(_is_single(group) for group in groups):
            make = _backward if mode == "backward" else _forward
            picture.steps = make(self.run, assembler)
        else:
            plain = backward_steps if mode == "backward" else forward_steps
            picture.steps = plain(assembler, self.run.output_names)
            self.notes.append(
                f"{count_text(len(graph.nodes))} operations: repetitions, calls and stretches of "
                "the program are drawn as one box each."
            )
        self._note_constants()
        picture.notes[:0] = self.notes
        return picture

    def _facts(self, groups: Sequence[Group]) -> Facts:
        """Return the values and shapes of what is drawn, as they were when computed."""
        graph = self.run.graph
        drawn = {g.stop - 1 for g in groups if _is_single(g)}
        drawn |= {g.start for g in groups if g.kind == "fused"}
        leaves = range(len(graph.nodes), graph.size()) if len(graph.leaves) <= _MANY else ()
        facts = facts_of(graph, {*drawn, *leaves})
        for (node, out), payload in self.run.trace.values.items():
            vertex = graph.number.get(node)
            if vertex in drawn:
                # the value as computed, regardless of later writes
                facts.values[vertex, out] = payload
                facts.shapes[vertex, out] = tuple(payload.shape)
                facts.dtypes[vertex, out] = payload.dtype
        return facts

    def _formulate(self, subject: Subject) -> None:
        """Set the formulas, lines and partial derivatives of single operations."""
        for group in filter(_is_single, subject.groups):
            i = group.stop - 1
            subject.formulas[i] = self.run.formula(group, subject.names)
            subject.lines[i] = self.run.line(i)
            for _, _, place in self.run.graph.inputs(group.start):
                formula = self.run.partial(group, place, subject.names)
                if formula is not None:
                    subject.partials[i, place] = text_of(formula)

    def _title(self, mode: str) -> str:
        point = ", ".join(
            f"{self.run.input_names[id(t)]} = {brief(t._payload)}"
            for t in self.run.inputs
            if isinstance(t, TensorBase) and t._payload.size <= _FEW
        )
        at = f" at {point}" if point else ""
        sweep = "reverse sweep" if mode == "backward" else "forward sweep"
        return f"{self.run.function}{at}: {sweep}"

    def _note_constants(self) -> None:
        """Note outputs that do not depend on the arguments, and arguments that are not used."""
        for name, tensor in zip(self.run.output_names, self.run.outputs, strict=True):
            if not is_recorded(tensor):
                self.notes.append(f"{name} is a constant: it does not depend on the arguments.")
        unused = [
            self.run.input_names[id(t)]
            for t in self.run.inputs
            if isinstance(t, TensorBase) and is_recorded(t) and self.run.graph.key_of(t) is None
        ]
        if unused:
            self.notes.append(f"Not used: {', '.join(unused)}.")

    def _sweep(self, subject: Subject, seeds: list[Any], directions: Any) -> None:
        """Run a reverse sweep, or, with `directions`, a forward sweep."""
        graph, facts = self.run.graph, subject.facts
        swept = reverse_sweep(graph, seeds)
        for key, g in swept.adjoints.items():
            facts.shapes.setdefault(key, tuple(np.shape(g)))
            facts.dtypes.setdefault(key, g.dtype)
        if directions is None:
            subject.reverse = swept
            pairs = zip(seeds, graph.roots, strict=True)
            subject.seeds = [seed for seed, root in pairs if root is not None]
        else:
            metas = {key: (np.shape(g), np.dtype(g.dtype)) for key, g in swept.adjoints.items()}
            for key, dtype in facts.dtypes.items():
                metas.setdefault(key, (facts.shapes[key], dtype))
            subject.tangents = tangents_of(graph, directions, metas)

    def _seeds(self, gradient: Any) -> list[Any]:
        if gradient is None:
            for name, tensor in zip(self.run.output_names, self.run.outputs, strict=True):
                if tensor._payload.size != 1 and is_recorded(tensor):
                    self.notes.append(
                        f"{name} has {count_text(tensor._payload.size)} elements: a reverse sweep "
                        "starts from ones, which gives the gradient of their sum."
                    )
            return [ones_like(tensor._payload) for tensor in self.run.outputs]
        given, _ = flatten(gradient)
        if len(given) != len(self.run.outputs):
            raise ValueError(
                f"dependency_graph(): {self.run.function} returned {len(self.run.outputs)} "
                f"tensors, but gradient holds {len(given)}"
            )
        pairs = zip(given, self.run.outputs, self.run.output_names, strict=True)
        return [_fitting(g, tensor, name, "gradient") for g, tensor, name in pairs]

    def _directions(self, tangents: Any) -> dict[int, Any]:
        graph = self.run.graph
        wanted = [t for t in self.run.inputs if isinstance(t, TensorBase) and is_recorded(t)]
        if tangents is None:
            if len(wanted) > 1:
                self.notes.append(
                    "The tangent of every argument is one: the tangents are derivatives in that "
                    "direction. Choose another one by tangents=."
                )
            given = [ones_like(t._payload) for t in wanted]
        else:
            flat, _ = flatten(tangents)
            if len(flat) != len(wanted):
                raise ValueError(
                    f"dependency_graph(): there are {len(wanted)} arguments to differentiate by, "
                    f"but {len(flat)} tangents"
                )
            given = [
                _fitting(t, tensor, self.run.input_names[id(tensor)], "tangents")
                for t, tensor in zip(flat, wanted, strict=True)
            ]
        pairs = zip(wanted, given, strict=True)
        keys = [(graph.key_of(tensor), tangent) for tensor, tangent in pairs]
        return {key[0]: tangent for key, tangent in keys if key is not None}


def _fitting(value: Any, tensor: Any, name: str, what: str) -> Any:
    array = np.asarray(value._payload if isinstance(value, TensorBase) else value)
    if array.shape != tuple(tensor._payload.shape):
        raise ValueError(
            f"dependency_graph(): {what} has the shape {array.shape} for {name}, whose shape is "
            f"{tuple(tensor._payload.shape)}"
        )
    return array.astype(tensor._payload.dtype)[()]


# -- steps -----------------------------------------------------------------------------------------


def _backward(run: Evaluation, picture: Assembler) -> list[Step]:
    """Add one step for each result, then one for each use of a value, in the engine's order."""
    subject, graph = picture.subject, picture.graph
    reverse = subject.reverse
    steps: list[Step] = []
    for root, box in zip(graph.roots, picture.result_box, strict=True):
        if root is not None:
            seed = " starts the sweep"
            if reverse is not None:
                seed = f" = {step_text(subject.seeds[len(steps)])}"
            steps.append(Step([box], [], f"adjoint of {picture.name_of(*root)}{seed}"))
    for group, place, source, target, arrow in _uses(picture, reversed(subject.groups)):
        names = run.arguments(group.start, subject.names)
        own = _result_name(picture, group.stop - 1)
        factor = _factor(run, picture, group, place)
        i = group.stop - 1
        text = product("adjoint", graph.nodes[i], names, own, place, factor, run.params(i))
        grads: Any = None if reverse is None else reverse.given.get(group.start)
        given = None if grads is None else grads[place]
        value = "" if given is None else f" = {step_text(given)}"
        text = f"adjoint of {names[place]} += {text}{value}"
        steps.append(Step([source, target], [arrow], text))
    return steps


def _forward(run: Evaluation, picture: Assembler) -> list[Step]:
    """Add one step for each argument, then one for each value in the order of computation."""
    subject, graph = picture.subject, picture.graph
    tangents = subject.tangents or {}
    steps: list[Step] = []

    def equals(key: Key) -> str:
        found = tangents.get(key)
        return "" if subject.tangents is None else f" = {step_text(0 if found is None else found)}"

    for place in range(len(graph.leaves)):
        key = (len(graph.nodes) + place, 0)
        text = f"tangent of {picture.name_of(*key)}{equals(key)}"
        steps.append(Step([picture.box_at(key[0])], [], text))
    for group in subject.groups:
        uses = list(_uses(picture, [group]))
        names = run.arguments(group.start, subject.names)
        i = group.stop - 1
        own = _result_name(picture, i)
        terms = []
        for _, place, _, _, _ in uses:
            factor = _factor(run, picture, group, place)
            params = run.params(i)
            terms.append(product("tangent", graph.nodes[i], names, own, place, factor, params))
        text = f"tangent of {own} = {' + '.join(terms)}"
        if ", " in own:
            text = f"tangents of {own} = {' + '.join(terms)}"
        else:
            text += equals((i, 0))
        box = picture.box_at(i)
        boxes = [box, *dict.fromkeys(tail for _, _, _, tail, _ in uses)]
        steps.append(Step(boxes, list(dict.fromkeys(use[-1] for use in uses)), text))
    return steps


def _result_name(picture: Assembler, i: int) -> str:
    outs = [key for key in picture.subject.names if key[0] == i]
    return ", ".join(picture.name_of(*key) for key in sorted(outs)) or picture.name_of(i)


def _uses(
    picture: Assembler, groups: Iterable[Group]
) -> Iterator[tuple[Group, int, int, int, int]]:
    """Return, for each argument of each group, its position, both boxes, and the arrow."""
    for group in groups:
        box = picture.box_at(group.stop - 1)
        for vertex, _, place in picture.graph.inputs(group.start):
            other = picture.box_at(vertex)
            yield group, place, box, other, picture.arrow_of[other, box]


def _factor(run: Evaluation, picture: Assembler, group: Group, place: int) -> Symbol | None:
    """Return the local derivative as a formula, or else as a number if it is one."""
    found = run.partial(group, place, picture.subject.names)
    if found is not None:
        return found
    text = picture.local(group, place)
    return named(text) if text is not None and " " not in text and "[" not in text else None
