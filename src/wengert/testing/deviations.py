"""Layer 9 · testing: where this library is not as PyTorch, over its own sample inputs, and why.

``python -m wengert.testing.deviations`` writes the page docs/differences.md. The patterns are of
the findings of `wengert.testing.opinfo`, which begin with the dtype and the form of the call.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

from wengert.testing.opinfo import LEFT_OUT

__all__ = ["BEYOND", "DEVIATIONS", "Deviation", "page"]


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


_ABSENT = ("NotImplementedError", "is not supported, since", "there are no complex numbers of half")
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
        "A reversed operator that is called by its name with a number for the tensor swaps the "
        "two.",
        ("descriptor",),
        "__radd__ __rand__ __rmul__ __ror__ __rxor__",
    ),
    Deviation(
        "Results are complete before they are written, so `out` may overlap the input.",
        (r"unsupported operation: (some elements|more than one element).*we do not",),
        "cat gather kthvalue masked_select take",
    ),
    Deviation("NumPy has no complex numbers of 32 bits.", _ABSENT, "chalf complex view_as_complex"),
    Deviation("Tensors are dense.", _ABSENT, "to_sparse"),
    Deviation("The memory of a tensor is a NumPy array, whose size is fixed.", _ABSENT, "resize_"),
    Deviation(
        "An array is all the memory that there is to a tensor made from it.",
        ("result differs", "out of bounds for storage"),
        "as_strided/partial_views",
    ),
    Deviation(
        "Numbers that are drawn have no history.",
        ("requires_grad False",),
        "bernoulli normal normal/number_mean",
    ),
    Deviation(
        "At zero the second derivative of a norm is 0; in PyTorch it is NaN, or refused.",
        ("derivative 2.*PyTorch's .nan", "derivative 2: we raise"),
        "linalg.norm/subgradients_at_zero",
    ),
    Deviation(
        "Residuals that are empty, since the system is not overdetermined, have no history.",
        ("result 1: requires_grad False",),
        "linalg.lstsq linalg.lstsq/grad_oriented",
    ),
    Deviation(
        "A dimension that is out of range is an IndexError; here alone PyTorch fails in a check "
        "of its own.",
        ("static_cast.*IndexError: Dimension out of range",),
        "narrow_copy",
    ),
    Deviation(
        "One wording; in PyTorch it depends on whether the positions are needed.",
        ("pad (must be non-negative|should be at most half).*max_pool1d\\(\\) padding",),
        "nn.functional.max_pool1d",
    ),
    Deviation(
        "Small integers do not overflow where neighbours are added.",
        ("u?int8 (function|method): result differs",),
        "cumulative_trapezoid trapezoid trapz",
    ),
)

UNSPECIFIED = (
    Deviation(
        "Which parts of a complex number that is divided by zero are infinite, and which are NaN.",
        (r"complex128 .*result differs by 0: ours \[inf",),
        "cov",
    ),
    Deviation(
        "Which of several equal elements is found.",
        (
            _SMALL
            + r" .*result( 1)? differs by [-+.e\d]*: ours \[[- 0-9]*\], PyTorch's \[[- 0-9]*\]",
        ),
        "argsort kthvalue mode sort topk",
    ),
)

THEIRS = (
    Deviation(
        "PyTorch's derivative by the input is zero at the wrong places; here at those that are "
        "overwritten.",
        ("derivative 1 by argument 0 differs",),
        "as_strided_scatter",
    ),
    Deviation(
        "PyTorch's second derivative has lost six digits.",
        ("complex128 .*derivative 2 by argument 0 differs",),
        "linalg.householder_product",
    ),
    Deviation(
        "PyTorch's derivatives by weights in float32 have more of their rounding errors.",
        (r"complex128 .*derivative 2 by argument 1 differs by .*\n.*aweights=float32",),
        "cov",
    ),
    Deviation(
        "PyTorch casts the step to the dtype of `out`, and finds 0.", ("step must be",), "arange"
    ),
    Deviation(
        "PyTorch's values have errors of up to 1e-6 in float64.",
        ("result differs by .*e-0[6-9]:",),
        "special.airy_ai special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1",
    ),
    Deviation(
        "At its poles the trigamma function is infinite; PyTorch's is as large as the rounding "
        "error of pi allows.",
        ("int(8|16|32|64) .*result differs by 0:",),
        "polygamma/polygamma_n_0 polygamma/polygamma_n_1 polygamma/polygamma_n_2 "
        "polygamma/polygamma_n_3 polygamma/polygamma_n_4 special.polygamma/special_polygamma_n_0",
    ),
    Deviation(
        "In float16 PyTorch's overflows, or is less exact than ours.",
        ("float16 .*result differs",),
        "grid_sampler_2d grid_sampler_3d histc matrix_exp nn.functional.grid_sample "
        "nn.functional.soft_margin_loss",
    ),
    Deviation(
        "PyTorch's weights for uint8 have few bits: results are one or two off.",
        ("uint8 function: result differs by [12]:",),
        "nn.functional.interpolate/bilinear nn.functional.interpolate/bicubic",
    ),
    Deviation(
        "PyTorch has no derivative by the window.", ("argument 1 is None in PyTorch",), "istft"
    ),
    Deviation(
        "PyTorch has no second derivatives where it works in pieces.",
        ("derivative 2 by argument 0 is None in PyTorch",),
        "nn.functional.linear_cross_entropy/chunked "
        "nn.functional.linear_cross_entropy/chunked_none",
    ),
    Deviation("PyTorch's alias takes no integers, its function does.", ("alias special",), "round"),
)

DEVIATIONS = (*OURS, *UNSPECIFIED, *THEIRS)

BEYOND = (
    Deviation(
        "The sign of NaN is NaN, and with it the derivative of an absolute value; PyTorch's is 0.",
        (),
        "abs sgn sign nn.functional.l1_loss",
    ),
    Deviation(
        "Scores that are NaN make the loss NaN; PyTorch leaves them out.",
        (),
        "nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss",
    ),
    Deviation(
        "Where the exponent is 0, the derivative by both arguments is the reciprocal of the base; "
        "PyTorch's is 0.",
        (),
        "pow float_power",
    ),
    Deviation(
        "Where the absolute value is 0, its derivative is that of the product; PyTorch's is 0.",
        (),
        "polar",
    ),
    Deviation(
        "Outside of its domain the function and its derivative are NaN; PyTorch's derivative is "
        "finite.",
        (),
        "acosh",
    ),
    Deviation(
        "At ties forward mode has the derivative that the gradient has; in PyTorch the two differ.",
        (),
        "fmax fmin clamp clamp_max clamp_min",
    ),
    Deviation(
        "At ties the whole gradient goes to the elements that are reduced; PyTorch counts the "
        "element that is left out by `include_self=False`, too.",
        (),
        "index_reduce scatter_reduce",
    ),
    Deviation(
        "Any `out` will do that the result can be cast to; PyTorch asks for the very dtype where "
        "functions are not element by element.",
        (),
        "cumsum bmm mv vdot addmm arange narrow_copy",
    ),
    Deviation(
        "A sum that begins with -0.0 is -0.0; PyTorch begins with 0.0.",
        (),
        "cumsum",
    ),
    Deviation(
        "The derivative is by `log_probs` as they are. PyTorch's has `exp(log_probs)` added, which "
        "is the same only if a `log_softmax` made them.",
        (),
        "nn.functional.ctc_loss",
    ),
    Deviation(
        "A Python number that an integer dtype cannot hold is an OverflowError. PyTorch takes most "
        "of them modulo a power of 2.",
        (),
        "add clamp mul sub",
    ),
    Deviation(
        "Of operands that lie in memory in different orders NumPy makes a result in row-major "
        "order, PyTorch one that lies as the first operand.",
        (),
        "add sub mul div eq ne lt le gt ge logical_and logical_or logical_xor",
    ),
    Deviation(
        "Matrices that LAPACK computed lie row by row; PyTorch leaves them column by column. "
        "Transforms lie in row-major order, too.",
        (),
        "linalg.inv linalg.solve linalg.cholesky linalg.qr linalg.svd linalg.eigh lu fft.fft2 "
        "fft.fftn",
    ),
    Deviation(
        "Parts are copies. PyTorch's share memory that must not be written to.",
        (),
        "unsafe_chunk unsafe_split",
    ),
    Deviation(
        "Where a mask of bytes is written with one number, PyTorch refuses it; here it is a mask, "
        "as in every other index. Integers of 8 and 16 bits are taken for indices, too.",
        (),
        "index_put",
    ),
    Deviation(
        "Without `jvp`, forward mode transposes `backward`, where PyTorch raises "
        "NotImplementedError.",
        (),
        "autograd.Function",
    ),
    Deviation(
        "A shape that is changed in place where nothing is recorded stays part of the history. "
        "PyTorch's history keeps the former shape, and its backward pass raises.",
        (),
        "t_ transpose_ squeeze_ unsqueeze_ swapaxes_ swapdims_",
    ),
    Deviation(
        "Gradients, tangents and what transforms return lie in row-major order as a rule; "
        "PyTorch's are often expanded, or lie as what they were computed from.",
        (),
        "autograd.grad autograd.functional func.grad func.jacrev func.jacfwd func.hessian "
        "func.vmap func.jvp",
    ),
    Deviation(
        "Results of these lie row by row where an argument does not; PyTorch's mostly lie as "
        "the argument.",
        (),
        "pow nn.functional.gelu nn.functional.logsigmoid scatter scatter_add index_add "
        "select_scatter slice_scatter diagonal_scatter rot90 quantile median unique cummax "
        "cummin",
    ),
    Deviation(
        "Where a derivative is zero everywhere, it may have a history in one library and none "
        "in the other.",
        (),
        "autograd.grad autograd.functional autograd.forward_ad func.jvp func.jacfwd func.hessian",
    ),
    Deviation(
        "Forward mode may be nested, and be differentiated, where PyTorch has no formula, or "
        "writes to what it has saved.",
        (),
        "func.linearize func.jacfwd softmax norm",
    ),
    Deviation(
        "What has been given to forward mode and is written to afterwards raises, or counts "
        "with its former values; in PyTorch it always raises.",
        (),
        "autograd.forward_ad func.jvp",
    ),
    Deviation(
        "A linearised function depends on the tensor where it was linearised. In PyTorch its "
        "results are constants, and are wrong for second derivatives.",
        (),
        "func.linearize",
    ),
    Deviation(
        "Complex inputs are taken.",
        (),
        "func.jacrev func.jacfwd",
    ),
    Deviation(
        "Tensors without elements are taken where PyTorch raises, or refused with a reason, "
        "since what a function does to its elements is not known.",
        (),
        "func.vmap func.jacrev func.jacfwd func.hessian autograd.functional",
    ),
    Deviation(
        "A result that is written to may be saved as a copy: then backward is right where "
        "PyTorch raises. So it is with operands that were converted to another dtype.",
        (),
        "prod mul add addcmul nn.functional.huber_loss",
    ),
    Deviation(
        "A tensor made in inference mode is refused also by operations that would not need it "
        "for the derivative that is asked for.",
        (),
        "fmod copysign addcmul heaviside",
    ),
    Deviation(
        "Operands of different dtypes are refused here, or promoted; PyTorch does one or the "
        "other, or gives the first one's dtype.",
        (),
        "einsum cdist lerp index_put nn.functional.huber_loss",
    ),
    Deviation(
        "Conjugates are copies: without recording they require no gradient, and in inference "
        "mode they are inference tensors.",
        (),
        "conj",
    ),
    Deviation(
        "An operation in place that reads the memory it writes is right in its backward pass; "
        "PyTorch raises.",
        (),
        "mul_ add_ sub_ div_ copy_",
    ),
    Deviation(
        "Elements outside of the view that it is applied to have no derivative in PyTorch; here "
        "they have, or it raises.",
        (),
        "as_strided",
    ),
    Deviation(
        "Where its pieces meet, the second derivative is that of the left one.",
        (),
        "nn.functional.elu",
    ),
    Deviation(
        "The sign of NaN is NaN; in PyTorch it is 0.",
        (),
        "sign sgn",
    ),
    Deviation(
        "Derivatives of products with infinite factors are the product of the others; PyTorch "
        "divides, which gives NaN.",
        (),
        "prod cumprod",
    ),
    Deviation(
        "The most frequent of NaN and numbers is found among the numbers.",
        (),
        "mode",
    ),
    Deviation(
        "A power of 0 has finite derivatives where PyTorch's of second order are NaN.",
        (),
        "pow",
    ),
    Deviation(
        "Where two things are wrong with a call, it may be an IndexError here and a "
        "RuntimeError in PyTorch, or the other way about.",
        (),
        "mv baddbmm index_put put_ fft.rfft",
    ),
    Deviation(
        "Norms, distances and deviations of zero have derivatives that are 0; in PyTorch some, "
        "mostly of second order, are NaN.",
        (),
        "norm dist std var nn.functional.normalize",
    ),
    Deviation(
        "Where a view that no write may follow was written past the graph (`detach()`, "
        "`.data`), its history is kept; PyTorch refuses it.",
        (),
        "split chunk unbind",
    ),
)
"""What PyTorch's samples do not show."""


def _section(title: str, deviations: Sequence[Deviation]) -> str:
    rows = []
    for reason, _, names in deviations:
        shown = dict.fromkeys(f"`{name.partition('/')[0]}`" for name in names.split())
        rows.append(f"| {', '.join(shown)} | {reason} |")
    return "\n".join([f"## {title}", "", "| operations | difference |", "|---|---|", *rows, ""])


def _left_out() -> str:
    rows = [f"* {what};" for what in LEFT_OUT.values()]
    rows[-1] = rows[-1].replace(";", ".")
    return "\n".join(["## What is not taken", "", "Samples that hold", "", *rows, ""])


def page() -> str:
    """The page of differences, in Markdown."""
    return "\n".join(
        [
            "# Differences from PyTorch",
            "",
            "`python -m wengert.testing.deviations` writes this page from the list that the tests",
            "use. They take PyTorch's own sample inputs through both libraries: functions,",
            "methods, forms in place, operators and aliases; values, dtypes, first and second",
            "derivatives, and erroneous inputs. Whatever else differs fails them.",
            "",
            _section("What is meant", OURS),
            _section("What is not specified", UNSPECIFIED),
            _section("Where PyTorch errs", THEIRS),
            _section("What the samples do not show", BEYOND),
            _left_out(),
        ]
    )


if __name__ == "__main__":
    sys.stdout.write(page())
