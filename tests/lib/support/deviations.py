"""Differences from PyTorch over this library's sample inputs, with reasons.

``python -m support.deviations`` writes the page docs/differences.md. The patterns match the
findings of `support.opinfo`, which begin with the dtype and the form of the call.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

from support.beyond import BEYOND
from support.opinfo import LEFT_OUT

__all__ = ["DEVIATIONS", "Deviation", "page"]


class Deviation(NamedTuple):
    """A difference that is meant, or that PyTorch has from what is right."""

    reason: str
    """Why, in a sentence."""
    patterns: tuple[str, ...]
    """Regular expressions, of which one is found in whatever differs for this reason."""
    operations: str
    """The operations, by the names of PyTorch's samples (``name/variant``)."""

    def explains(self, finding: str) -> bool:
        """Whether this is why something differs, for one of the operations."""
        return any(re.search(pattern, finding) for pattern in self.patterns)


_ABSENT = ("NotImplementedError", "there are no complex numbers of half")
_SMALL = "(bool|u?int(8|16|32|64)|float16|bfloat16)"

OURS = (
    Deviation(
        "Either argument may be a number.",
        (
            r"must be Tensor, not int, we do not",
            r"invalid combination.*\(int, Tensor\).*we do not",
        ),
        "atan2 eq fmod ge gt hypot le logical_and logical_or logical_xor lt maximum minimum ne "
        "rsub",
    ),
    Deviation(
        "A reversed operator that you call by name, with a number in place of the tensor, swaps "
        "the two.",
        ("descriptor", "'int' object has no attribute 'reciprocal'"),
        "__radd__ __rand__ __rdiv__ __rmul__ __ror__ __rxor__",
    ),
    Deviation(
        "Results are complete before they are written, so `out` may overlap the input.",
        (r"unsupported operation: (some elements|more than one element).*we do not",),
        "cat gather kthvalue masked_select take",
    ),
    Deviation("NumPy has no complex numbers of 32 bits.", _ABSENT, "chalf complex view_as_complex"),
    Deviation(
        "A backward pass cannot start from a sparse tensor: make it dense first.",
        ("must be a Tensor or a GradientEdge, but got SparseTensor",),
        "to_sparse",
    ),
    Deviation(
        "A tensor created from an array can reach only the memory of that array.",
        ("result differs", "out of bounds for storage"),
        "as_strided/partial_views",
    ),
    Deviation(
        "Random numbers have no history.",
        ("requires_grad False",),
        "bernoulli",
    ),
    Deviation(
        "At zero the second derivative of a norm is 0; in PyTorch it is NaN, or raises.",
        ("derivative 2.*PyTorch's .nan", "derivative 2: we raise"),
        "linalg.norm/subgradients_at_zero",
    ),
    Deviation(
        "Residuals have no history if they are empty because the system is not overdetermined.",
        ("result 1: requires_grad False",),
        "linalg.lstsq linalg.lstsq/grad_oriented",
    ),
    Deviation(
        "A dimension out of range raises IndexError; in PyTorch this function fails an internal "
        "check.",
        ("static_cast.*IndexError: Dimension out of range",),
        "narrow_copy",
    ),
    Deviation(
        "The error has one wording; in PyTorch it depends on whether the positions are returned.",
        ("pad (must be non-negative|should be at most half).*max_pool1d\\(\\) padding",),
        "nn.functional.max_pool1d",
    ),
    Deviation(
        "Small integers do not overflow when neighbours are added.",
        ("u?int8 (function|method): result differs",),
        "cumulative_trapezoid trapezoid trapz",
    ),
)

UNSPECIFIED = (
    Deviation(
        "Which parts of a complex number divided by zero are infinite, and which are NaN.",
        (r"complex128 .*result differs by 0: ours \[inf",),
        "cov",
    ),
    Deviation(
        "Which of several equal elements is selected.",
        (
            _SMALL
            + r" .*result( 1)? differs by [-+.e\d]*: ours \[[- 0-9]*\], PyTorch's \[[- 0-9]*\]",
        ),
        "argsort kthvalue mode sort topk",
    ),
)

THEIRS = (
    Deviation(
        "The derivative with respect to the input is zero at the overwritten places; in PyTorch "
        "at others.",
        ("derivative 1 of argument 0 differs",),
        "as_strided_scatter",
    ),
    Deviation(
        "PyTorch's second derivative loses six digits.",
        ("complex128 .*derivative 2 of argument 0 differs",),
        "linalg.householder_product",
    ),
    Deviation(
        "PyTorch's gradients of weights in float32 have larger rounding errors.",
        (r"complex128 .*derivative 2 of argument 1 differs by .*\n.*aweights=float32",),
        "cov",
    ),
    Deviation(
        "PyTorch casts the step to the dtype of `out`, which makes it 0.",
        ("step must be",),
        "arange",
    ),
    Deviation(
        "PyTorch's values have errors of up to 1e-6 in float64.",
        ("result differs by .*e-0[6-9]:",),
        "special.airy_ai special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1",
    ),
    Deviation(
        "At its poles the trigamma function is infinite; in PyTorch it is large but finite, by "
        "the rounding error of pi.",
        ("int(8|16|32|64) .*result differs by 0:",),
        "polygamma/polygamma_n_0 polygamma/polygamma_n_1 polygamma/polygamma_n_2 "
        "polygamma/polygamma_n_3 polygamma/polygamma_n_4 special.polygamma/special_polygamma_n_0",
    ),
    Deviation(
        "In float16 PyTorch's result overflows, or is less accurate.",
        ("float16 .*result differs",),
        "grid_sampler_2d grid_sampler_3d histc matrix_exp nn.functional.grid_sample "
        "nn.functional.soft_margin_loss",
    ),
    Deviation(
        "PyTorch's weights for uint8 have few bits: results differ by one or two.",
        ("uint8 function: result differs by [12]:",),
        "nn.functional.interpolate/bilinear nn.functional.interpolate/bicubic",
    ),
    Deviation(
        "PyTorch has no derivative with respect to the window.",
        ("argument 1 is None in PyTorch",),
        "istft",
    ),
    Deviation(
        "PyTorch has no second derivative if it works in chunks.",
        ("derivative 2 of argument 0 is None in PyTorch",),
        "nn.functional.linear_cross_entropy/chunked "
        "nn.functional.linear_cross_entropy/chunked_none",
    ),
    Deviation(
        "PyTorch's alias refuses integers, which its function accepts.", ("alias special",), "round"
    ),
)

DEVIATIONS = (*OURS, *UNSPECIFIED, *THEIRS)


def _told(deviations: Sequence[Deviation]) -> list[tuple[str, str]]:
    return [(reason, names) for reason, _, names in deviations]


def _section(title: str, deviations: Sequence[tuple[str, str]]) -> str:
    rows = []
    for reason, names in deviations:
        shown = dict.fromkeys(f"`{name.partition('/')[0]}`" for name in names.split())
        rows.append(f"| {', '.join(shown)} | {reason} |")
    return "\n".join([f"## {title}", "", "| operations | difference |", "|---|---|", *rows, ""])


def _left_out() -> str:
    rows = [f"* {what};" for what in LEFT_OUT.values()]
    rows[-1] = rows[-1].replace(";", ".")
    return "\n".join(["## Samples left out", "", "Samples that contain", "", *rows, ""])


def page() -> str:
    """The page of differences, in Markdown."""
    return "\n".join(
        [
            "# Differences from PyTorch",
            "",
            "`PYTHONPATH=tests/lib python -m support.deviations` writes this page from the",
            "list that the tests use. They take PyTorch's own sample inputs through both",
            "libraries: functions, methods, forms in place, operators and aliases; values,",
            "dtypes, first and second derivatives, and erroneous inputs.",
            "Any other difference fails the tests.",
            "",
            _section("Deliberate differences", _told(OURS)),
            _section("Unspecified results", _told(UNSPECIFIED)),
            _section("Where PyTorch errs", _told(THEIRS)),
            _section("Beyond the sample inputs", BEYOND),
            _left_out(),
        ]
    )


if __name__ == "__main__":
    sys.stdout.write(page())
