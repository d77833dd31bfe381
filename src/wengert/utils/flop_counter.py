"""Layer 8 · utils: counts of floating-point operations, by module and operation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from wengert.ops.aten import OpOverloadPacket
from wengert.prims import records
from wengert.prims.facet import Facet
from wengert.prims.table import TABLE
from wengert.tape.base import TensorBase
from wengert.tape.sites import warn
from wengert.utils._pytree import tree_map_only
from wengert.utils.dispatch import TorchDispatchMode
from wengert.utils.module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

Shape = tuple[int, ...]


FLOPS: Facet[tuple[str, Callable[..., int]] | None] = Facet("flops", lambda prim: None)
"""The name that an operation is counted under, and its count by the shapes of its tensors."""


def _of_product(*shapes: Shape, out_shape: Shape, **_: Any) -> int:
    return 2 * prod(out_shape) * shapes[-2][-1]


def _of_contraction(x: Shape, y: Shape, a: Any, b: Any, *_: Any, **_how: Any) -> int:
    return 2 * prod(dict(zip((*a, *b), (*x, *y), strict=True)).values())


def _of_correlation(
    x: Shape, w: Shape, *_: Any, out_shape: Shape, transposed: Any, **_how: Any
) -> int:
    # each weight meets each position of the smaller side
    side = x if transposed else out_shape
    return 2 * side[0] * prod(side[2:]) * prod(w)


def _of_convolution(x: Shape, w: Shape, *how: Any, out_shape: Shape, **_how: Any) -> int:
    # stride, padding and dilation come before it, and perhaps a bias, whose shape is a tuple
    transposed = [value for value in how if not isinstance(value, tuple)][3]
    return _of_correlation(x, w, out_shape=out_shape, transposed=transposed)


def _of_weight(x: Shape, g: Shape, *_: Any, out_shape: Shape, **_how: Any) -> int:
    return _of_correlation(g, out_shape, out_shape=out_shape, transposed=True)


for _prim in (records.mm, records.addmm, records.bmm, records.baddbmm):
    FLOPS.of(_prim)((_prim.name, _of_product))
FLOPS.of(records.contract)(("bmm", _of_contraction))
FLOPS.of(records.convolution, records.convolution_without_bias)(("convolution", _of_convolution))
_BACKWARD = "convolution_backward"
FLOPS.of(records.correlate_weight)((_BACKWARD, _of_weight))
for _prim, _transposed in ((records.correlate_input, True), (records.correlate, False)):
    FLOPS.of(_prim)((_BACKWARD, partial(_of_correlation, transposed=_transposed)))


_REGISTERED: dict[str, Callable[..., int]] = {}


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Any], Any]:
    """Return a decorator that registers the count of one operation, or of several, for all modes.

    Parameters
    ----------
    targets : Operation or list of them. Such as ``wg.ops.aten.sin``; not one of its overloads.
    get_raw : bool. Whether the function gets tensors and ``out_val=``; else it gets their shapes
        and ``out_shape=``.

    Raises
    ------
    ValueError: If a target is no operation of ``wg.ops.aten``.

    Examples
    --------
    >>> count = register_flop_formula(wg.ops.aten.sinc)(lambda x, out_shape: 3 * x[0])
    >>> with FlopCounterMode(display=False) as mode:
    ...     _ = wg.sinc(wg.ones(5))
    >>> mode.get_total_flops()
    15
    """
    targets = targets if isinstance(targets, list | tuple) else [targets]
    for target in targets:
        if not isinstance(target, OpOverloadPacket):
            raise ValueError(
                "register_flop_formula(targets): expected each target to be OpOverloadPacket, "
                f"such as wengert.ops.aten.sin, but got {target!r}"
            )

    def register(function: Callable[..., int]) -> Callable[..., int]:
        counted = partial(function)
        counted._get_raw = get_raw  # type: ignore[attr-defined]
        _REGISTERED.update(dict.fromkeys(map(_name, targets), counted))
        return function

    return register


def _name(op: Any) -> str:
    return str(op).split(".")[1]


class FlopCounterMode(TorchDispatchMode):
    """Count the floating-point operations of matrix products and convolutions.

    A multiplication and an addition are two. Other operations are not counted, nor are those inside
    of recurrent layers. Attention counts as its two products.

    Parameters
    ----------
    mods : Accepted for compatibility with PyTorch.
    depth : int. How deep nested modules are shown in the table.
    display : bool. Whether to print the table at the end.
    custom_mapping : dict, optional. Counts of further operations: ``ops.aten.sin`` to a function of
        the arguments, where shapes stand for tensors, and of ``out_shape=``. One whose attribute
        ``_get_raw`` is True gets the tensors, and ``out_val=``.

    Examples
    --------
    >>> from wengert.utils.flop_counter import FlopCounterMode
    >>> layer = wg.nn.Linear(4, 3)
    >>> with FlopCounterMode(display=False) as counter:
    ...     _ = layer(wg.ones(2, 4))
    >>> counter.get_total_flops(), counter.get_flop_counts()["Linear"]
    (48, {aten.addmm: 48})
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int = 2,
        display: bool = True,
        custom_mapping: dict[Any, Callable[..., int]] | None = None,
    ) -> None:
        if mods is not None:
            warn("mods argument is not needed anymore, you can stop passing it")
        self.depth, self.display = depth, display
        self._own = {_name(op): own for op, own in (custom_mapping or {}).items()}
        self.flop_counts: dict[str, Counter[Any]] = defaultdict(Counter)
        self.mod_tracker = ModuleTracker()

    def get_total_flops(self) -> int:
        """Return the count of everything."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Return the count of each operation in each module."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Return a table of the modules, and of their operations."""
        depth = self.depth if depth is None else depth
        total = max(self.get_total_flops(), 1)
        rows = []
        for name, counts in self.flop_counts.items():
            level = 0 if name == "Global" else name.count(".") + 1
            if level <= depth:
                of_module = [(name, sum(counts.values()))]
                of_module += [(f" - {op}", count) for op, count in counts.items()]
                rows += [(" " * level + label, count) for label, count in of_module]
        width = max([len(label) for label, _ in rows], default=0)
        lines = [f"{label:{width}}  {count:>15,}  {count / total:>8.2%}" for label, count in rows]
        return "\n".join([f"{'Module':{width}}  {'FLOP':>15}  {'% Total':>8}", *lines])

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        self.mod_tracker.__exit__(*exc)
        if self.display:
            print(self.get_table())

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Compute the operation, and count it."""
        out = func(*args, **(kwargs or {}))
        own = self._own.get(func.packet) or _REGISTERED.get(func.packet)
        record = TABLE.get(str.__str__(func).rstrip("_"))
        found = None if record is None else FLOPS[record]
        if own is not None:
            found = func.packet, own
        if found is not None:
            shown, formula = found
            if getattr(formula, "_get_raw", False):
                count = formula(*args, **(kwargs or {}), out_val=out)
            else:
                shapes, out_shape = tree_map_only(TensorBase, _shape, (args, out))
                count = formula(*shapes, **(kwargs or {}), out_shape=out_shape)
            for module in self.mod_tracker.parents:
                self.flop_counts[module][OpOverloadPacket(shown)] += count
        return out


def _shape(x: Any) -> Shape:
    return tuple(x.shape)
