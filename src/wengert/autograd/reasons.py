"""Layer 7 · autograd: the reasons of `explain` if no path leads from an output to an input."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from wengert.base.errors import CUTS_BEFORE, HIDES, describe
from wengert.tape.base import LEAF, TensorBase, node_of
from wengert.tape.detachments import DETACHING, SCALARS, Detachment, recent, told
from wengert.tape.invalidated import Invalidated
from wengert.tape.modes import is_recording
from wengert.tape.node import Unrecorded, edge_of
from wengert.tape.paths import Reach, leads_to
from wengert.tape.sites import line_of, shown
from wengert.tape.versions import is_inference


class Explanation:
    """The result of `explain`; it prints as text.

    Attributes
    ----------
    cause : str. ``"connected"``, if there is a gradient and nothing to explain; else one of

        * ``"not_watched"``: the input does not require a gradient;
        * ``"not_a_leaf"``: there is a gradient, but the input's ``.grad`` is not kept;
        * ``"detached"``: the path was cut by ``detach()``, ``.data``, ``numpy()``, ``item()``, ...;
        * ``"cast"``: it was cut by a conversion to integers or booleans;
        * ``"no_grad"``: the output, or a value before it, is a view that was made without
          recording, or was made in inference mode; of other results made under ``no_grad`` this
          cannot be known;
        * ``"create_graph"``: the output is a gradient that was computed without ``create_graph``;
        * ``"overwritten"``: the output was computed from another tensor, from which the input has
          been made since;
        * ``"no_path"``: the output has a graph that does not contain the input; the reason is
          unknown;
        * ``"no_graph"``: the output has no graph; more is not known;
        * ``"freed"``: there is a path, but a backward pass has freed the graph;
        * ``"modified_in_place"``: there is a path, but a saved value was modified in place;
        * ``"once_differentiable"``: there is a path through a derivative that has none itself;
        * ``"zero"``: the gradient is zero everywhere, such as that of rounding.
    certain : bool
        Whether the cause is certain; otherwise it is the likeliest, and the text says so.
    connected : bool
        Whether there is a path from the output to the input.
    path : tuple of str
        The names of the nodes on the shortest path; empty without one.
    sites : tuple of str
        The lines of the program that are to blame, such as ``"fit.py:12  y = x.detach()"``, the
        last first; empty where none is known. Others that may be are in the text only.
    text : str
        The explanation.

    Examples
    --------
    >>> x = wg.ones(2, requires_grad=True)
    >>> wg.autograd.explain(x.detach().sum(), x).cause
    'detached'
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
    """Wrap a line of prose; indented lines, which show source code, stay unchanged."""
    return [line] if line.startswith("  ") else textwrap.wrap(line, 96)


def listed(leaves: list[Any]) -> str:
    """Describe a few tensors by shape and dtype."""
    shown = [describe(leaf._payload) for leaf in leaves[:4]]
    if len(leaves) > 4:
        shown.append(f"{len(leaves) - 4} more")
    return ", ".join(shown)


class _Evidence:
    """The cuts that may lie between `output` and `input`, each kind with the latest first.

    A value computed without recording keeps no reference to its arguments, so the cause is only
    known if the memory that was cut is still alive. Operations that ran while recording was off
    leave no trace, so a place where it was switched off is never blamed.

    Attributes
    ----------
    proven: Cuts of values that depend on `input` and share memory with `output` or its graph.
    dependent: Other cuts of tensors that depend on `input`; `output` may or may not have been
        computed from their results.
    unknown: Cuts of tensors that no longer exist, and places where recording was switched off.
    """

    def __init__(self, output: Any, input: Any, reach: Reach | None) -> None:
        self.proven: list[Detachment] = []
        self.dependent: list[Detachment] = []
        self.unknown: list[Detachment] = []
        target = edge_of(input)
        root = None if reach is None else edge_of(output)
        held = [output._payload] if reach is None else _held(reach)
        later: set[Any] = set()
        unrelated: set[Any] = set()
        for cut in recent():
            edge = cut._edge
            if edge is None:
                self.unknown.append(cut)
                continue
            # the cut is of output itself or of a value computed from it
            if root is not None and leads_to(edge, root, later):
                continue
            if leads_to(edge, target, unrelated):
                memory = cut.memory
                found = memory is not None and any(_overlap(memory, one) for one in held)
                (self.proven if found else self.dependent).append(cut)

    def switches(self) -> list[Detachment]:
        """Return the places where recording was switched off."""
        return [cut for cut in self.unknown if cut.switch]

    def blamed(self) -> list[Detachment]:
        """Return the cuts to blame, certain or guessed; all of them have one cause."""
        # numbers are usually made for printing
        likely = [cut for cut in self.dependent if cut.kind not in SCALARS]
        found = self.proven or likely or self.dependent
        return found if len({_cause(cut) for cut in found}) == 1 else []

    def explanation(self, lines: list[str], otherwise: str) -> Explanation:
        """Return the explanation after `lines`; `otherwise` is the cause if none is known."""
        blamed = self.blamed()
        if not blamed:
            lines += self.candidates()
            return Explanation(otherwise, lines, certain=not (self.dependent or self.unknown))
        cause = _cause(blamed[0])
        if self.proven:
            lines.append("A value that depends on input left the graph here, and is held still:")
        else:
            lines.append(
                "Most likely, if output was computed from input at all: a value that depends on "
                "input left the graph here:"
            )
        lines += [*[f"  {line}" for line in told(blamed)], CURES[cause]]
        if not self.proven:
            lines += self.candidates(blamed)
        return Explanation(cause, lines, certain=bool(self.proven), sites=_sites(blamed))

    def candidates(self, named: list[Detachment] | None = None) -> list[str]:
        """Return lines that list the other places that may be on the path."""
        places = told(named or [])
        found = [line for line in told(self.dependent + self.unknown) if line not in places]
        if not found:
            return []
        # a value without a graph keeps no reference to its arguments
        return [f"{UNKNOWN} {CUTS_BEFORE.strip()}", *[f"  {line}" for line in found]]


UNKNOWN = "Whether any of these is on the way from input to output is not known."


def _cause(cut: Detachment) -> str:
    return "detached" if cut.kind in DETACHING else "cast"


def _held(reach: Reach) -> list[Any]:
    """Return the arrays of constants and leaves that a graph holds."""
    held = [leaf._payload for leaf in reach.leaves]
    for node in reach.nodes:
        prim = getattr(type(node), "prim", None)
        if prim is None:
            continue
        for name in prim.saved_args:
            saved = getattr(node, f"s_{name}", None)
            for one in saved if prim.variadic and isinstance(saved, tuple) else (saved,):
                if isinstance(one, TensorBase) and one._edge is None:
                    held.append(one._payload)
    return held


def _overlap(one: Any, other: Any) -> bool:
    """Return whether two arrays certainly share memory."""
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return False
    work: Any = 1000
    try:
        return bool(np.shares_memory(one, other, max_work=work))
    except np.exceptions.TooHardError:
        return False


def _sites(cuts: list[Detachment]) -> tuple[str, ...]:
    """Return the source lines of cuts, without duplicates."""
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
    """Return the explanation why `output` has no history at all."""
    what = f"No gradient: output ({describe(output._payload)})"
    evidence = _Evidence(output, input, None)
    if output._payload.dtype.kind in "iub":
        kind = "boolean" if output._payload.dtype.kind == "b" else "integer"
        lines = [f"{what} is {kind}: no operation that gives such values is differentiable."]
        casts = [cut for cut in evidence.dependent if _cause(cut) == "cast"]
        if casts:
            lines += [
                "Values that depend on input were converted here:",
                *[f"  {line}" for line in told(casts)],
            ]
        sites = _sites(casts)
        return Explanation("cast", [*lines, CURES["cast"]], sites=sites if len(sites) == 1 else ())
    if input._ext is not None and input._ext.grad is output:
        return Explanation(
            "create_graph",
            [
                f"{what} is input.grad, and the backward pass that computed it was not recorded.",
                "Pass create_graph=True to backward() or autograd.grad() to differentiate again.",
            ],
        )
    lines = [f"{what} has no graph: nothing was recorded for it."]
    if is_inference(output):
        switches = [cut for cut in evidence.switches() if cut.kind == "inference_mode()"]
        lines += [
            "It was made in inference mode, which records nothing:",
            *[f"  {line}" for line in told(switches)],
            CURES["no_grad"],
        ]
        sites = _sites(switches)
        return Explanation("no_grad", lines, sites=sites if len(sites) == 1 else ())
    if output._edge is not None and _is_of(output._edge, input):
        # its requires_grad is True nevertheless, as in PyTorch
        lines.append("It is a view that was made while nothing was recorded:")
        return _unrecorded([output._edge], lines)
    if not evidence.proven and _shares_memory(output, input):
        lines += [
            "It shares the memory of input, but was taken out of its graph (detach() or .data).",
            CURES["detached"],
        ]
        return Explanation("detached", lines)
    if not evidence.blamed():
        lines.append(
            "Why is not known: what is computed without recording (no_grad, integers, values that "
            "were detached) keeps nothing of what it was computed from. Was output computed from "
            "input at all, and after input required a gradient? Comparisons, and gradients "
            "computed without create_graph=True, have no graph either."
        )
        if not is_recording():
            lines.append("Recording is switched off here, now.")
    found = evidence.explanation(lines, "no_graph")
    found.text += f"\n  {HIDES}"
    return found


def _is_of(end: Unrecorded, input: Any) -> bool:
    """Return whether an unrecorded view certainly is of a tensor that depends on `input`."""
    base = None if end.base is None else end.base()
    return base is not None and leads_to(base, edge_of(input), set())


def _unrecorded(ends: list[Any], lines: list[str], certain: bool = True) -> Explanation:
    """Return the explanation that views were made without recording, after `lines`."""
    sites = tuple(dict.fromkeys(line for line in map(line_of, ends) if line))
    lines += [*[f"  {site}" for site in sites], CURES["no_grad"]]
    return Explanation("no_grad", lines, certain=certain, sites=sites)


def _shares_memory(one: Any, other: Any) -> bool:
    return one._payload is other._payload or (one._vc is not None and one._vc is other._vc)


def without_path(output: Any, input: Any, reach: Reach) -> Explanation:
    """Return the explanation why the history of `output`, in `reach`, does not lead to `input`."""
    depends = listed([leaf for leaf in reach.leaves if leaf is not output])
    lines = [
        f"No gradient: no path leads from output ({describe(output._payload)}) to input "
        f"({describe(input._payload)})."
    ]
    if depends:
        lines.append(f"The graph of output ends at: {depends}.")
    if output._edge is LEAF:
        lines.append(
            "output is a leaf: a graph starts with it. If it was computed, requires_grad=True was "
            "set on a tensor whose graph had been cut, which trains nothing."
        )
    invalid = next((n.message for n in reach.nodes if isinstance(n, Invalidated)), None)
    if invalid is not None:
        return Explanation("modified_in_place", [*lines, *invalid.split("\n")])
    unrecorded = [node for node in reach.nodes if node.__class__ is Unrecorded]
    ends = [end for end in unrecorded if _is_of(end, input)]
    if ends:
        lines.append("It ends also at a view of input that was made while nothing was recorded:")
        return _unrecorded(ends, lines)
    evidence = _Evidence(output, input, reach)
    earlier = None if evidence.blamed() else _earlier(output, input, reach)
    if earlier is not None:
        lines += [
            f"But there is a path to {describe(earlier._payload)}, from which input was made: if a "
            "line such as x = x * 0.1, or a step of an optimizer, gave its name to another tensor, "
            "output was computed from the one that had it before.",
            "Compute output again from input; or keep the earlier tensor and ask for its gradient. "
            "Update parameters in place, under no_grad().",
        ]
        return Explanation("overwritten", lines)
    if not evidence.blamed():
        lines.append(
            "Use input in what output is computed from. If that was done, input was made, or began "
            "to require a gradient, only afterwards, or the path was cut. (With allow_unused=True, "
            "autograd.grad gives None; with materialize_grads=True, zeros.)"
        )
        if any(leaf._payload.shape == input._payload.shape for leaf in reach.leaves):
            lines.append(
                "A leaf of the shape of input is among them: is it an earlier one of its name?"
            )
    return evidence.explanation(lines, "no_path")


def _earlier(output: Any, input: Any, reach: Reach) -> Any:
    """Return a tensor from which `output`, and later `input`, certainly was computed, or None."""
    alike = [leaf for leaf in reach.leaves if leaf._payload.shape == input._payload.shape]
    if input._edge is LEAF:
        made = [leaf for leaf in alike if leaf is not output and _shares_memory(leaf, input)]
    elif node_of(edge_of(input))._seq > node_of(edge_of(output))._seq:
        return None
    else:
        below = set(Reach(edge_of(input)).leaves)
        made = [leaf for leaf in alike if leaf in below]
    return next(iter(made), None)
