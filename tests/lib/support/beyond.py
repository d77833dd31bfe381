"""Differences from PyTorch that its sample inputs do not show, with reasons.

Each row is a reason and the operations; `support.deviations` makes a page of them. The differences
permitted for random programs are in `tests/parity/known.py`, which names these reasons.
"""

from __future__ import annotations

__all__ = ["BEYOND"]

BEYOND: tuple[tuple[str, str], ...] = (
    (
        "The sign of NaN is NaN, and with it the derivative of an absolute value; PyTorch's is 0.",
        "abs sgn sign dist nn.functional.l1_loss",
    ),
    (
        "Scores that are NaN make the loss NaN; PyTorch leaves them out.",
        "nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss",
    ),
    (
        "Where the exponent is 0, the derivative with respect to both arguments is the reciprocal "
        "of the base; PyTorch's is 0.",
        "pow float_power",
    ),
    (
        "On a branch cut the derivative of complex numbers is that of the side which the sign of "
        "the zero tells, as the function is; PyTorch's is that of the other side on half of them.",
        "acos asin asinh",
    ),
    (
        "Where the absolute value is 0, its derivative is that of the product; PyTorch's is 0.",
        "polar",
    ),
    (
        "Outside of its domain the function and its derivative are NaN; PyTorch's derivative is "
        "finite.",
        "acosh",
    ),
    (
        "At ties forward mode has the derivative that the gradient has; in PyTorch the two differ.",
        "fmax fmin clamp clamp_max clamp_min",
    ),
    (
        "At ties the whole gradient goes to the elements that are reduced; PyTorch counts the "
        "element that is left out by `include_self=False`, too.",
        "index_reduce scatter_reduce",
    ),
    (
        "Any `out` will do that the result can be cast to; PyTorch asks for the very dtype where "
        "functions are not element by element.",
        "cumsum bmm mv vdot addmm arange narrow_copy",
    ),
    (
        "A sum that begins with -0.0 is -0.0; PyTorch begins with 0.0.",
        "cumsum",
    ),
    (
        "The derivative is with respect to `log_probs` as they are. PyTorch's has "
        "`exp(log_probs)` added, which is the same only if a `log_softmax` made them.",
        "nn.functional.ctc_loss",
    ),
    (
        "A Python number that an integer dtype cannot hold is an OverflowError. PyTorch takes "
        "most of them modulo a power of 2.",
        "add clamp mul sub",
    ),
    (
        "Of operands that lie in memory in different orders NumPy makes a result in row-major "
        "order, PyTorch one that lies as the first operand.",
        "add sub mul div eq ne lt le gt ge logical_and logical_or logical_xor",
    ),
    (
        "Matrices that LAPACK computed lie row by row; PyTorch leaves them column by column. "
        "Transforms lie in row-major order, too.",
        "linalg.inv linalg.solve linalg.cholesky linalg.qr linalg.svd linalg.eigh lu fft.fft2 "
        "fft.fftn",
    ),
    (
        "Parts are copies. PyTorch's share memory that must not be written to.",
        "unsafe_chunk unsafe_split",
    ),
    (
        "Where a mask of bytes is written with one number, PyTorch refuses it; here it is a mask,"
        " as in every other index. Integers of 8 and 16 bits are taken for indices, too.",
        "index_put",
    ),
    (
        "Without `jvp`, forward mode transposes `backward`, where PyTorch raises "
        "NotImplementedError.",
        "autograd.Function",
    ),
    (
        "A shape that is changed in place where nothing is recorded stays part of the history. "
        "PyTorch's history keeps the former shape, and its backward pass raises, or is wrong. A "
        "gradient that is retained has the new shape; PyTorch's has the former, and it refuses "
        "views that a Function made of the same memory.",
        "t_ transpose_ squeeze_ unsqueeze_ swapaxes_ swapdims_",
    ),
    (
        "Gradients, tangents and what transforms return lie in row-major order as a rule; "
        "PyTorch's are often expanded, or lie as what they were computed from.",
        "autograd.grad autograd.functional func.grad func.jacrev func.jacfwd func.hessian "
        "func.vmap func.jvp",
    ),
    (
        "Results of these lie row by row where an argument does not; PyTorch's usually lie as the "
        "argument.",
        "pow nn.functional.gelu nn.functional.logsigmoid scatter scatter_add index_add "
        "select_scatter slice_scatter diagonal_scatter rot90 quantile median unique cummax cummin",
    ),
    (
        "Where a derivative is zero everywhere, it may have a history in one library and none in "
        "the other.",
        "autograd.grad autograd.functional autograd.forward_ad func.jvp func.jacfwd func.hessian",
    ),
    (
        "Forward mode may be nested, and be differentiated, where PyTorch has no formula, or "
        "writes to what it has saved.",
        "func.linearize func.jacfwd softmax norm",
    ),
    (
        "What has been given to forward mode or to a transform and is written to afterwards "
        "raises, or uses its old values; in PyTorch it raises, or uses either.",
        "autograd.forward_ad func.jvp func.grad func.vjp func.jacrev func.vmap",
    ),
    (
        "A linearised function depends on the tensor where it was linearised. In PyTorch its "
        "results are constants, and are wrong for second derivatives.",
        "func.linearize",
    ),
    (
        "What is computed under `no_grad()` is a constant of a linearised function, as for "
        "gradients; in PyTorch it has its tangent, as under `jvp`.",
        "func.linearize",
    ),
    (
        "Complex inputs are taken.",
        "func.jacrev func.jacfwd",
    ),
    (
        "Tensors without elements are taken where PyTorch raises, or refused with a reason, since"
        " what a function does to its elements is not known.",
        "func.vmap func.jacrev func.jacfwd func.hessian autograd.functional",
    ),
    (
        "What is wrong is refused of tensors without elements, too: indices that are out of range, "
        "sizes that do not fit, dtypes and layouts that a function does not take. PyTorch often "
        "finds that there is nothing to compute before it looks.",
        "cdist cholesky index_fill index_select view_as_complex "
        "nn.functional.scaled_dot_product_attention",
    ),
    (
        "A result that is written to may be saved as a copy: then backward is right where PyTorch"
        " raises. So it is with operands that were converted to another dtype.",
        "prod mul add addcmul addcdiv take pow dist renorm cumprod nn.functional.huber_loss "
        "nn.functional.elu",
    ),
    (
        "A tensor made in inference mode is refused also by operations that would not need it for"
        " the derivative that is asked for.",
        "fmod copysign addcmul heaviside",
    ),
    (
        "Operands of different dtypes are refused here, or promoted; PyTorch does one or the "
        "other, or gives the first one's dtype.",
        "einsum cdist lerp addr index_put nn.functional.huber_loss",
    ),
    (
        "Conjugates are copies, which writes to the tensor do not change, and lie row by row: "
        "without recording they require no gradient, and in inference mode they are inference "
        "tensors.",
        "conj",
    ),
    (
        "An operation in place that reads the memory it writes is right in its backward pass; "
        "PyTorch raises.",
        "mul_ add_ sub_ div_ copy_",
    ),
    (
        "Elements outside of the view that it is applied to have no derivative in PyTorch; here "
        "they have, or it raises.",
        "as_strided",
    ),
    (
        "Where its pieces meet, the second derivative is that of the left one.",
        "nn.functional.elu nn.functional.huber_loss nn.functional.smooth_l1_loss",
    ),
    (
        "Derivatives of products with infinite factors are the product of the others; PyTorch "
        "divides, which gives NaN.",
        "prod cumprod",
    ),
    (
        "What is added to a complex number leaves the other part as it is, also if it is infinite; "
        "PyTorch multiplies it by `alpha` as a complex number, and the other part is NaN.",
        "add_ sub_",
    ),
    (
        "A tensor that does not lie row by row is refused also where no gradient is required.",
        "as_strided_scatter",
    ),
    (
        "Where a cotangent is 0, second derivatives are right; PyTorch's are 0 or NaN.",
        "logcumsumexp",
    ),
    (
        "The gradient of the target has the bounds that the logarithms have; PyTorch's is "
        "infinite where the input is 0 or 1.",
        "nn.functional.binary_cross_entropy",
    ),
    (
        "Infinite elements, and NaN, make NaN of what they meet with a factor of 0 only: where a "
        "convolution is padded, and in transforms. Where PyTorch does so, too, depends on its "
        "algorithms.",
        "nn.functional.conv1d nn.functional.conv_transpose1d fft.fft",
    ),
    ("The third derivative at 0 is the limit; PyTorch's is 0.", "special.i1"),
    (
        "An inverse of a matrix with NaN is NaN throughout; in PyTorch some elements are not.",
        "cholesky_inverse",
    ),
    (
        "What is written in another order than it is read is read before; PyTorch refuses this, "
        "but not where memory has gaps, where it reads what it has written.",
        "Tensor.mul_",
    ),
    (
        "Sources with more elements than are taken have gradients inside of forward mode, too, "
        "which PyTorch refuses.",
        "masked_scatter",
    ),
    (
        "A retained gradient has the shape of its tensor, also where that is changed in place; "
        "PyTorch's has the one before, or is lost to an internal error.",
        "Tensor.transpose_",
    ),
    (
        "Behind a vector without elements, which is a row, derivatives are right; PyTorch's are "
        "those of one row above.",
        "block_diag",
    ),
    (
        "A dimension that keeps its size is not interpolated in; PyTorch multiplies the elements "
        "next to each by 0, which makes NaN of infinite ones.",
        "nn.functional.interpolate",
    ),
    (
        "Where a function has no derivative, roundings decide which of those beside is found.",
        "linalg.svd std",
    ),
    (
        "A view of several that was saved before its base was written to is read where only its "
        "shape is needed; PyTorch refuses the backward pass.",
        "split chunk unbind",
    ),
    (
        "A sum of products lies in memory as the product of matrices that it comes from, which "
        "PyTorch chooses by other rules.",
        "einsum",
    ),
    (
        "A copy by `copy.copy` has the history of the tensor; PyTorch's is a leaf over the same "
        "memory.",
        "Tensor",
    ),
    (
        "At infinity these have their limits; PyTorch's are NaN.",
        "polygamma special.polygamma special.zeta",
    ),
    (
        "The derivative by the first argument is known, too; PyTorch refuses it.",
        "igamma igammac",
    ),
    (
        "What comes of an argument that is NaN is NaN; PyTorch's is 0 or 1 where the other is 0 or "
        "infinite.",
        "igamma igammac",
    ),
    (
        "A polynomial of NaN is NaN; PyTorch leaves some unset.",
        "special.chebyshev_polynomial_u special.laguerre_polynomial_l",
    ),
    (
        "A power of 0.5 is the root, which is NaN for minus infinity; PyTorch's is infinite for "
        "numbers of 16 bits and where the exponent is a tensor.",
        "pow",
    ),
    (
        "The most frequent of NaN and numbers is found among the numbers.",
        "mode",
    ),
    (
        "A power of 0 has finite derivatives where PyTorch's of second order are NaN.",
        "pow",
    ),
    (
        "Where two things are wrong with a call, or a number is passed for a matrix, it may be an "
        "IndexError or ValueError here and a RuntimeError in PyTorch, or the other way about.",
        "mv addmv_ index_put put_ fft.rfft index_select index_fill scatter_reduce narrow_copy "
        "unflatten sum nn.functional.embedding",
    ),
    (
        "Norms, distances, deviations and angles of zero have derivatives that are 0; in PyTorch "
        "some, usually of second order, are NaN.",
        "norm dist std var nn.functional.normalize nn.functional.cosine_similarity atan2 hypot",
    ),
    (
        "Where a view was written past the graph (`detach()`, `.data`), its history is kept; "
        "PyTorch refuses one that no write may follow, and gives the gradient of others to nobody"
        " where their base is a leaf.",
        "split chunk unbind select slice real imag",
    ),
    (
        "PyTorch writes a diagonal into a copy that shows memory several times as the gradient "
        "does, and loses a part of second derivatives.",
        "diagonal_scatter",
    ),
    (
        "What a mask or a factor of 0 hides has the derivative 0, also if what it hides has one "
        "that is infinite or NaN; PyTorch multiplies by 0, which gives NaN.",
        "where clamp logit masked_fill index_fill index_put hardshrink copysign nansum nanmean "
        "relu fft.irfft func.jacfwd zero_ fill_ special.ndtri nn.functional.interpolate "
        "nn.functional.grid_sample nn.functional.kl_div",
    ),
    (
        "The slope at NaN is 1; PyTorch's is 0 where there are enough elements to work on several "
        "at once, and 1 for the rest.",
        "nn.functional.hardtanh nn.functional.relu6 nn.functional.softshrink "
        "nn.functional.hardshrink",
    ),
    (
        "The gradient of a NaN is NaN; PyTorch's backward pass takes a cotangent that is NaN for "
        "0.",
        "logcumsumexp softmax linalg.qr",
    ),
    (
        "PyTorch negates whole numbers of the dtype uint8 in the derivative, and they overflow.",
        "atan2",
    ),
    (
        "A write to memory that a tensor shows several times is refused; PyTorch lets this one "
        "through.",
        "index_fill_ triu_ tril_ threshold_ nn.init.eye_",
    ),
    (
        "Transforms of tensors without elements have none; PyTorch's fail in their library.",
        "fft.fft fft.ifft fft.rfft fft.fft2",
    ),
    (
        "In float16 PyTorch's `eps` is 0, and what is similar to zeros is NaN.",
        "nn.functional.cosine_similarity",
    ),
    (
        "A matrix whose columns are linearly dependent has no derivative, or none of second "
        "order, and the backward pass raises; PyTorch's derivatives are then noise or NaN.",
        "linalg.qr linalg.pinv linalg.svd",
    ),
    (
        "After a write past the graph (`detach()`, `.data`, or in a hook of saved tensors that "
        "keeps the tensor itself) the backward pass may use new or old values: which of its "
        "arguments and results a rule reads is its own affair.",
        "norm logsumexp logaddexp layer_norm expm1 median polar prod dist copysign",
    ),
    (
        "A tensor's hooks run before its gradient is handed out. In PyTorch this depends on what "
        "else is asked for.",
        "autograd.grad",
    ),
    (
        "A hook that changes a gradient counts in second derivatives as often as these pass the "
        "tensor, which depends on whether a rule reads its result or its argument.",
        "cumprod prod copysign logcumsumexp nn.functional.elu polar "
        "nn.functional.pairwise_distance",
    ),
    (
        "Ties share the gradient under `vmap`, too; PyTorch's gives it to one of them.",
        "max min amax amin median",
    ),
    (
        "PyTorch's third derivatives are wrong, and not 0 where its result is constant.",
        "nn.functional.layer_norm nn.functional.instance_norm nn.functional.batch_norm "
        "nn.functional.group_norm",
    ),
    (
        "Where a tangent is not finite, derivatives of the value that it belongs to may be NaN, "
        "too, as both are computed together; in PyTorch at other places.",
        "autograd.forward_ad func.jvp",
    ),
    (
        "``.grad`` keeps the tangent of a gradient that was computed in a dual level; PyTorch "
        "drops it unless the backward pass is recorded.",
        "autograd.forward_ad",
    ),
    (
        "Dimensions of constants are not what PyTorch's takes them for, and it fails with a size "
        "of 34359738371, or gives a shape with one.",
        "func.vmap func.jacfwd",
    ),
    (
        "The backward pass reads the angle, and refuses one that was written to; PyTorch's reads "
        "the result.",
        "polar",
    ),
    (
        "A factor that is written to afterwards raises, or uses its old values; PyTorch "
        "has copied it, or uses the new ones without a word.",
        "kron inner tensordot",
    ),
    (
        "The backward pass reads the argument, and refuses one that was written to; PyTorch's "
        "reads a multiple of it, or the exponent.",
        "special.ndtr frexp nn.functional.scaled_dot_product_attention",
    ),
    (
        "A function that is run again for its backward pass is refused where a tensor that it "
        "reads was written to since; PyTorch's gradient is that of the new values.",
        "utils.checkpoint.checkpoint",
    ),
    (
        "A point that is not a number has no sample in a volume, as in a plane; PyTorch's is 0 "
        "there, or on the side of 1 where the padding keeps it within.",
        "nn.functional.grid_sample",
    ),
    (
        "The second derivative at 0 is the limit; PyTorch's is NaN.",
        "sinc",
    ),
    (
        "A tensor that shows memory several times has its medians; PyTorch's are wrong or unset.",
        "median nanmedian",
    ),
    (
        "A matrix with infinities or NaNs is refused, as `eig` refuses it; PyTorch's eigenvalues "
        "are NaN.",
        "linalg.eigvals",
    ),
    (
        "There is a derivative, or one of second order, that PyTorch has not.",
        "floor_divide heaviside unique unique_consecutive cdist nn.functional.multi_margin_loss "
        "nn.functional.hardsigmoid nn.functional.soft_margin_loss special.log_ndtr special.i1 "
        "nn.functional.scaled_dot_product_attention scatter_reduce index_reduce "
        "nn.functional.pdist nn.functional.embedding_bag nn.functional.ctc_loss",
    ),
    (
        "What is brought into a transform is a tensor of its own, also if it was made in inference "
        "mode, and may be saved.",
        "func.jvp func.vmap func.grad",
    ),
    (
        "A hook of saved tensors must give back the shape that it was given, also where it kept "
        "the tensor itself, whose shape was changed in place; PyTorch's backward pass fails later.",
        "autograd.graph.saved_tensors_hooks",
    ),
    (
        "What required no gradient when an operation was recorded is a constant of it; in PyTorch "
        "it counts in second derivatives if it requires one later.",
        "requires_grad_",
    ),
    (
        "A product or a convolution of tensors without elements has the shape that any other has.",
        "addmv nn.functional.conv1d nn.functional.pixel_unshuffle "
        "nn.functional.scaled_dot_product_attention",
    ),
    (
        "A gradient that was made in inference mode is replaced by the sum when more is added; "
        "PyTorch refuses to add.",
        "inference_mode",
    ),
    (
        "A hook of several tensors runs where one of them is differentiated with respect to "
        "itself, and where one is a leaf; there PyTorch's hook raises in `autograd.grad`.",
        "autograd.graph.register_multi_grad_hook",
    ),
    (
        "``x.data = y`` leaves a tensor of inference mode one.",
        "inference_mode",
    ),
    (
        "A view that no write may follow and that was written stays refused where its base is "
        "detached; PyTorch rebuilds its history.",
        "detach_ requires_grad_",
    ),
    ("Third derivatives of a product with zeros are right; PyTorch's are 0.", "prod"),
    ("A tensor that is detached in place retains no gradient.", "detach_"),
    (
        "A source that is larger than the index has a derivative; PyTorch's backward pass raises.",
        "scatter_reduce",
    ),
    (
        "A hook of a tensor whose shape was changed in place is for its own gradient, and not for "
        "that of its views.",
        "register_hook",
    ),
    ("A rule of trapezes adds neighbours first; PyTorch's subtracts the ends.", "trapezoid"),
    (
        "What is detached of a tensor of inference mode is written to in inference mode alone.",
        "detach",
    ),
    (
        "A deviation and the mean beside it have one rule: where the deviation is not finite, the "
        "derivative of the mean is NaN. The mean itself is infinite where an element is; "
        "PyTorch's is NaN.",
        "std_mean var_mean",
    ),
    (
        "A recomputation may save less than before where an argument requires no gradient any "
        "more; PyTorch refuses it.",
        "utils.checkpoint.checkpoint",
    ),
    ("Operations with several results may be several nodes.", "aminmax"),
    ("A tensor without elements begins where its memory does.", "storage_offset"),
    (
        "A matrix with a column of zeros has the least solution, whichever its column; PyTorch "
        "takes some for singular.",
        "linalg.lstsq",
    ),
    (
        "What lies above the diagonal is not read, and has no derivative; PyTorch's has one.",
        "cholesky_inverse",
    ),
    (
        "A gradient that is retained where gradients are batched is of that batch, and refused "
        "later.",
        "autograd.grad",
    ),
    (
        "What is refused is as it was before. PyTorch finds some errors once it has written.",
        "inference_mode index_put autograd.Function",
    ),
    (
        "A tensor that a function returns as it is keeps its history, or stays a leaf; PyTorch's "
        "gets another history.",
        "utils.checkpoint.checkpoint",
    ),
    (
        "Numbers of 16 bits are taken where PyTorch has no kernel for them.",
        "linalg.matrix_norm special.erfcx special.log_ndtr special.ndtri "
        "nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss",
    ),
    (
        "Under `vmap` numbers that are joined are the RuntimeError that they are elsewhere; in "
        "PyTorch they are an IndexError.",
        "cat",
    ),
    (
        "Infinite arguments that are equal share the gradient; PyTorch's is NaN.",
        "logaddexp2 logcumsumexp",
    ),
    (
        "The number at the end of a node's name, by which PyTorch tells forms in place or with a "
        "number apart, is that of the plain form. Where a write or a copy has no rule of its own, "
        "its node has the name of a copy's.",
        "transpose_ squeeze_ elu_ xlogy normal_ ne_ view_copy",
    ),
    (
        "What comes of a backward pass marked with it has a history that raises, also where no "
        "cotangent requires a gradient; PyTorch's is a constant, and loses second derivatives.",
        "autograd.function.once_differentiable",
    ),
    (
        "PyTorch's trigamma function, the derivative of `digamma`, has errors of up to 1e-9 in "
        "float64.",
        "digamma polygamma",
    ),
    (
        "Where there are no gradients, there is nothing to clip; PyTorch fails in a check of its "
        "own.",
        "nn.utils.clip_grad_value_",
    ),
    (
        "Anomalies are looked for in the thread that asks for it; PyTorch looks for them in all.",
        "autograd.set_detect_anomaly autograd.detect_anomaly",
    ),
    (
        "Arguments that are far apart have the second derivative 0; PyTorch's is NaN, since an "
        "exponential overflows.",
        "logaddexp logaddexp2",
    ),
    (
        "Where elements next to a quantile are equal, one of them has the gradient; in PyTorch it "
        "may be another one.",
        "quantile nanquantile",
    ),
    (
        "Numbers of 16 bits and complex ones make complex numbers of 64 bits, as NumPy has no "
        "smaller ones; PyTorch makes those of 32 bits, and can do little with them.",
        "mul",
    ),
    (
        "Hooks take batched gradients; what they call may have no batching rule in PyTorch.",
        "autograd.grad",
    ),
    (
        "Infinity is its own value in float32, too; PyTorch's is NaN there.",
        "nn.functional.gelu",
    ),
    (
        "Second derivatives of eigenvalues, and of singular values, that are the same do not "
        "exist, and raise; PyTorch's are noise or infinite.",
        "linalg.eigvals linalg.eigh linalg.eigvalsh linalg.svdvals svd",
    ),
    (
        "PyTorch's derivative of a matrix of powers reads what has been written over: it raises, "
        "or is wrong where hooks of saved tensors keep it from noticing.",
        "vander",
    ),
    (
        "A function that PyTorch composes of others is one node here, one of a tensor and a "
        "number may have two inputs, and its result is a view in PyTorch where the last of the "
        "others makes one, or has been written to.",
        "einsum tensordot sum_to_size tile xlogy copysign dist linalg.lu linalg.eigh",
    ),
    (
        "A complex gradient that a function gives a real input is one of its real part; PyTorch "
        "fails in a check of its own.",
        "autograd.Function",
    ),
    (
        "Where nothing but positions or numbers is kept for a backward pass, it may run again in "
        "one of the libraries and raise in the other.",
        "trapezoid index_add nn.functional.adaptive_avg_pool1d nn.functional.avg_pool3d "
        "nn.functional.pad fft.fft",
    ),
    (
        "Bounds that require a gradient are refused; PyTorch's result has no history.",
        "linspace logspace",
    ),
    (
        "A tensor with a tangent is refused where a number is expected; PyTorch loses the tangent.",
        "full leaky_relu autograd.forward_ad",
    ),
    (
        "A tensor that was made in inference mode and that requires a gradient is recorded outside "
        "of it, and refused where it would have to be saved; PyTorch computes without recording, "
        "and loses the gradient without a word.",
        "inference_mode",
    ),
    (
        "The parts that `unpack_dual` takes of a tensor refuse writes that are recorded; PyTorch's "
        "whole follows them. What `make_dual` makes of a value or a tangent that requires a "
        "gradient has memory of its own, as has a tangent that lies where its value does.",
        "autograd.forward_ad",
    ),
    (
        "After a write that is recorded, a tensor that shows the same memory from the other side "
        "of a transform, of `make_dual` or of `unpack_dual` is not recorded any more, and what "
        "would write to a leaf from there is refused; PyTorch's follow, also where a tensor comes "
        "to require a gradient.",
        "autograd.forward_ad func.vmap func.jvp",
    ),
    (
        "A tensor that has a tangent and views is not detached in place.",
        "detach_",
    ),
    (
        "The tensor that `make_dual` was given for a tangent keeps its shape where that of the "
        "whole is changed in place.",
        "t_ transpose_ squeeze_ unsqueeze_",
    ),
    (
        "No tensor is lazily conjugated or negated: what lies in memory are the values themselves.",
        "is_conj is_neg",
    ),
    (
        "The gradient through a view of another dtype that was transposed in place is transposed, "
        "too; PyTorch's is as if it had not been.",
        "view_as_real view_as_complex",
    ),
    (
        "What is written to a tensor from outside of the batch is refused also where only its "
        "tangent is one of the batch.",
        "autograd.forward_ad func.vmap",
    ),
    (
        "What was saved of a tensor is used after the tensor is detached in place; PyTorch refuses "
        "the backward pass.",
        "detach_",
    ),
    (
        "The backward pass may run after the context in which tensors were saved; PyTorch refuses "
        "it.",
        "autograd.graph.allow_mutation_on_saved_tensors",
    ),
    (
        "A leaf that is given other memory stays the leaf of what was recorded; PyTorch's history "
        "does not know it any more.",
        "set_",
    ),
    (
        "Operations on lists are recorded tensor by tensor, under the names of single operations, "
        "and sums of products of matrices as one product.",
        "_foreach_maximum _foreach_exp addbmm",
    ),
    (
        "Shapes and dtypes of outputs are not kept, and nodes have no `_input_metadata`.",
        "autograd.graph",
    ),
)
"""Reasons and operations, which are parts of their names in PyTorch."""
