"""Layer 9 · viz: the functions of the user's program in which nodes were recorded, if known.

Operations record their site in the program in anomaly mode only; otherwise nothing is known.
"""

from __future__ import annotations

from typing import Any

from wengert.tape.sites import site_of


class Scopes:
    """The calls that led to each of some nodes, without those common to all of them.

    Parameters
    ----------
    nodes: The nodes.
    sites: The sites where they were recorded, if the nodes do not hold them.

    Attributes
    ----------
    known: Whether any site is known.
    depth: The maximum number of calls that lead to a node.
    """

    def __init__(self, nodes: list[Any], sites: list[Any] | None = None) -> None:
        places = [site_of(node) for node in nodes] if sites is None else sites
        stacks = [_frames(site) for site in places]
        some = [stack for stack in stacks if stack is not None]
        self.known = 2 * len(some) > len(nodes)
        if not self.known:
            self._calls: list[Any] = []
            self.depth = 0
            return
        # a site holds only the innermost frames, so stacks start at different frames
        common = set.intersection(*({code for code, _ in stack} for stack in some))
        self._calls = [None if stack is None else _calls(stack, common) for stack in stacks]
        self.depth = max(len(calls) for calls in self._calls if calls is not None)

    def names(self, i: int) -> tuple[str, ...]:
        """Return the functions that node `i` was recorded in, outermost first."""
        calls = self._calls[i] if self.known else None
        return () if calls is None else tuple(name for name, _ in calls)

    def shared(self, first: int, last: int) -> tuple[str, ...]:
        """Return the functions that two nodes have in common, outermost first."""
        found: list[str] = []
        for one, other in zip(self.names(first), self.names(last), strict=False):
            if one != other:
                break
            found.append(one)
        return tuple(found)

    def group_name(self, first: int, last: int) -> str:
        """Return the innermost function that both nodes were recorded in."""
        shared = self.shared(first, last) or self.names(first)
        return shared[-1]

    def group(self, i: int, depth: int) -> Any:
        """Return the key shared by the nodes that are drawn as one box at `depth`.

        None if node `i` is in no such group.
        """
        calls = self._calls[i] if self.known else None
        return None if calls is None or len(calls) <= depth else calls[: depth + 1]


def _frames(site: Any) -> list[tuple[Any, int]] | None:
    """Return the frames of a site as pairs of code and offset, outermost first."""
    if site is None or not site[0]:
        return None
    frames = site[0]
    return list(zip(frames[-2::-2], frames[::-2], strict=True))


def _calls(stack: list[tuple[Any, int]], common: set[Any]) -> tuple[tuple[str, int], ...]:
    """Return the calls below those common to all: the callee, and the call site."""
    # frames outside the first of these are missing only because other stacks were cut
    drop = next((place for place, (code, _) in enumerate(stack) if code in common), 0)
    while drop < len(stack) and stack[drop][0] in common:
        drop += 1
    return tuple(
        (stack[place][0].co_name, stack[place - 1][1] if place else 0)
        for place in range(drop, len(stack))
    )
