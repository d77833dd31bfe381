"""Layer 9 · viz: `draw`, a picture of the graph recorded for a tensor."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from wengert.base.dtypes import is_differentiable
from wengert.tape.backward import run_grad
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.node import next_sequence
from wengert.viz.assemble import Assembler, Subject
from wengert.viz.collapse import groups_of
from wengert.viz.collect import (
    Facts,
    Graph,
    Key,
    compute_values,
    facts_of,
    is_recorded,
    named,
    results_of,
)
from wengert.viz.drawing import Drawing
from wengert.viz.picture import Picture
from wengert.viz.reading import has_hooks, is_packed
from wengert.viz.scopes import Scopes
from wengert.viz.steps import backward_steps, computing_steps, forward_steps
from wengert.viz.sweep import (
    Reverse,
    failure_note,
    has_lifted,
    ones_like,
    reverse_sweep,
    tangents_of,
)
from wengert.viz.wording import count_text, listed, subscript

WORDS = ("value", "shape", "grad", "saved", "local", "bytes")
MODES = ("backward", "double", "forward")
_LIMIT = 150
_MANY = 100_000
"""The number of leaves up to which each leaf is inspected."""
_SMALL = 1_000_000
"""The number of elements up to which a sweep runs without a request."""


def draw(
    y: Any,
    params: Any = None,
    show: str = "shape",
    mode: str = "backward",
    depth: int | None = None,
    title: str | None = None,
    *,
    gradient: Any = None,
    tangents: Any = None,
    limit: int = _LIMIT,
) -> Drawing:
    """Draw the graph recorded for `y`, without any other software.

    Boxes are leaves, operations and results; arrows lead from a value to its uses. Click on a box
    in the page that ``.save("graph.html")`` writes to see more about it.

    Parameters
    ----------
    y : Tensor or tuple of Tensor. The results whose graph to draw. The graph may be of any size. If
        a backward pass has freed it, the picture lacks the saved values.
    params : dict of str to Tensor, list of Tensor or object with named_parameters, optional. Names
        of leaves and other values. Default: leaves and results have the names of your variables.
    show : str. The contents of boxes and arrows, as words separated by commas: ``value`` (where it
        is known: of leaves, results and saved values, and of values that follow from these),
        ``shape``, ``grad`` (the adjoint of each value in a reverse sweep from `y`; the tangent in a
        forward one; in ``double`` mode only the ``.grad`` of leaves), ``saved`` (the values saved
        for the backward pass), ``local`` (the derivatives of operations by their arguments, on the
        arrows), ``bytes`` (the size of saved values).
    mode : {"backward", "double", "forward"}. The graph that a backward pass walks, with its steps;
        the graph of the gradient itself, as ``create_graph=True`` records it; or the sweep of
        tangents from the leaves.
    depth : int, optional. The number of levels of function calls to draw operation by operation;
        this needs source lines (see Notes). None: as many as there is room for.
    title : str, optional. The heading.
    gradient : Tensor or array, optional. The adjoint of `y` to start from (a tuple of them for
        several outputs); default: ones.
    tangents : dict or list of Tensor or array, optional. The tangents of the leaves, by their names
        in `params` or in its order; zero for leaves that are not named. Default: ones for all
        leaves.
    limit : int. The maximum number of boxes for leaves and operations; above it, each call or
        loop is drawn as one box.

    Returns
    -------
    Drawing: A picture that shows itself in notebooks, with a method ``.save(path)``.

    Raises
    ------
    TypeError: If `y` is not a tensor, or `params` has another form.
    ValueError: If a word of `show` or the mode is unknown, or the depth is negative.

    Notes
    -----
    Drawing has no side effects: hooks do not run, and ``.grad`` does not change. But showing
    ``grad`` or ``local`` runs the backward of operations, including custom Functions; for small
    graphs without packed saved tensors, this also happens without a request.

    Source lines are known for operations recorded within
    ``wengert.autograd.set_detect_anomaly(True, check_nan=False)``.

    Examples
    --------
    >>> from wengert.viz import draw
    >>> x = wg.tensor(2.0, requires_grad=True)
    >>> picture = draw(x.exp() * x, params={"x": x}, show="value,grad").picture
    >>> [(box.title, box.lines) for box in picture.boxes][:2]
    [('x', ['value 2', 'adjoint 22.167']), ('exp', ['value 7.3891', 'adjoint 2'])]
    >>> [step.text for step in picture.steps][0]
    'adjoint of y = 1'
    """
    words = words_of(show, "draw")
    if mode not in MODES:
        raise ValueError(f"draw(): mode must be one of {', '.join(MODES)}, not {mode!r}")
    if depth is not None and depth < 0:
        raise ValueError(f"draw(): depth must not be negative, but is {depth}")
    if limit < 1:
        raise ValueError(f"draw(): limit must be at least 1, but is {limit}")
    outputs = results_of(y, "draw")
    frame = sys._getframe(1)
    given = _variables(frame) if params is None else named(params, "draw")
    names = {id(tensor): name for name, tensor in (*_scope(frame)[::-1], *given.items())}
    several = isinstance(y, tuple | list)
    picture = _Drawn(outputs, several, given, words, mode, params is not None, names)
    return Drawing(picture.picture(depth, limit, title, gradient, tangents))


def words_of(show: Any, function: str) -> frozenset[str]:
    """Return the words of an argument `show`, after checking them."""
    parts = show.split(",") if isinstance(show, str) else list(show)
    words = frozenset(part.strip() for part in parts) - {""}
    unknown = sorted(words - set(WORDS))
    if unknown:
        raise ValueError(
            f"{function}(): show must be made of the words {', '.join(WORDS)}; there is no "
            f"{', '.join(map(repr, unknown))}"
        )
    return words


def _variables(frame: Any) -> dict[str, Any]:
    """Return the leaves in variables of `frame` by name: alone, in a sequence, or in a module."""
    found: dict[str, Any] = {}
    for variable, value in _scope(frame):
        for name, tensor in _held(variable, value):
            known = isinstance(tensor, TensorBase)
            if known and tensor.is_leaf and is_recorded(tensor):
                found[name] = tensor
    return found


def _scope(frame: Any) -> list[tuple[str, Any]]:
    """Return the variables that code in `frame` sees, its own first."""
    seen = {**frame.f_locals}
    for name, value in list(frame.f_globals.items()):
        seen.setdefault(name, value)
    return [item for item in seen.items() if item[0].isidentifier() and item[0][0] != "_"]


def _held(variable: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, TensorBase):
        yield variable, value
    elif type(value) in (list, tuple) and len(value) <= _LIMIT:
        yield from ((f"{variable}[{i}]", one) for i, one in enumerate(value))
    elif callable(getattr(type(value), "named_parameters", None)):
        yield from ((f"{variable}.{name}", one) for name, one in value.named_parameters())


class _Drawn:
    """One call of `draw`, with the facts known and the notes for the reader."""

    def __init__(
        self,
        outputs: list[Any],
        several: bool,
        params: dict[str, Any],
        words: frozenset[str],
        mode: str,
        asked: bool,
        names: dict[int, str],
    ) -> None:
        self.asked = asked
        """Whether the caller chose the names; then names that are not in the graph are reported."""
        self.outputs = outputs
        self.several = several
        self.params = params
        self.words = words
        self.mode = mode
        self.notes: list[str] = []
        self.titles = [
            names.get(id(tensor), f"y[{i}]" if several and len(outputs) > 1 else "y")
            for i, tensor in enumerate(outputs)
        ]

    def picture(
        self, depth: int | None, limit: int, title: str | None, gradient: Any, tangents: Any
    ) -> Picture:
        """Return the picture."""
        shown = ", ".join(self.titles)
        part = None
        outputs, titles = self.outputs, self.titles
        if self.mode == "double":
            part = next_sequence()
            outputs, titles = self._with_gradients(gradient)
        graph = Graph(outputs)
        if part is not None:
            part = sum(node._seq > part for node in graph.nodes)
        self._note_what_is_missing(graph)
        scopes = Scopes(graph.nodes)
        groups = groups_of(graph, limit, depth, scopes, part)
        if depth is not None and not scopes.known and graph.nodes:
            self.notes.append(
                "depth has no effect: where operations were recorded is not known. Record them "
                "within wengert.autograd.set_detect_anomaly(True, check_nan=False)."
            )
        single = {g.stop - 1 for g in groups if g.kind == "node"}
        leaves = range(len(graph.nodes), graph.size()) if len(graph.leaves) <= _MANY else ()
        wanted = single | set(leaves)
        facts = facts_of(graph, wanted, self.params.values())
        if "value" in self.words:
            compute_values(graph, facts, single)
        subject = Subject(graph, self.mode, self.words, groups, facts, scopes, limit)
        subject.names = self._names(graph, titles)
        subject.backward_part = part
        if self.mode == "backward":
            subject.reverse = self._reverse(graph, gradient, wanted, facts)
        elif self.mode == "forward":
            subject.tangents = self._tangents(graph, tangents, facts, limit)
        headings = {
            "backward": f"Graph of {shown}",
            "double": f"Graph of the gradient of {shown}",
            "forward": f"Tangents on the way to {shown}",
        }
        assembler = Assembler(subject, title or headings[self.mode])
        picture = assembler.build()
        make = {
            "backward": backward_steps,
            "double": computing_steps,
            "forward": forward_steps,
        }[self.mode]
        picture.steps = make(assembler, titles)
        boxes = sum(group.kind != "node" for group in groups)
        if boxes:
            self.notes.append(
                f"{count_text(len(graph.nodes))} operations: repetitions, calls and stretches of "
                f"the program are drawn as one box each ({count_text(boxes)} of "
                f"{count_text(len(picture.boxes))} boxes)."
            )
        picture.notes[:0] = self.notes
        return picture

    def _names(self, graph: Graph, titles: Sequence[str]) -> dict[Key, str]:
        names: dict[Key, str] = {}
        for name, tensor in self.params.items():
            key = graph.key_of(tensor)
            if key is not None:
                names.setdefault(key, name)
        # results have no vertex: negative numbers stand for them
        return names | {(-1 - i, 0): name for i, name in enumerate(titles)}

    def _note_what_is_missing(self, graph: Graph) -> None:
        for tensor, title in zip(self.outputs, self.titles, strict=True):
            if not is_recorded(tensor):
                self.notes.append(
                    f"{title} is a constant: it does not require a gradient, and nothing was "
                    "recorded. wengert.autograd.explain(output, input) says why."
                )
            elif tensor.is_leaf:
                self.notes.append(f"{title} is a leaf: no operation made it.")
        names = self.params.items() if self.asked else ()
        absent = [name for name, tensor in names if graph.key_of(tensor) is None]
        own = {id(tensor) for tensor in self.outputs}
        absent = [name for name in absent if id(self.params[name]) not in own]
        if absent:
            self.notes.append(f"Not in this graph: {listed(absent, 12)}.")

    # -- sweeps -----------------------------------------------------------------------------------

    def _asked(self, graph: Graph, facts: Facts) -> bool:
        """Return whether to run operations: on request, or if that is fast and has no effects."""
        if not self.words.isdisjoint({"grad", "local"}):
            return True
        size = sum(np.size(value) for value in facts.values.values())
        if len(graph.nodes) > _LIMIT or size > _SMALL:
            return False
        # never run a user's hook without a request
        return not any(is_packed(node) for node in graph.nodes)

    def _seeds(self, graph: Graph, gradient: Any) -> list[Any]:
        given = list(gradient) if self.several and gradient is not None else [gradient]
        given = [None] * len(self.outputs) if gradient is None else given
        if len(given) != len(self.outputs):
            raise ValueError(
                f"draw(): gradient must have one entry for each of {len(self.outputs)} outputs, "
                f"not {len(given)}"
            )
        seeds = []
        for tensor, title, g in zip(self.outputs, self.titles, given, strict=True):
            if g is None:
                if tensor._payload.size != 1 and is_recorded(tensor):
                    self.notes.append(
                        f"{title} has {count_text(tensor._payload.size)} elements: the sweep "
                        "starts from ones, which gives the gradient of their sum."
                    )
                seeds.append(ones_like(tensor._payload))
                continue
            array = np.asarray(g._payload if isinstance(g, TensorBase) else g)
            if array.shape != tuple(tensor._payload.shape):
                raise ValueError(
                    f"draw(): gradient of shape {array.shape} for {title}, which has the shape "
                    f"{tuple(tensor._payload.shape)}"
                )
            seeds.append(array.astype(tensor._payload.dtype)[()])
        return seeds

    def _reverse(
        self, graph: Graph, gradient: Any, wanted: set[int], facts: Facts
    ) -> Reverse | None:
        if not any(is_recorded(tensor) for tensor in graph.outputs):
            return None
        if gradient is None and not self._asked(graph, facts):
            return None
        if has_lifted(graph):
            self.notes.append("No adjoints are shown: this is a value inside a transform.")
            return None
        seeds = self._seeds(graph, gradient)
        try:
            swept = reverse_sweep(graph, seeds, wanted)
        except Exception as error:  # a custom Function may raise anything
            self.notes.append(failure_note("adjoints", error))
            return None
        if any(has_hooks(node) for node in graph.nodes) or any(
            leaf._ext is not None and leaf._ext.hooks for leaf in graph.leaves
        ):
            self.notes.append("There are hooks: they did not run in the sweep that is drawn.")
        for key, g in swept.adjoints.items():
            facts.shapes.setdefault(key, tuple(np.shape(g)))
            facts.dtypes.setdefault(key, g.dtype)
        return swept

    def _tangents(
        self, graph: Graph, tangents: Any, facts: Facts, limit: int
    ) -> dict[Key, Any] | None:
        if not graph.nodes:
            return None
        if tangents is None and not self._asked(graph, facts):
            return None
        seeds = self._directions(graph, tangents)
        if has_lifted(graph):
            self.notes.append("No tangents are shown: this is a value inside a transform.")
            return None
        try:
            # each node runs, and its cotangents have the shapes of its arguments
            swept = reverse_sweep(graph, self._seeds(graph, None))
            metas = {key: (np.shape(g), np.dtype(g.dtype)) for key, g in swept.adjoints.items()}
            for key, shape in facts.shapes.items():
                metas.setdefault(key, (shape, facts.dtypes.get(key, np.float64)))
            found = tangents_of(graph, seeds, metas)
        except Exception as error:  # a custom Function may raise anything
            self.notes.append(failure_note("tangents", error))
            return None
        for key, (shape, dtype) in metas.items():
            facts.shapes.setdefault(key, shape)
            facts.dtypes.setdefault(key, dtype)
        return found

    def _directions(self, graph: Graph, tangents: Any) -> dict[int, Any]:
        first = len(graph.nodes)
        if tangents is None:
            if len(graph.leaves) > 1:
                self.notes.append(
                    "The tangent of every leaf is one: the tangents are derivatives in that "
                    "direction. Choose another one by tangents={name: value}."
                )
            return {first + i: ones_like(leaf._payload) for i, leaf in enumerate(graph.leaves)}
        if isinstance(tangents, Mapping):
            given = dict(tangents)
        else:
            given = dict(zip(self.params if self.asked else (), tangents, strict=False))
        seeds: dict[int, Any] = {}
        for name, tangent in given.items():
            leaf: Any = self.params.get(name)
            key = None if leaf is None else graph.key_of(leaf)
            if key is None or not graph.is_leaf(key[0]):
                raise ValueError(
                    f"draw(): tangents[{name!r}] is for no leaf of this graph: params must name "
                    "the leaves"
                )
            array = np.asarray(tangent._payload if isinstance(tangent, TensorBase) else tangent)
            if array.shape != tuple(leaf._payload.shape):
                raise ValueError(
                    f"draw(): tangents[{name!r}] has the shape {array.shape}, and {name} "
                    f"{tuple(leaf._payload.shape)}"
                )
            seeds[key[0]] = array.astype(leaf._payload.dtype)
        return seeds

    def _with_gradients(self, gradient: Any) -> tuple[list[Any], list[str]]:
        """Return the outputs with their recorded gradients of the leaves, and the names of all."""
        graph = Graph(self.outputs)
        own = {id(tensor): name for name, tensor in self.params.items()}
        leaves = [leaf for leaf in graph.leaves if is_recorded(leaf)]
        pairs = [
            (tensor, new_tensor(g))
            for tensor, g in zip(self.outputs, self._seeds(graph, gradient), strict=True)
            if is_recorded(tensor) and is_differentiable(tensor._payload.dtype)
        ]
        if not pairs or not leaves:
            return self.outputs, self.titles
        roots, seeds = zip(*pairs, strict=True)
        try:
            grads = run_grad(roots, leaves, seeds, True, True)
        except Exception as error:  # a custom Function may raise anything
            self.notes.append(failure_note("gradients", error))
            return self.outputs, self.titles
        outputs, titles = list(self.outputs), list(self.titles)
        for place, (leaf, grad) in enumerate(zip(leaves, grads, strict=True)):
            if grad is not None:
                lone = "leaf" if len(leaves) == 1 else f"leaf{subscript(place + 1)}"
                outputs.append(grad)
                titles.append(f"gradient of {own.get(id(leaf), lone)}")
        constant = [
            title
            for title, grad in zip(titles, outputs, strict=True)
            if title not in self.titles and not is_recorded(grad)
        ]
        if constant:
            self.notes.append(f"Constant, and so without a graph: {listed(constant, 12)}.")
        return outputs, titles
