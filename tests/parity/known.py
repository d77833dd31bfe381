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
    Known("A tensor created in inference", "we raise .*Inference tensors cannot be", INFERENCE),
    Known(
        "Operands of different dtypes",
        "we raise .*(got dtype .* but expected .*: convert it in|takes operands of one dtype"
        "|expected (scalar type|dtype)|Expected A and B to have the same dtype)",
    ),
    Known("Tensors without elements", "we raise .*a batch without elements", EMPTY),
    Known(
        "Invalid arguments are refused",
        r"we raise .*(out of bounds( for|\. The input has 0)|mat1 and mat2|Expected size for"
        "|Dimension out of range|no larger|last dimension with stride 1|kernel size should be"
        "|for .(Bool|B?Float16|Half|ComplexDouble))",
        rf"{EMPTY}|cumulative_trapezoid",
    ),
    Known("A tensor created from an", "we raise .*setStorage", "as_strided"),
    Known(
        "A write to memory that overlaps",
        "we raise .*more than one elem",
        "index_fill_|tri[ul]_|threshold|eye_",
    ),
    Known("A matrix with linearly dependent", "(we|PyTorch) raises? .*is singular", "linalg"),
    Known("A matrix with linearly dependent", r"we raise .*singular value \d is 0", "svd"),
    Known("If you write to a tensor after", f"we raise .*{MODIFIED}", LIFTED),
    Known("The backward pass reads the angle", f"we raise .*{MODIFIED}", r"t\.polar"),
    Known(
        "The backward pass reads the argument",
        f"we raise .*{MODIFIED}",
        r"al\.ndtr|frexp|dot_product",
    ),
    Known("A tensor that is not in row-major", "we raise .*only supported for contiguous"),
    Known("If you write to a factor", f"we raise .*{MODIFIED}|^derivative", KRON),
    Known("If eigenvalues or singular", "we raise .*LinAlgError", "eig|svd"),
    Known("If eigenvalues or singular", SLOPE_NAN, r"linalg\.eig"),
    Known(
        "If you write to a tensor that",
        f"we raise .*{MODIFIED}",
        rf"checkpoint\(.*\n[\s\S]*({WRITTEN})",
    ),
    Known("A saved-tensor hook must", "we raise .*a saved tensor unpack_hook", "hooks"),
    Known(
        "A saved-tensor hook must",
        "PyTorch raises .*The size of tensor",
        rf"(save_on_cpu|hooks)[\s\S]*{SHAPED}",
    ),
    Known(
        "Gradients, tangents and results",
        "(we raise|PyTorch raises) .*more than one elem",
        r"\(g\.mul_|grad\.mul_|grad\(|forward-mode|jacfwd|jvp\(",
    ),
    Known("A gradient that is retained", "we raise .*vmap that has ended", "is_grads_batch"),
    Known("A tensor detached from an", "we raise .*Inplace update", r"detach\(\)"),
    # -- what PyTorch refuses ---------------------------------------------------------------------
    Known(
        "Forward mode can be nested",
        "PyTorch raises .*(Nested forward mode|forward AD with .* (has not been impl|does not supp)"
        "|ZeroTensors|written-to tensor refers)",
        FORWARD,
    ),
    Known(
        "Forward mode can be nested",
        f"PyTorch raises .*{MODIFIED}.*; not with (a root|copies)",
        rf"({FORWARD}|jacrev).*(norm|softmax)",
    ),
    Known(
        "A first or second derivative",
        "PyTorch raises .*(derivative for .*("
        "floor_divide|heaviside|_unique2|_[cp]dist_backward|_embedding_bag_backward"
        "|_ctc_loss_backward|margin_loss_backward|hardsigmoid_backward|soft_margin"
        "|dot_product_flash).* is not impl"
        "|log_ndtr_cpu|i1_backward|does not support automatic differentiation)",
    ),
    Known(
        "A call that raises leaves",
        rf"({VALUE}|^x\d+: shape).*; after what is refused",
        rf"{INFERENCE}|\] = ",
    ),
    Known("A tensor that the function", "is_leaf|incompatible with .grad", "reentrant=True"),
    Known("A tensor passed into a transform", "PyTorch raises .*Inference tensors", LIFTED),
    Known("Complex inputs are accepted.", "PyTorch raises .*inputs to be real"),
    Known("A complex gradient for a", "PyTorch raises .*input_is_complex", "apply"),
    Known(
        "16-bit dtypes work where",
        "PyTorch raises .*(not implemented for '(Half|BFloat16)'|[gG]ot Half)$",
    ),
    Known("The product of 16-bit and", "PyTorch raises .*for 'ComplexHalf'"),
    Known("Tensors without elements", "PyTorch raises .*(stack expects a non-empty)", EMPTY),
    Known(
        "Tensors without elements",
        "PyTorch raises .*(expected|length|stride 1|cannot res|as_strided is not)",
        EMPTY,
    ),
    Known(
        "A hook on several tensors",
        "PyTorch raises .*(A leaf node was passed|no attribute 'next_functions')",
        "multi_grad",
    ),
    Known("A hook on several tensors", "^hooks", "multi_grad_hook"),
    Known(
        "If you write to a view past",
        "PyTorch raises .*(detached in-place|detach views in-place)|has a sound history",
        rf"{PAST}|detach_\(|(inference_mode|no_grad)[\s\S]*{SHAPED}"
        r"|(apply|\.real|\.imag|view_as_real)[\s\S]*(with|init).*(_\(|\] = )",
    ),
    Known("If you write to a view past", "grad is Tensor, in PyTorch NoneType", PAST),
    Known(
        "If you write to a view past",
        "^derivative",
        rf"(x\d+\[|select|narrow|diag|squeeze|view|chunk|split|unbind).*\n[\s\S]*({PAST_WRITE})",
    ),
    Known("If you write to a result,", f"PyTorch raises .*{MODIFIED}.*; not with copies"),
    Known(
        "If you write to a tensor after",
        f"PyTorch raises .*({MODIFIED}|returns multiple views)",
        LIFTED,
    ),
    Known(
        "If you write to a result,",
        "PyTorch raises .*Inference tensors",
        r"dtype=t\.(?!float64)|half|float\(",
    ),
    Known("An inference tensor that", "requires_grad True, in PyTorch F", INFERENCE),
    Known(
        "If only positions or numbers",
        "raises? .*second time",
        r"trapezoid|avg_pool|area|index_add|fft|pad_seq|mode=\"(circular|reflect|replicate)",
    ),
    Known("A gradient created in inference", "PyTorch raises .*Inplace update to inf", "grad"),
    Known("``x.data = y`` keeps an inference", "is_inference", r"\.data = "),
    Known(
        "A view that is one of several",
        "PyTorch raises .*returns multiple views",
        "split|chunk|unbind",
    ),
    Known(
        "A copy made with `copy.copy`", "is_leaf False, in PyTorch True|is_inference", r"\.copy\(x"
    ),
    Known("A linearised function", "; not with `jvp`"),
    Known("A view that must not be written", "spoiled hist", r"detach_\(|requires_grad_\(F"),
    Known("If you change a shape in", "PyTorch raises .*is a view and its base", SHAPED),
    Known("If you change a shape in", "PyTorch raises .*returned an invalid grad", SHAPED),
    Known("If you change a shape in", "has a sound hist", rf"apply[\s\S]*{SHAPED}"),
    Known("A source that is larger", "PyTorch raises .*The size of tensor a", "scatter"),
    Known("A source that is larger", "PyTorch raises .*returned an invalid grad", "scatter"),
    Known("Recomputation may save fewer", "PyTorch raises CheckpointError", "requires_grad_"),
    Known("A Function without `jvp`", "PyTorch raises .*You must implement the jvp function"),
    Known(
        "Operands of different dtypes",
        "PyTorch raises .*(Found dtype|(Double|Float|Half),? and (Float|Double|Half))",
    ),
    Known("PyTorch mistakes the batch", "PyTorch raises .*(343597383\\d\\d|can't allocate memory)"),
    Known("PyTorch mistakes the batch", r"shape .*in PyTorch Size\(\[.*343597383\d\d"),
    Known("Transforms of tensors without", "PyTorch raises .*MKL FFT", r"\(0, 3\)|, 0"),
    Known("An in-place operation may", "PyTorch raises .*refer to a single memory"),
    Known("If a call has two errors,", "PyTorch raises .*we (Index|Runtime)Err", WRONG_TWICE),
    Known("If a call has two errors,", "PyTorch raises .*we ValueErr", "cross_entropy"),
    Known("If a call has two errors,", "PyTorch raises NotImpl.*we RuntimeErr", "stft|ctc_loss"),
    Known("Hooks receive batched gradients;", "PyTorch raises Runt.*Batching rule", "batched"),
    Known(
        "Concatenating zero-dimensional tensors",
        "PyTorch raises IndexError.*we RuntimeError",
        r"vmap.*t\.cat",
    ),
    # -- what tensors are -------------------------------------------------------------------------
    Known(
        "The third derivative of a",
        "; not with factors",
        r"(jac|jvp|linear).*(jac|hess).*prod|hess.*jac.*prod",
    ),
    Known("The third derivative of a", "^derivative.*; not beside", r"dual\(.*prod"),
    Known("An operation with several", r"output_nr|is 0, in PyTorch 1", "output_nr"),
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
    Known("If you add a real to a complex", NAN, r"complex[\s\S]*(add|sub|[-+])"),
    Known("If a cotangent is 0, second", "; not with a sum", "logcumsumexp"),
    Known("The gradient of the target", VALUE + ".*in PyTorch .*inf", r"_cross_entropy\("),
    Known("A tensor whose memory overlaps", VALUE, r"(expand|broadcast_to)[\s\S]*median"),
    Known("Infinity and NaN give NaN", OURS_NAN, r"(inf|nan)[\s\S]*(conv|fft|stft)"),
    Known("The third derivative at 0", SLOPE + ".*; not beside", r"0\.0\b[\s\S]*special\.i1\("),
    Known("If a vector without elements,", SLOPE, rf"{EMPTY}[\s\S]*block_diag"),
    Known("A dimension that keeps its size", NAN, r"inf[\s\S]*interpolate"),
    Known("If a function has no derivative", "^(derivative|x).*; not beside", r"linalg|std\(|hvp"),
    Known("At infinity the value is", NAN, "polygamma|zeta"),
    Known("The result is NaN if an argument", OURS_NAN, "igamma"),
    Known("A polynomial of NaN is NaN", OURS_NAN, "_polynomial_"),
    Known(
        "Which of several equal elements",
        r"^x\d+ is \[[\d ]+\], in PyTorch \[[\d ]+\]$",
        r"sort\([^|]*indices|argsort\(",
    ),
    Known("The power 0.5 is the square", OURS_NAN, r"inf[\s\S]*(\*\* 0\.5|pow)"),
    Known("The memory order of a sum", "stride", "einsum"),
    Known("A tensor without elements", "is 0, in PyTorch", "storage_offset"),
    Known(
        "If a derivative is zero everywhere,", "we raise .*second time", rf"({FORWARD}).*u\.max\(\)"
    ),
    Known("If a derivative is zero everywhere,", "requires_grad", rf"{EMPTY}[\s\S]*linalg"),
    Known("If a derivative is zero everywhere,", "is zeros, in PyTorch NoneType", FORWARD),
    Known("If a derivative is zero everywhere,", "is NoneType, in PyTorch zeros", FORWARD),
    Known("If a derivative is zero everywhere,", "; not with zeros", FORWARD),
    Known("If the operands have different", "; not in rows"),
    Known("A tensor that is detached in place", "retains_grad", r"detach_\("),
    Known("The gradient retained by", r"\.grad", rf"retain_grad[\s\S]*{SHAPED}"),
    Known("A hook on a tensor that was", "^derivative", rf"{SHAPED}[\s\S]*hook"),
    Known("Operands of different dtypes", "dtype float", "soft_margin_loss|entropy_with_logits"),
    Known("A conjugate is a copy in", "stride", r"complex[\s\S]*\.(H|mH|adjoint|conj)"),
    Known("A conjugate is a copy in", VALUE, rf"complex[\s\S]*\.(H|adjoint)[\s\S]*({WRITTEN})"),
    Known(
        "A conjugate is a copy in", "requires_grad False, in PyT|is_inference", r"\.H|conj|adjoint"
    ),
    Known(
        "A product or convolution",
        "shape",
        rf"({EMPTY}|pdist)[\s\S]*(conv|addmv|pixel_un)|dot_product",
    ),
    # -- values -----------------------------------------------------------------------------------
    Known("For a matrix with a column", VALUE, "lstsq"),
    Known("For a matrix with a column", "now the libraries differ", "lstsq"),
    Known("The inverse of a matrix that", OURS_NAN, "cholesky_inverse"),
    Known(
        "If an operation reads its",
        r"^x\d+ is ",
        r"(?:real|imag)[\s\S]*\b(x\d+)\.(permute|t|transpose)\([\d, ]*\)\.\w+_\(\1\b",
    ),
    Known("The source may have more", "PyTorch raises .*set a forward grad", "masked_scatter"),
    Known("The other triangle is not", "; not below the diagonal", "cholesky_inverse"),
    Known("The trapezoidal rule adds", NAN, "trapezoid|trapz"),
    Known("The loss is NaN if a score", OURS_NAN, "margin_loss"),
    Known(
        "The deviation and the mean",
        r"^x\d+ is \[(-?inf ?)+\].*only where PyTorch's is NaN",
        r"(std|var)_mean\(.*\)\[1\]",
    ),
    Known("The deviation and the mean", OUR_SLOPE_NAN, r"(std|var)_mean"),
    Known("If you change a shape in", "^derivative", rf"with t.*(grad|infer).*{SHAPED}"),
    Known("At ties, the whole gradient", VALUE + ".*; not without the rest", "include_self=False"),
    Known("At ties, the whole gradient", VALUE + ".*; not beside", "index_reduce"),
    Known(
        "The derivative with respect to the input",
        "; not as it is",
        "as_strided_scatter",
    ),
    Known("PyTorch writes a diagonal into", "; not as it is", "diagonal_scatter"),
    Known(
        "A value hidden by a mask",
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
    Known("In float16 PyTorch's result", r" in PyTorch .*(nan|inf).*; not in float64"),
    Known("In float16 PyTorch's result", "; not in float64", "matrix_exp|margin_loss"),
    Known(
        "Equal infinite arguments",
        SLOPE_NAN,
        r"(-?t\.inf|log)[\s\S]*(logaddexp2|logcumsumexp)",
    ),
    Known("PyTorch's trigamma function", VALUE + ".*, nearly", "digamma|lgamma|polygamma"),
    Known("If the arguments are far", SLOPE_NAN, "logaddexp"),
    Known("If the elements next to a", "^derivative.*; not beside", "quantile"),
    Known("The value at infinity is", NAN, r"float(32|\(\))[\s\S]*gelu"),
    Known("The second derivative at 0", SLOPE_NAN, "sinc"),
    Known("A power of 0 has", SLOPE_NAN, r"\*\*|pow|sqrt"),
    Known("If a factor is infinite,", VALUE, r"(nan|inf)[\s\S]*prod"),
    Known("The slope at NaN is 1", OUR_SLOPE_NAN, "hardtanh|relu6|shrink"),
    Known("The gradient at NaN is NaN;", OUR_SLOPE_NAN, "logcumsumexp|linalg|softmax"),
    Known("If a tangent is not finite,", NAN + "; not without tangents", "dual"),
    Known("If a tangent is not finite,", OUR_SLOPE_NAN, r"(inf|nan)[\s\S]*(dual|jvp|jacfwd)"),
    Known("If a tangent is not finite,", NAN, r"inf[\s\S]*dual\(.*abs"),
    Known("The derivative of an absolute", OURS_NAN, r"sgn|sign"),
    Known("The derivative of an absolute", OUR_SLOPE_NAN, r"abs|sgn|(?<!re)norm|dist|l1_loss"),
    Known("In float16, PyTorch's `eps`", "is .*nan", r"(float16|half)[\s\S]*cosine_sim"),
    Known("PyTorch negates uint8 numbers", "; not with doubles", r"uint8[\s\S]*atan2"),
    Known(
        "Where two pieces meet, the", "^derivative.*; not beside", "huber_loss|smooth_l1_loss|elu"
    ),
    Known("After a write past the graph", "not with copies and without hooks"),
    Known("After a write past the graph", VALUE, PAST_WRITE),
    Known("PyTorch's derivative reads", "^derivative", r"(hooks|save_on_cpu).*vander"),
    Known("A tensor that required no", "^derivative", r"= x\d+\.requires_grad_\(\)"),
    Known("A tensor's hooks run before its gradient", SLOPE, rf"({FACTOR})[\s\S]*d\.grad\("),
    Known(
        "How often a hook that changes",
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
