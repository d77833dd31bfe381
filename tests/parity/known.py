"""Permitted differences of random programs from PyTorch: rows of docs/differences.md.

A trace is the text of the difference, and what occurs in the shortest program that has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["KNOWN", "MODIFIED", "VALUE", "Known", "explained"]


class Known(NamedTuple):
    """A row of the page, and how its differences show."""

    reason: str
    """The first words of the row."""
    says: str
    """What is found in the words of the difference."""
    program: str = ""
    """What is found in the lines, where each is needed for the difference."""


FACTOR = r"hook\(watch\w*\(\"h\d+\", 2\)|\(g\.mul_|lambda g: g"
PAST = r"\.data\b|\.detach\(\)|save_on_cpu|saved_tensors_hooks"
FORWARD = r"forward-mode|dual\(|jvp\(|jacfwd\(|hessian\(|linearize\("
LIFTED = rf"{FORWARD}|func\.(grad|vjp|jacrev|vmap)|autograd\.functional"
INFERENCE = "inference_mode"
EMPTY = r"\(0, 3\)"
VALUE = r"^(derivative|x\d+(\.grad)?(\[\d+\])*|hook h\d+(\[\d+\])*)\S* is "
SLOPE = r"^(derivative|x\d+\.grad|hook h\d+)(\[\d+\])*\S* is "
NAN = VALUE + ".*only where PyTorch's is NaN"
SLOPE_NAN = SLOPE + ".*only where PyTorch's is NaN"
OURS_NAN = VALUE + ".*only where ours is NaN"
OUR_SLOPE_NAN = SLOPE + ".*only where ours is NaN"
DERIVES = re.compile(
    r"func\.(grad|jac|hess|jvp|vjp|lin)|functional\.(jac|hess|jvp|vjp|hvp|vhp)|autograd\.grad\("
    r"|unpack_dual|\.grad\b"
)
"""Lines whose values are derivatives."""
MODIFIED = "modified by an inplace"
WRITTEN = (
    r"(?<!requires_grad)(?<!detach)_\(|_\.apply|\] [-+*/]?= |[-+*/]= |out=|inplace="
    r"|0\.1, 1\.0, True|\.data = "
)
SHAPED = r"(axes_|t_|transpose_|ze_|dims_)\("

WRONG_TWICE = (
    r"index_(select|fill)|scatter|narrow_copy|mv_?\(|index_put|put_\(|fft|unflatten|sum\(.*out="
    r"|embedding|functional\.unfold|\] = "
)
PAST_WRITE = (
    r"\.data\.\w+_\(|\.data = |\.detach\(\)\.\w+_\(|"
    rf"(\.detach\(\)|\.data|save_on_cpu|saved_tensors_hooks).*\n[\s\S]*({WRITTEN})"
)
KRON = rf"(kron|inner|tensordot)\([\s\S]*({WRITTEN})"

KNOWN = (
    # -- what is refused here ---------------------------------------------------------------------
    Known("A tensor made in inference mode", "we raise .*Inference tensors cannot be", INFERENCE),
    Known(
        "Operands of different dtypes",
        "we raise .*(got dtype .* but expected .*: convert it in|takes operands of one dtype"
        "|expected (scalar type|dtype)|Expected A and B to have the same dtype)",
    ),
    Known("Tensors without elements", "we raise .*a batch without elements", EMPTY),
    Known(
        "What is wrong is refused of tensors",
        r"we raise .*(out of bounds( for|\. The input has 0)|mat1 and mat2|Expected size for"
        "|Dimension out of range|no larger|last dimension with stride 1|kernel size should be"
        "|for .(Bool|B?Float16|Half|ComplexDouble))",
        rf"{EMPTY}|cumulative_trapezoid",
    ),
    Known("An array is all the memory", "we raise .*setStorage", "as_strided"),
    Known(
        "A write to memory that a tensor",
        "we raise .*more than one elem",
        "index_fill_|tri[ul]_|threshold|eye_",
    ),
    Known("A matrix whose columns", "(we|PyTorch) raises? .*is singular", "linalg"),
    Known("A matrix whose columns", r"we raise .*singular value \d is 0", "svd"),
    Known("What has been given to forward mode", f"we raise .*{MODIFIED}", LIFTED),
    Known("The backward pass reads the angle", f"we raise .*{MODIFIED}", r"t\.polar"),
    Known(
        "The backward pass reads the argument",
        f"we raise .*{MODIFIED}",
        r"al\.ndtr|frexp|dot_product",
    ),
    Known("A tensor that does not lie row by row", "we raise .*only supported for contiguous"),
    Known("A factor that is written to afterwards", f"we raise .*{MODIFIED}|^derivative", KRON),
    Known("Second derivatives of eigenvalues, and", "we raise .*LinAlgError", "eig|svd"),
    Known("Second derivatives of eigenvalues, and", SLOPE_NAN, r"linalg\.eig"),
    Known(
        "A function that is run again",
        f"we raise .*{MODIFIED}",
        rf"checkpoint\(.*\n[\s\S]*({WRITTEN})",
    ),
    Known("A hook of saved tensors must", "we raise .*a saved tensor unpack_hook", "hooks"),
    Known(
        "A hook of saved tensors must",
        "PyTorch raises .*The size of tensor",
        rf"(save_on_cpu|hooks)[\s\S]*{SHAPED}",
    ),
    Known(
        "Gradients, tangents and what",
        "(we raise|PyTorch raises) .*more than one elem",
        r"\(g\.mul_|grad\.mul_|grad\(|forward-mode|jacfwd|jvp\(",
    ),
    Known("A gradient that is retained where", "we raise .*vmap that has ended", "is_grads_batch"),
    Known("What is detached of a tensor of inference", "we raise .*Inplace update", r"detach\(\)"),
    # -- what PyTorch refuses ---------------------------------------------------------------------
    Known(
        "Forward mode may be nested",
        "PyTorch raises .*(Nested forward mode|forward AD with .* (has not been impl|does not supp)"
        "|ZeroTensors|written-to tensor refers)",
        FORWARD,
    ),
    Known(
        "Forward mode may be nested",
        f"PyTorch raises .*{MODIFIED}.*; not with (a root|copies)",
        rf"({FORWARD}|jacrev).*(norm|softmax)",
    ),
    Known(
        "There is a derivative, or one of second order",
        "PyTorch raises .*(derivative for .*("
        "floor_divide|heaviside|_unique2|_[cp]dist_backward|_embedding_bag_backward"
        "|_ctc_loss_backward|margin_loss_backward|hardsigmoid_backward|soft_margin"
        "|dot_product_flash).* is not impl"
        "|log_ndtr_cpu|i1_backward|does not support automatic differentiation)",
    ),
    Known(
        "What is refused is as it was",
        rf"({VALUE}|^x\d+: shape).*; after what is refused",
        rf"{INFERENCE}|\] = ",
    ),
    Known("A tensor that a function returns", "is_leaf|incompatible with .grad", "reentrant=True"),
    Known("What is brought into a transform", "PyTorch raises .*Inference tensors", LIFTED),
    Known("Complex inputs are taken", "PyTorch raises .*inputs to be real"),
    Known("A complex gradient that a function", "PyTorch raises .*input_is_complex", "apply"),
    Known(
        "Numbers of 16 bits are taken",
        "PyTorch raises .*(not implemented for '(Half|BFloat16)'|[gG]ot Half)$",
    ),
    Known("Numbers of 16 bits and complex ones", "PyTorch raises .*for 'ComplexHalf'"),
    Known("Tensors without elements", "PyTorch raises .*(stack expects a non-empty)", EMPTY),
    Known(
        "Tensors without elements",
        "PyTorch raises .*(expected|length|stride 1|cannot res|as_strided is not)",
        EMPTY,
    ),
    Known(
        "A hook of several tensors",
        "PyTorch raises .*(A leaf node was passed|no attribute 'next_functions')",
        "multi_grad",
    ),
    Known("A hook of several tensors", "^hooks", "multi_grad_hook"),
    Known(
        "Where a view was written past the graph",
        "PyTorch raises .*(detached in-place|detach views in-place)|has a sound history",
        rf"{PAST}|detach_\(|(inference_mode|no_grad)[\s\S]*{SHAPED}"
        r"|(apply|\.real|\.imag|view_as_real)[\s\S]*(with|init).*(_\(|\] = )",
    ),
    Known("Where a view was written past the graph", "grad is Tensor, in PyTorch NoneType", PAST),
    Known(
        "Where a view was written past the graph",
        "^derivative",
        rf"(x\d+\[|select|narrow|diag|squeeze|view|chunk|split|unbind).*\n[\s\S]*({PAST_WRITE})",
    ),
    Known("A result that is written to may be", f"PyTorch raises .*{MODIFIED}.*; not with copies"),
    Known(
        "What has been given to forward mode",
        f"PyTorch raises .*({MODIFIED}|returns multiple views)",
        LIFTED,
    ),
    Known(
        "A result that is written to may be",
        "PyTorch raises .*Inference tensors",
        r"dtype=t\.(?!float64)|half|float\(",
    ),
    Known("A tensor that was made in inference", "requires_grad True, in PyTorch F", INFERENCE),
    Known(
        "Where nothing but positions or numbers",
        "raises? .*second time",
        r"trapezoid|avg_pool|area|index_add|fft|pad_seq|mode=\"(circular|reflect|replicate)",
    ),
    Known(
        "A gradient that was made in inference", "PyTorch raises .*Inplace update to inf", "grad"
    ),
    Known("``x.data = y`` leaves", "is_inference", r"\.data = "),
    Known(
        "A view of several that was saved",
        "PyTorch raises .*returns multiple views",
        "split|chunk|unbind",
    ),
    Known("A copy by `copy.copy`", "is_leaf False, in PyTorch True|is_inference", r"\.copy\(x"),
    Known("A linearised function", "; not with `jvp`"),
    Known("A view that no write may follow and", "spoiled hist", r"detach_\(|requires_grad_\(F"),
    Known("A shape that is changed in place", "PyTorch raises .*is a view and its base", SHAPED),
    Known("A shape that is changed in place", "PyTorch raises .*returned an invalid grad", SHAPED),
    Known("A shape that is changed in place", "has a sound hist", rf"apply[\s\S]*{SHAPED}"),
    Known("A source that is larger", "PyTorch raises .*The size of tensor a", "scatter"),
    Known("A source that is larger", "PyTorch raises .*returned an invalid grad", "scatter"),
    Known("A recomputation may save less", "PyTorch raises CheckpointError", "requires_grad_"),
    Known("Without `jvp`, forward mode", "PyTorch raises .*You must implement the jvp function"),
    Known(
        "Operands of different dtypes",
        "PyTorch raises .*(Found dtype|(Double|Float|Half),? and (Float|Double|Half))",
    ),
    Known("Dimensions of constants", "PyTorch raises .*(343597383\\d\\d|can't allocate memory)"),
    Known("Dimensions of constants", r"shape .*in PyTorch Size\(\[.*343597383\d\d"),
    Known("Transforms of tensors without", "PyTorch raises .*MKL FFT", r"\(0, 3\)|, 0"),
    Known("An operation in place that reads", "PyTorch raises .*refer to a single memory"),
    Known("Where two things are wrong", "PyTorch raises .*we (Index|Runtime)Err", WRONG_TWICE),
    Known("Where two things are wrong", "PyTorch raises .*we ValueErr", "cross_entropy"),
    Known("Where two things are wrong", "PyTorch raises NotImpl.*we RuntimeErr", "stft|ctc_loss"),
    Known("Hooks take batched gradients", "PyTorch raises Runt.*Batching rule", "batched"),
    Known("Under `vmap` numbers", "PyTorch raises IndexError.*we RuntimeError", r"vmap.*t\.cat"),
    # -- what tensors are -------------------------------------------------------------------------
    Known(
        "Third derivatives of a product",
        "; not with factors",
        r"(jac|jvp|linear).*(jac|hess).*prod|hess.*jac.*prod",
    ),
    Known("Third derivatives of a product", "^derivative.*; not beside", r"dual\(.*prod"),
    Known("Operations with several results", r"output_nr|is 0, in PyTorch 1", "output_nr"),
    Known(
        "A function that PyTorch composes",
        r"^x\d+ is \d, in PyTorch \d$",
        "next_functions",
    ),
    Known("A function that PyTorch composes", "^hooks", "next_functions|einsum|tensordot"),
    Known("A function that PyTorch composes", r"^hook h\d+\[\d+\] is", r"dist\([\s\S]*next_func"),
    Known("A function that PyTorch composes", "is 0, in PyTorch 1", r"isclose.*\n.*_version"),
    Known(
        "A function that PyTorch composes",
        "is False, in PyTorch True",
        r"(einsum|sum_to_size|tensordot|inference_mode[\s\S]*\.tile\().*\n.*_is_view",
    ),
    Known("What is added to a complex number", NAN, r"complex[\s\S]*(add|sub|[-+])"),
    Known("Where a cotangent is 0", "; not with a sum", "logcumsumexp"),
    Known("The gradient of the target has", VALUE + ".*in PyTorch .*inf", r"_cross_entropy\("),
    Known("A tensor that shows memory several", VALUE, r"(expand|broadcast_to)[\s\S]*median"),
    Known("Infinite elements, and NaN", OURS_NAN, r"(inf|nan)[\s\S]*(conv|fft|stft)"),
    Known("The third derivative at 0", SLOPE + ".*; not beside", r"0\.0\b[\s\S]*special\.i1\("),
    Known("Behind a vector without elements", SLOPE, rf"{EMPTY}[\s\S]*block_diag"),
    Known("A dimension that keeps its size", NAN, r"inf[\s\S]*interpolate"),
    Known("Where a function has no deriv", "^(derivative|x).*; not beside", r"linalg|std\(|hvp"),
    Known("At infinity these have their", NAN, "polygamma|zeta"),
    Known("What comes of an argument that is NaN", OURS_NAN, "igamma"),
    Known("A polynomial of NaN is NaN", OURS_NAN, "_polynomial_"),
    Known(
        "Which of several equal elements",
        r"^x\d+ is \[[\d ]+\], in PyTorch \[[\d ]+\]$",
        r"sort\([^|]*indices|argsort\(",
    ),
    Known("A power of 0.5 is the root", OURS_NAN, r"inf[\s\S]*(\*\* 0\.5|pow)"),
    Known("A sum of products lies", "stride", "einsum"),
    Known("A tensor without elements begins", "is 0, in PyTorch", "storage_offset"),
    Known("Where a derivative is zero", "we raise .*second time", rf"({FORWARD}).*u\.max\(\)"),
    Known("Where a derivative is zero", "requires_grad", rf"{EMPTY}[\s\S]*linalg"),
    Known("Where a derivative is zero", "is zeros, in PyTorch NoneType", FORWARD),
    Known("Where a derivative is zero", "is NoneType, in PyTorch zeros", FORWARD),
    Known("Where a derivative is zero", "; not with zeros", FORWARD),
    Known("Of operands that lie in memory in", "; not in rows"),
    Known("A tensor that is detached in place", "retains_grad", r"detach_\("),
    Known("A retained gradient has the shape", r"\.grad", rf"retain_grad[\s\S]*{SHAPED}"),
    Known("A hook of a tensor whose shape", "^derivative", rf"{SHAPED}[\s\S]*hook"),
    Known("Operands of different dtypes", "dtype float", "soft_margin_loss|entropy_with_logits"),
    Known("Conjugates are copies", "stride", r"complex[\s\S]*\.(H|mH|adjoint|conj)"),
    Known("Conjugates are copies", VALUE, rf"complex[\s\S]*\.(H|adjoint)[\s\S]*({WRITTEN})"),
    Known("Conjugates are copies", "requires_grad False, in PyT|is_inference", r"\.H|conj|adjoint"),
    Known(
        "A product or a convolution of tensors",
        "shape",
        rf"({EMPTY}|pdist)[\s\S]*(conv|addmv|pixel_un)|dot_product",
    ),
    # -- values -----------------------------------------------------------------------------------
    Known("A matrix with a column of zeros", VALUE, "lstsq"),
    Known("A matrix with a column of zeros", "now the libraries differ", "lstsq"),
    Known("An inverse of a matrix with NaN", OURS_NAN, "cholesky_inverse"),
    Known(
        "What is written in another order",
        r"^x\d+ is ",
        r"(?:real|imag)[\s\S]*\b(x\d+)\.(permute|t|transpose)\([\d, ]*\)\.\w+_\(\1\b",
    ),
    Known("Sources with more elements", "PyTorch raises .*set a forward grad", "masked_scatter"),
    Known("What lies in the other triangle", "; not below the diagonal", "cholesky_inverse"),
    Known("A rule of trapezes", NAN, "trapezoid|trapz"),
    Known("Scores that are NaN", OURS_NAN, "margin_loss"),
    Known(
        "A deviation and the mean beside it",
        r"^x\d+ is \[(-?inf ?)+\].*only where PyTorch's is NaN",
        r"(std|var)_mean\(.*\)\[1\]",
    ),
    Known("A deviation and the mean beside it", OUR_SLOPE_NAN, r"(std|var)_mean"),
    Known("A shape that is changed in place", "^derivative", rf"with t.*(grad|infer).*{SHAPED}"),
    Known("At ties the whole gradient", VALUE + ".*; not without the rest", "include_self=False"),
    Known("At ties the whole gradient", VALUE + ".*; not beside", "index_reduce"),
    Known(
        "PyTorch's derivative with respect to the input is zero at",
        "; not as it is",
        "as_strided_scatter",
    ),
    Known("PyTorch writes a diagonal into", "; not as it is", "diagonal_scatter"),
    Known(
        "What a mask or a factor of 0 hides",
        SLOPE_NAN,
        r"where\(|clamp|clip\(|logit|masked_fill|index_fill|index_put|\] = |hardshrink|copysign"
        r"|nansum|nanmean|relu|hardtanh|\[x\d+ ==|maximum|minimum|\.max\(|\.min\(|amax|amin"
        r"|fmax|fmin|cross_entropy|irfft|corrcoef|kl_div|ndtri|interpolate|grid_sample|nan_to_num|zero_\(|fill_\(|t\.(inf|nan)[\s\S]*(jac|jvp)",
    ),
    Known(
        "Norms, distances, deviations and angles",
        SLOPE_NAN,
        r"norm|dist|std|var|cosine_similarity|atan2|angle|sgn|hypot",
    ),
    Known("In float16 PyTorch's overflows", r" in PyTorch .*(nan|inf).*; not in float64"),
    Known("In float16 PyTorch's overflows", "; not in float64", "matrix_exp|margin_loss"),
    Known(
        "Infinite arguments that are equal",
        SLOPE_NAN,
        r"(-?t\.inf|log)[\s\S]*(logaddexp2|logcumsumexp)",
    ),
    Known("PyTorch's trigamma function", VALUE + ".*, nearly", "digamma|lgamma|polygamma"),
    Known("Arguments that are far apart", SLOPE_NAN, "logaddexp"),
    Known("Where elements next to a quantile", "^derivative.*; not beside", "quantile"),
    Known("Infinity is its own value", NAN, r"float(32|\(\))[\s\S]*gelu"),
    Known("The second derivative at 0", SLOPE_NAN, "sinc"),
    Known("A power of 0 has", SLOPE_NAN, r"\*\*|pow|sqrt"),
    Known("Derivatives of products with infinite factors", VALUE, r"(nan|inf)[\s\S]*prod"),
    Known("The slope at NaN is 1", OUR_SLOPE_NAN, "hardtanh|relu6|shrink"),
    Known("The gradient of a NaN is NaN", OUR_SLOPE_NAN, "logcumsumexp|linalg|softmax"),
    Known("Where a tangent is not finite", NAN + "; not without tangents", "dual"),
    Known("Where a tangent is not finite", OUR_SLOPE_NAN, r"(inf|nan)[\s\S]*(dual|jvp|jacfwd)"),
    Known("Where a tangent is not finite", NAN, r"inf[\s\S]*dual\(.*abs"),
    Known("The sign of NaN is NaN", OURS_NAN, r"sgn|sign"),
    Known("The sign of NaN is NaN", OUR_SLOPE_NAN, r"abs|sgn|(?<!re)norm|dist|l1_loss"),
    Known("In float16 PyTorch's `eps` is 0", "is .*nan", r"(float16|half)[\s\S]*cosine_sim"),
    Known("PyTorch negates whole numbers", "; not with doubles", r"uint8[\s\S]*atan2"),
    Known("Where its pieces meet", "^derivative.*; not beside", "huber_loss|smooth_l1_loss|elu"),
    Known("After a write past the graph", "not with copies and without hooks"),
    Known("After a write past the graph", VALUE, PAST_WRITE),
    Known("PyTorch's derivative of a matrix", "^derivative", r"(hooks|save_on_cpu).*vander"),
    Known("What required no gradient when", "^derivative", r"= x\d+\.requires_grad_\(\)"),
    Known("A tensor's hooks run before its gradient", SLOPE, rf"({FACTOR})[\s\S]*d\.grad\("),
    Known(
        "A hook that changes a gradient",
        "^derivative",
        rf"(prod|copysign|elu|logcumsumexp|dist|polar)[\s\S]*({FACTOR})"
        rf"|({FACTOR})[\s\S]*(prod|copysign|elu|dist|polar)",
    ),
    Known("Ties share the gradient under `vmap`", VALUE, r"vmap.*u\.(max|prod)\(\)"),
    Known("PyTorch's third derivatives", VALUE, "(?i)(layer|instance|batch|group)_?norm"),
)


def explained(what: str, lines: Sequence[str]) -> Known | None:
    """The first row that lists a difference of a program that is as short as can be."""
    program = "\n".join(lines)
    if DERIVES.search(lines[-1]):
        what = re.sub(r"^x\d+", "derivative", what)
    for known in KNOWN:
        if re.search(known.says, what) and re.search(known.program, program):
            return known
    return None
