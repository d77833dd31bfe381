"""Exclusions from random programs, with reasons.

NOTE [what programs leave out]
PyTorch is the measure, except where it is known to be at odds with itself:

* an operation in place that reads the memory it writes: PyTorch raises in the backward pass or, for
  parts of the memory, at once; the result here is right;
* ``prod`` and ``detach_``, whose results may be written to (or saved) here, and not in PyTorch;
* hooks and writes on a view that was made before its base had a history: PyTorch crashes, or takes
  the view for a leaf, unless ``grad_fn`` was asked for first. Programs ask for it;
* hooks in programs that write past the graph (``detach``, ``.data``, ``no_grad``): PyTorch gives
  views new nodes then; hooks on the old ones are gone, and the order is another;
* hooks of several tensors, of which some are leaves: not supported in PyTorch under ``grad``;
* ``retain_grad`` on a Function's second output before it is written to: an internal error;
* hooks on the nodes of ``cat`` and ``stack``, which show gradients that nobody asked for;
* gradients of tensors that are not leaves, where hooks replace gradients or graphs are created:
  they depend on what else is asked for;
* ``detach`` beside views which no write to their base may follow, and ``requires_grad_`` of what
  has been used: PyTorch notices writes past the graph when such a view is used;
* graphs that are walked again when they are freed, if nodes hold masks, indices or numbers:
  only PyTorch frees those;
* recorded writes to expanded tensors, of which PyTorch refuses the backward pass;
* mixed floating dtypes: of a converted operand the copy is saved here, in PyTorch the original;
* what a node's hook sees of gradients that go on: nodes with several edges differ in detail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["passes", "without"]

SPOILED = "Same|Flat|Part|Split|unbind|split|chunk"
"""Lines that make views which no write to their base may follow."""
ASIDE = r"\.detach\(\)$|\.data$|no_grad\(\): x\d+ = \w+\.apply"
"""Lines that make views past the graph."""
KEPT = r"\[\[|\[t\.tensor|\[x|where|mask|index|[*/]|mul|div"
"""Lines whose nodes hold masks, indices or numbers."""


PASSES = (
    r"= x\d+\.(detach\(\)|data)$|no_grad\(\): (?!x\d+ = |x\d+\.grad_fn|h\d)|no_grad\(\).*_\.apply"
)


def passes(line: str) -> bool:
    """Whether a line may lead to a write past the graph."""
    return re.search(PASSES, line) is not None


def without(lines: list[str], on_views: Iterable[str]) -> list[str]:
    """A program of `lines` without what is left out.

    Parameters
    ----------
    on_views
        The ends of lines that put hooks on views.
    """
    if any(re.search(SPOILED, line) for line in lines):
        lines = [line for line in lines if not re.search(ASIDE, line)]
    if any("multi_grad_hook" in line for line in lines):
        # not of the tensor that a walk starts from: PyTorch forgets those
        lines = [re.sub(r"(x\d+)(?=\.backward)", r"(\1 * 1)", line) for line in lines]
    if any(re.search(KEPT, line) for line in lines):
        lines = [line.replace("backward()", "backward(retain_graph=True)") for line in lines]
    if on_views and any(passes(line) for line in lines):
        return [line for line in lines if not line.endswith(tuple(on_views))]
    return lines
