"""Layer 7 · autograd: what `explain` says where no path leads from an output to an input."""

from __future__ import annotations

import textwrap
from typing import Any

from wengert.base.errors import CUTS_BEFORE, HIDES, describe
from wengert.tape.base import LEAF
from wengert.tape.cuts import DETACHING, SCALARS, Cut, recent, told
from wengert.tape.modes import is_recording
from wengert.tape.node import Unrecorded, edge_of
from wengert.tape.paths import Reach, leads_to, node_of
from wengert.tape.sites import shown
from wengert.tape.spoiled import Spoiled
from wengert.tape.versions import is_inference
from wengert.tape.views import MADE_UNRECORDED

__all__ = ["CURES", "Explanation", "listed", "without_graph", "without_path"]


class Explanation:
    """What `explain` found; shown as text.

    Attributes
    ----------
    cause : str
        ``"connected"``, if there is a gradient and nothing to explain; else one of

        * ``"not_watched"``: the input does not require a gradient;
        * ``"not_a_leaf"``: there is a gradient, but the input's ``.grad`` is not kept;
        * ``"detached"``: the path was cut by ``detach()``, ``.data``, ``numpy()``, ``item()``, ...;
        * ``"cast"``: it was cut by a conversion to integers or booleans;
        * ``"no_grad"``: the output, or a value before it, was computed without recording;
        * ``"create_graph"``: the output is a gradient that was computed without ``create_graph``;
        * ``"overwritten"``: the output was computed from another tensor, from which the input has
          been made since;
        * ``"no_path"``: the output has a graph, in which the input does not occur;
        * ``"no_graph"``: the output has no graph, for none of the reasons above;
        * ``"freed"``: there is a path, but a backward pass has freed the graph;
        * ``"modified_in_place"``: there is one, but a value was changed that it needs;
        * ``"once_differentiable"``: there is one through a derivative that has none itself;
        * ``"zero"``: the gradient is zero everywhere, as that of rounding is.
    certain : bool
        Whether the cause is known; otherwise it is the likeliest.
    connected : bool
        Whether there is a path from the output to the input.
    path : tuple of str
        The names of the nodes on the shortest path; empty without one.
    sites : tuple of str
        The lines of the program that are to blame, such as ``"fit.py:12  y = x.detach()"``, the
        likeliest first.
    text : str
        The explanation.
    """

    __slots__ = ("cause", "certain", "connected", "path", "sites", "text")

    def __init__(
        self,
        cause: str,
        lines: list[str],
        *,
        certain: bool = True,
        path: tuple[str, ...] | None = None,
        sites: tuple[str, ...] = (),
    ) -> None:
        self.cause = cause
        self.certain = certain
        self.connected = path is not None
        self.path = path or ()
        self.sites = sites
        self.text = "\n  ".join(part for line in lines for part in _wrapped(line))

    def __repr__(self) -> str:
        return self.text


def _wrapped(line: str) -> list[str]:
    """A line of prose in parts; lines that are set in, which show a program's, stay as they are."""
    return [line] if line.startswith("  ") else textwrap.wrap(line, 96)


def listed(leaves: list[Any]) -> str:
    """A few tensors by shape, dtype and name."""
    shown = []
    for leaf in leaves[:4]:
        name = None if leaf.ext is None else leaf.ext.name
        shown.append(describe(leaf.payload) + (f" '{name}'" if name else ""))
    if len(leaves) > 4:
        shown.append(f"{len(leaves) - 4} more")
    return ", ".join(shown)


class _Evidence:
    """The cuts that may lie between `output` and `input`.

    Attributes
    ----------
    known
        Those of tensors that still exist and that depend on `input`, the last first.
    possible
        These, those of tensors that are gone, and the places where recording was switched off.
    """

    def __init__(self, output: Any, input: Any) -> None:
        self.known: list[Cut] = []
        self.possible: list[Cut] = []
        target = edge_of(input)
        lost = output.edge is None or output.edge.__class__ is Unrecorded
        root = None if lost else edge_of(output)
        later: set[Any] = set()
        unrelated: set[Any] = set()
        for cut in recent():
            edge = cut.edge
            if edge is not None:
                # output itself, or what was computed from it, was cut after output was made
                if root is not None and leads_to(edge, root, later):
                    continue
                if not leads_to(edge, target, unrelated):
                    continue
                self.known.append(cut)
            self.possible.append(cut)

    def blamed(self, switches: bool) -> Cut | None:
        """The likeliest of them, the last one as a rule.

        Parameters
        ----------
        switches
            Whether it may be that recording was switched off.
        """
        # numbers are made to be printed, as a rule
        likely = [
            cut for cut in self.possible if cut.kind not in SCALARS and (switches or not cut.switch)
        ]
        likely += self.known
        if switches:
            likely += self.possible
        return likely[0] if likely else None

    def explanation(self, lines: list[str], cut: Cut, after: str) -> Explanation:
        """That `cut` is to blame, after `lines`; `after` stands before a mere guess."""
        cause = "no_grad" if cut.switch else "detached" if cut.kind in DETACHING else "cast"
        if cut in self.known:
            lines.append("A value that depends on input left the graph here:")
        elif cut.switch:
            lines.append(f"{after}recording was switched off here:")
        else:
            lines.append(
                f"{after}a value left the graph here (it no longer exists, so that it cannot be "
                "told whether it depended on input):"
            )
        place = told([cut])[0]
        lines += [f"  {place}", CURES[cause]]
        others = [other for other in self.possible if told([other])[0] != place]
        if others:
            lines += ["Other places, the last first:", *[f"  {line}" for line in told(others)]]
        certain = cut in self.known and cut.kind not in SCALARS
        return Explanation(cause, lines, certain=certain, sites=_sites([cut, *others]))


def _sites(cuts: list[Cut]) -> tuple[str, ...]:
    """The lines of cuts, each once."""
    return tuple(dict.fromkeys(shown(cut.site) for cut in cuts))


CURES = {
    "detached": (
        "Leave that out and compute with the tensor itself: clone() copies within the graph, "
        "stack() joins tensors, and NumPy's functions on tensors are recorded."
    ),
    "cast": (
        "Integers and booleans carry no gradient: use the values from before the conversion, or a "
        "smooth function in its place (softmax for argmax, sigmoid for a comparison)."
    ),
    "no_grad": (
        "What must carry a gradient has to be computed outside of it, or within enable_grad()."
    ),
}


def without_graph(output: Any, input: Any) -> Explanation:
    """Why `output` has no history at all."""
    what = f"No gradient: output ({describe(output.payload)})"
    evidence = _Evidence(output, input)
    if output.payload.dtype.kind in "iub":
        kind = "boolean" if output.payload.dtype.kind == "b" else "integer"
        casts = [c for c in evidence.possible if not c.switch and c.kind not in DETACHING]
        lines = [f"{what} is {kind}: no operation that gives such values is differentiable."]
        lines += [f"  {line}" for line in told(casts)]
        return Explanation("cast", [*lines, CURES["cast"]], sites=_sites(casts))
    if input.ext is not None and input.ext.grad is output:
        return Explanation(
            "create_graph",
            [
                f"{what} is input.grad, and the backward pass that computed it was not recorded.",
                "Pass create_graph=True to backward() or autograd.grad() to differentiate again.",
            ],
        )
    lines = [f"{what} has no graph: nothing was recorded for it."]
    unrecorded = _unrecorded(output, input)
    blamed = evidence.blamed(switches=True)
    if unrecorded:
        inference = is_inference(output)
        switches = [
            cut
            for cut in evidence.possible
            if cut.switch and (cut.kind == "inference_mode()" or not inference)
        ]
        lines += [unrecorded, *[f"  {line}" for line in told(switches)], CURES["no_grad"]]
        return Explanation("no_grad", lines, sites=_sites(switches))
    if blamed is None and _shares_memory(output, input):
        lines += [
            "It shares the memory of input, but was taken out of its graph (detach() or .data).",
            CURES["detached"],
        ]
        return Explanation("detached", lines)
    if blamed is not None:
        found = evidence.explanation(lines, blamed, "Most likely, ")
        found.text += f"\n  {HIDES}"
        return found
    if not is_recording():
        lines += ["Recording is switched off here, the likeliest reason.", CURES["no_grad"]]
        return Explanation("no_grad", lines, certain=False)
    lines += [
        "No place is known where a graph was cut. Was output computed from input at all, and after "
        "input required a gradient? Comparisons, and gradients computed without create_graph=True, "
        "have no graph either.",
        HIDES,
    ]
    return Explanation("no_graph", lines)


def _unrecorded(output: Any, input: Any) -> str:
    """Whether it is certain that `output` was made without recording: a sentence, or nothing."""
    if is_inference(output):
        return "It was made in inference mode, which records nothing:"
    ext = output.ext
    if ext is None or ext.base is None or ext.no_write != MADE_UNRECORDED:
        return ""
    base = ext.base
    if base.edge is None or not leads_to(edge_of(base), edge_of(input), set()):
        return ""
    # its requires_grad is True all the same, as in PyTorch
    return "It is a view that was made while nothing was recorded:"


def _views(tensor: Any) -> list[Any]:
    """The views over the memory of `tensor` that are known and still there."""
    ext = tensor.ext
    base = tensor if ext is None or ext.base is None else ext.base
    known = [] if base.ext is None else [view() for view in base.ext.views or ()]
    return [view for view in known if view is not None]


def _shares_memory(one: Any, other: Any) -> bool:
    return one.payload is other.payload or (one.vc is not None and one.vc is other.vc)


def without_path(output: Any, input: Any, reach: Reach) -> Explanation:
    """Why the history of `output`, which `reach` holds, does not lead to `input`."""
    depends = listed([leaf for leaf in reach.leaves if leaf is not output])
    lines = [
        f"No gradient: no path leads from output ({describe(output.payload)}) to input "
        f"({describe(input.payload)})."
    ]
    if depends:
        lines.append(f"The graph of output ends at: {depends}.")
    if output.edge is LEAF:
        lines.append(
            "output is a leaf: a graph starts with it. If it was computed, requires_grad=True was "
            "set on a tensor whose graph had been cut, which trains nothing."
        )
    spoiled = next((n.message for n in reach.nodes if isinstance(n, Spoiled)), None)
    if spoiled is not None:
        return Explanation("modified_in_place", [*lines, *spoiled.split("\n")])
    evidence = _Evidence(output, input)
    ends = [node for node in reach.nodes if node.__class__ is Unrecorded]
    if ends:
        switches = [cut for cut in evidence.possible if cut.switch]
        lines.append("It ends also at a view that was made while nothing was recorded:")
        lines += [*[f"  {line}" for line in told(switches)], CURES["no_grad"]]
        own = any(view.edge is end for view in _views(input) for end in ends)
        return Explanation("no_grad", lines, certain=own, sites=_sites(switches))
    blamed = evidence.blamed(switches=False)
    found = None
    if blamed is None or blamed not in evidence.known:
        found = _earlier(output, input, reach)
    if found is not None:
        earlier, certain = found
        made = "was made" if certain else "was probably made"
        lines += [
            f"But there is a path to {describe(earlier.payload)}, from which input {made}: if a "
            "line such as x = x * 0.1, or a step of an optimizer, gave its name to another tensor, "
            "output was computed from the one that had it before.",
            "Compute output again from input; or keep the earlier tensor and ask for its gradient. "
            "Update parameters in place, under no_grad().",
        ]
        return Explanation("overwritten", lines, certain=certain)
    if blamed is not None:
        guess = "If output was computed from input at all, then most likely "
        return evidence.explanation(lines, blamed, guess)
    lines.append(
        "Use input in what output is computed from. If that was done, input was made, or began to "
        "require a gradient, only afterwards, or the path was cut. (With allow_unused=True, "
        "autograd.grad gives None; with materialize_grads=True, zeros.)"
    )
    if any(leaf.payload.shape == input.payload.shape for leaf in reach.leaves):
        lines.append(
            "A leaf of the shape of input is among them: is it an earlier one of its name?"
        )
    if evidence.possible:
        lines += [CUTS_BEFORE.strip(), *[f"  {line}" for line in told(evidence.possible)]]
    return Explanation("no_path", lines, sites=_sites(evidence.possible))


def _earlier(output: Any, input: Any, reach: Reach) -> tuple[Any, bool] | None:
    """A tensor that `output` was computed from, and `input` later; and whether that is certain."""
    alike = [leaf for leaf in reach.leaves if leaf.payload.shape == input.payload.shape]
    if input.edge is not LEAF:
        if node_of(edge_of(input)).seq > node_of(edge_of(output)).seq:
            return None
        below = set(Reach(edge_of(input)).leaves)
        return next(((leaf, True) for leaf in alike if leaf in below), None)
    cuts = [cut.edge for cut in recent()]
    for leaf in alike:
        if leaf is output:
            continue
        if _shares_memory(leaf, input):
            return leaf, True
        if any(edge is leaf for edge in cuts):
            return leaf, False
    return None
