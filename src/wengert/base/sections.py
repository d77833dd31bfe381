"""Layer 0 · base: shared sections of docstrings, written once and included by name.

NOTE [shared sections]
A module that ends with ``fill_sections(globals())`` has abbreviated docstrings. `help` shows, and
doctest runs, the full form in NumPy's style:

    Parameters
    ----------
    %(input, dim)s
    index : Tensor. Of int64.

    %(returns_differentiable, raises_dim)s

* An entry that many functions have is written here, and named there. ``returns_...`` and
  ``raises_...`` are whole sections, with their headings; ``error_...`` is one entry of several.
  Lines that several examples share are in `_EXAMPLES`.
* An entry's text follows its name and type on the same line, ``x : int. Text``, or a name or a type
  alone, ``ValueError: Text``.
* `out`, `inplace` and `last_epoch` need no entry; nor does `name` in TensorFlow's functions.
* Examples need not import the library, as ``wg`` or under the name that an idiom uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

_PARAMETERS = {
    # tensors
    "input": "input : Tensor\n    Of any shape.",
    "any_input": "input : Tensor\n    Of any shape and dtype.",
    "real_input": "input : Tensor\n    Of any real dtype.",
    "numeric_input": "input : Tensor\n    Of any real dtype but bool.",
    "floating_input": "input : Tensor\n    Of a real floating dtype.",
    "inexact_input": "input : Tensor\n    Of floating or complex dtype.",
    "converted_input": "input : Tensor\n    Of a real floating dtype, unless `dtype` is given.",
    "vectors": "input : Tensor\n    With at least one dimension.",
    "planes": "input : Tensor\n    With at least two dimensions.",
    "volumes": "input : Tensor\n    With at least three dimensions.",
    "matrices": "input : Tensor\n    Of shape (..., m, n) and of a floating or complex dtype.",
    "square_matrices": (
        "input : Tensor\n    Of shape (..., n, n) and of a floating or complex dtype."
    ),
    "channels": "input : Tensor\n    Of shape (N, C, ...) and of real floating dtype.",
    "row_tensors": (
        "tensors : sequence of Tensor\n    Of shapes that differ in that dimension only."
    ),
    # dimensions, outputs and creation
    "dim": "dim : int\n    The dimension.",
    "axis": "axis : int, optional\n    NumPy's name of `dim`.",
    "keepdim": "keepdim : bool\n    Whether to leave a dimension of size 1 in its place.",
    "keepdims": "keepdim : bool\n    Whether to leave a dimension of size 1 for each of them.",
    "inplace": "inplace : bool\n    Whether to write the result into the input.",
    "out": "out : Tensor, optional\n    Where to write the result; outside the graph only.",
    "outs": (
        "out : tuple of Tensor, optional\n    Where to write the results; outside the graph only."
    ),
    "two_outs": "out : tuple of two Tensors, optional\n    Where to write the results.",
    "device": "device : device or str, optional\n    Where to create it; the CPU by default.",
    "ignored_layout": "layout, pin_memory\n    Have no effect.",
    "requires_grad": "requires_grad : bool\n    Whether to record operations on it.",
    "to_dtype": "dtype : dtype, optional\n    The dtype to convert the input to first.",
    "generator": "generator : Generator, optional\n    The source of random numbers.",
    "pivot": "pivot : bool\n    Must be True.",
    "offset": "offset : int\n    Which diagonal: 0 the main one, positive above it.",
    "factors": (
        "beta, alpha : number\n    Factors. With ``beta=0`` the values of `input` have no effect, "
        "not even NaN."
    ),
    # losses
    "reduction": (
        "size_average, reduce : bool, optional\n    Former names of `reduction`.\n"
        'reduction : {"mean", "sum", "none"}\n    How to reduce the losses of the elements.'
    ),
    "loss_reduction": (
        "size_average, reduce : bool, optional\n    Former arguments for `reduction`.\n"
        'reduction : {"mean", "sum", "none"}\n    How to reduce the losses.'
    ),
    # modules and optimisers
    "module": "module : Module\n    The module that holds it.",
    "features": (
        "input_size, hidden_size : int\n"
        "    The number of features of the input and of the hidden state."
    ),
    "biases": "bias : bool\n    Whether there are biases.",
    "their_dtype": "device, dtype\n    Of the parameters.",
    "params": "params : iterable\n    Tensors, named tensors, or groups (see `Optimizer`).",
    "lr": "lr : float or Tensor\n    The learning rate.",
    "eps": "eps : float\n    Keeps the denominator from zero.",
    "weight_decay": "weight_decay : float\n    Adds ``weight_decay * p`` to the gradient.",
    "maximize": "maximize : bool\n    Climb rather than descend.",
    "differentiable": (
        "differentiable : bool\n    Record the steps, so that gradients flow through them."
    ),
    "unused_foreach": (
        "foreach, capturable : bool, optional\n"
        "    Accepted for compatibility with PyTorch, without effect."
    ),
    "closure": (
        "closure : callable, optional\n    Recomputes the loss, with its gradients, and returns it."
    ),
    "optimizer": "optimizer : Optimizer\n    Whose learning rates it sets.",
    "last_epoch": "last_epoch : int\n    -1 starts; another number continues from a saved state.",
    # distributions
    "cache_size": "cache_size : {0, 1}\n    As for each `Transform`.",
    "bits": "probs, logits : Tensor or number\n    One of them: probabilities, or log-odds.",
    "probs_or_logits": "probs, logits : Tensor\n    One of them, as for `Categorical`.",
    "temperature": "temperature : Tensor\n    The lower, the nearer samples are to 0 and 1.",
    # derivatives
    "differentiated": (
        "inputs : Tensor or tuple of Tensor\n    Where to differentiate; floating or complex."
    ),
    "create_graph": (
        "create_graph : bool\n    Whether both results can be differentiated, by inputs, by `v` "
        "and by whatever else `func`\n    uses that requires a gradient."
    ),
    # several entries at once, for families of functions
    "points": """\
y : Tensor. The values, of any dtype but bool.
x : Tensor, optional. The points: one for each position of `dim`, or of a shape that broadcasts
    with that of `y`.
dx : number, optional. The distance between neighbours, if `x` is not given; 1 by default.
dim : int. The dimension to integrate along.""",
    "parts": """\
indices_or_sections : int or sequence of int. The number of equal parts, or the positions before
    which to divide.
*indices : int. More positions.

Returns
-------
tuple of Tensor
    Views. Differentiable.

Raises
------
RuntimeError: If the parts would not be equal.""",
    "quantiles": """\
q : float or Tensor. Which quantiles, from 0 to 1: a number, or a tensor of the input's dtype
    with one dimension or none.
dim : int, optional. The dimension to choose along; all elements by default.
keepdim : bool
    Whether to leave a dimension of size 1 in its place.
interpolation : {"linear", "lower", "higher", "midpoint", "nearest"}. How to interpolate
    between two elements.

Returns
-------
Tensor: The quantiles, those of a `q` with a dimension along a new first one. Differentiable
    with respect to `input` and, interpolated linearly, to `q`, to any order.""",
    "vector": """\
v : Tensor or tuple of Tensor, optional. The vector, of the shapes of the inputs; a single input
    of one element needs none.""",
    "blended": """\
former : Tensor. The last tensor of a former signature, in which the factor comes before the
    tensors.
value : number. A factor.
out : Tensor, optional. Where to write the result.

Returns
-------
Tensor: Differentiable with respect to the three tensors, to any order.""",
    "searched_or_compared": """\
dim : int, optional. The dimension to search; a Tensor in its place is `other`.
keepdim : bool
    Whether to leave a dimension of size 1 in its place.
other : Tensor, optional. A tensor to compare with, element by element; shapes broadcast.
out : Tensor, optional. Where to write the result, if it is a single tensor.""",
    "other_dtype": """\
dtype : dtype, optional. Another dtype.
layout, pin_memory
    Have no effect.
memory_format : memory_format, optional. The order of the result's memory; default: that of
    `input`.""",
    "max_norm": """\
max_norm : float, optional. The norm to which longer vectors are scaled down when looked up.
norm_type : float. The order of that norm.
scale_grad_by_freq : bool. Whether to divide gradients by how often a number occurs in the
    input.""",
    "places": """\
index : Tensor. The positions, int64 or int32; no larger than `input` apart from `dim`.""",
    "sorted": """\
input : Tensor. Of any real dtype. A NaN counts as larger than every number.
dim : int. The dimension to sort along.
descending : bool. Whether to start with the largest.
stable : bool. Accepted for compatibility with PyTorch: equal elements always keep their order.""",
    "primals": """\
fun : callable. Takes `primals`, and returns a pytree of arrays.
*primals: Pytrees: where to differentiate.
has_aux : bool. Whether `fun` returns a pair of its output and of anything else.

Returns
-------
output: What `fun` returned.""",
    "windows": """\
kernel_size : int or tuple of int. The size of the windows.
stride : int or tuple of int, optional. The step from one to the next; default: their size.""",
    "views_of_tensors": """\
*tensors : Tensor. One, several, or one sequence of them.

Returns
-------
Tensor, or tuple of Tensor: Views; differentiable.""",
    "bias_and_dtype": """\
bias : bool. Whether there is a bias.
device, dtype : optional. Of the parameters.""",
    "solution": """\
scipy.optimize.OptimizeResult: With ``x`` in the nesting and the kinds of `x0`, and ``x_flat``;
    else SciPy's, flat.

Raises
------
RuntimeError: If the result of `fun` has no graph that leads to the parameters.
FloatingPointError: If `fun` is not finite at `x0`, or a derivative is not; the message names
    the parameter.
ImportError: If SciPy is not installed.""",
    "summed": """\
dim : int or tuple of int, optional. The dimensions to sum over; all by default.
keepdim : bool. Whether to leave a dimension of size 1 for each that is summed over.
dtype : dtype, optional. The dtype to convert the input to before adding. By default, bools and
    integers are summed as int64.""",
    "tested": """\
input : Tensor. Of any shape and dtype; NaN counts as other than 0.
dim : int or tuple of int, optional. The dimensions to reduce; all by default. An empty tuple
    tests each element alone.
keepdim : bool
    Whether to leave a dimension of size 1 for each of them.""",
    "moved": """\
source, destination : int or tuple of int. The current and the new positions of the dimensions.

Returns
-------
Tensor
    A view. Differentiable.

Raises
------
IndexError
    If there is no such dimension.
RuntimeError: If a dimension is repeated, or the two differ in length.""",
    "two_dims": """\
dim0, dim1 : int. The dimensions.""",
    "decoupled": """\
decoupled_weight_decay : bool. Shrink the parameters instead of adding to the gradient, as
    `AdamW` does.""",
    "two_betas": """\
betas : tuple of float. The decay rates of the running means of the gradient and of its square.""",
    "searched_dims": """\
dim : int or tuple of int. The dimensions to search; all by default.""",
    "searched_dim": """\
dim : int, optional. The dimension to search.""",
    "chosen_dim": """\
dim : int, optional. The dimension to choose along; all elements by default.""",
    "positions": """\
index : Tensor. The positions: a vector of int64 or int32.""",
    "unit_weight": """\
weight : Tensor, optional. A weight for each loss; the mean then divides by the sum of the
    weights.""",
    "shared_target": """\
target : Tensor. Of the same shape, usually between 0 and 1.
weight : Tensor, optional. A factor for each loss; its shape broadcasts with theirs.""",
    "cycled_momentum": """\
cycle_momentum : bool. Decrease the momentum (or the first beta) while the learning rate
    increases.
base_momentum, max_momentum : float or list of float. Its bounds.""",
    "its_name": """\
name : str. Its name.""",
    "start": """\
x0 : array, tensor, number, or dict, list or tuple of these, nested. Where to start. A list of
    numbers is an array.""",
    "clipped_norm": """\
norm_type : float. The order of the norm; ``inf`` is the largest absolute value.
error_if_nonfinite : bool. Whether a norm that is infinite or NaN is an error.
foreach : bool, optional. Without effect.""",
    "sizes": """\
*shape : int or sequence of int. The shape, as several integers or as one sequence; also as
    ``size=``.
size : sequence of int, optional. The shape, as a keyword.""",
    "batch_norm": """\
bn_rm, bn_rv : Tensor. The running mean and variance of the normalisation.
bn_eps : float. Added to the variance.
bn_w, bn_b : Tensor. The weight and bias of the normalisation, or None.""",
    "of_rows": """\
scale_grad_by_freq : bool. Whether to divide the gradient of a row by the number of times that
    it occurs.
sparse : bool. Whether the gradient is a sparse tensor of the rows that were read, if `weight` is a
    leaf.""",
    "expanded": """\
*sizes : int, or one sequence of ints. The new shape (also as `size`); -1 keeps the size of a
    dimension.""",
    "one_element": """\
func : callable. Takes the inputs, as many arguments, and returns a tensor with one element.""",
    "several": """\
func : callable. Takes the inputs, as many arguments, and returns a tensor or a tuple of
    tensors.""",
    "rate_lambda": """\
lr_lambda : callable or list of callable. Maps the number of steps to a factor; one for all
    groups, or one for each.""",
    "probability_dim": """\
dim : int. The dimension along which the results add up to 1.""",
    "eps_of_quotients": """\
eps : float. Keeps quotients finite.""",
    "square": """\
A : Tensor. Of shape (..., n, n), of floating or complex dtype.""",
    "gamma": """\
gamma : float. The factor.""",
    "decoder_masks": """\
tgt, memory : Tensor. The sequence, and the encoder's result.
tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask : Tensor, optional. See
    `functional.multi_head_attention_forward`.""",
    "real_dtype_first": """\
dtype : dtype, optional. A real floating dtype to convert the input to first.""",
    "rectangular": """\
A : Tensor. Of shape (..., m, n), of floating or complex dtype.""",
    "strictly": """\
strict : bool. Raise, instead of returning zeros, if the gradient does not depend on some input.

Returns
-------
output : Tensor. What `func` returned.""",
    "result_dtype": """\
dtype : dtype, optional. The dtype of the result.""",
    "source": """\
src : Tensor. The values, of at least the shape of `index`.""",
    "checks": """\
check_errors : bool. Whether to raise where a matrix is singular.""",
    "their_keepdim": """\
keepdim : bool. Whether to leave dimensions of size 1 for them.""",
    "combined_dims": """\
dim : int or tuple of int, optional. The dimensions to combine; all by default.""",
    "selected_dim": """\
dim : int. The dimension to choose along.""",
    "along": """\
dim : int. The dimension to run along.""",
    "named_along": """\
dim : int. The dimension to run along; `axis` is NumPy's name of it.""",
    "mask": """\
mask : Tensor. Of bools; broadcasts with `input`.""",
    "shrinking": """\
weight_decay : float. The fraction of the parameters, times `lr`, that each step subtracts.""",
    "features_of_channels": """\
num_features : int. The number C of channels.""",
    "class_weight": """\
weight : Tensor, optional. A weight for each class.""",
    "layers": """\
num_layers : int. The number of layers; each takes the output of the layer below.""",
    "lower_limit": """\
alpha : float. Minus the limit for large negative inputs.""",
    "where_to_draw": """\
generator : Generator, optional. The source of random numbers; a default generator if omitted.""",
    "outs_of_dim": """\
out : tuple of two Tensors, optional. Where to write the results, if there is a `dim`.""",
    "momentum_and_eps": """\
momentum : float. The weight of new values in the running statistics.
eps : float. Keeps the quotient finite.

Returns
-------
Tensor: Of the input's shape and dtype; differentiable by input, weight and bias, to any order.""",
}

_EXAMPLES = {
    "steps_in_a_loop": """\
...     optimizer.zero_grad()
...     (x**2).sum().backward()
...     optimizer.step()""",
    "a_module": """\
>>> module = wg.nn.Module()
>>> module.weight = wg.nn.Parameter(wg.ones(2))""",
    "backward_pass": """\
>>> y.backward()
>>> x.grad""",
    "recording": """\
>>> x.attach_grad()
>>> with autograd.record():""",
    "a_step_down": """\
>>> (x**2).sum().backward()
>>> optimizer.step()
>>> x""",
    "scheduled_steps": """\
...     optimizer.step()
...     schedule.step()
>>> schedule.get_last_lr()""",
    "a_scheduled_step": """\
>>> optimizer.step()
>>> schedule.step()
>>> schedule.get_last_lr()""",
    "without_warnings": """\
>>> import warnings
>>> with warnings.catch_warnings():
...     warnings.simplefilter("ignore")""",
    "a_line": """\
>>> class Line(wg.nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.slope = wg.nn.Parameter(wg.tensor(2.0))
...
...     def forward(self, x):
...         return self.slope * x
>>> line = Line()""",
    "a_double": """\
>>> class Double(wg.nn.Module):
...     def forward(self, x):
...         return 2 * x""",
}

_RETURNS = {
    "differentiable": "Tensor\n    Differentiable.",
    "smooth": "Tensor\n    Differentiable, to any order.",
    "view": "Tensor\n    A view. Differentiable.",
    "views": "tuple of Tensor\n    Views. Differentiable.",
    "result": "Tensor\n    The result; differentiable.",
    "smooth_result": "Tensor\n    The result; differentiable, to any order.",
    "alike": "Tensor\n    Of the same shape. Differentiable, to any order.",
    "of_the_shape": "Tensor\n    Of the input's shape; differentiable.",
    "of_both": (
        "Tensor\n    Of the shape of `input`. Differentiable with respect to both, to any order."
    ),
    "leaf": "Tensor\n    A leaf.",
    "loss": "Tensor\n    The loss; differentiable by input and target.",
    "score_loss": "Tensor\n    The loss; differentiable by the scores, to any order.",
    "filled": "Tensor\n    `tensor` itself.",
    "handle": "RemovableHandle\n    Its ``remove()`` removes the hook.",
    "module": "Module\n    `module` itself.",
    "closure": "Tensor or float or None\n    What `closure` returned.",
}

_RAISES = {
    "shapes": "RuntimeError\n    If the shapes do not fit.",
    "shapes_or_dtypes": "RuntimeError\n    If the shapes or dtypes do not fit.",
    "broadcast": "RuntimeError\n    If the shapes do not broadcast.",
    "dim": "IndexError\n    If the dimension is out of range.",
    "dims": "IndexError\n    If a dimension is out of range.",
    "no_dim": "IndexError\n    If there is no such dimension.",
    "empty_dim": "IndexError\n    If the dimension is out of range or of size 0.",
    "floating": "NotImplementedError\n    If the dtype is not a real floating dtype.",
    "complex": "NotImplementedError\n    If the input is complex.",
    "complex_input": "RuntimeError\n    If the input is complex.",
    "square": "RuntimeError\n    If the matrices are not square.",
    "pivot": "RuntimeError\n    If `A` is not a matrix, or `pivot` is False.",
    "empty": "RuntimeError\n    If there is no element to choose from.",
    "reduction": "ValueError\n    For another reduction.",
    "probability": "ValueError\n    If `p` is not between 0 and 1.",
    "rates": "ValueError\n    If a number is negative, or a beta is not in [0, 1).",
    "argument": "TypeError, ValueError\n    If an argument is not of its type, or out of range.",
    "cuda": "AssertionError\n    Always, as in PyTorch without CUDA.",
    "singular": """\
LinAlgError: If a matrix is singular.""",
    "no_planes": """\
RuntimeError: If there are fewer than two dimensions.""",
    "one_dim": """\
RuntimeError: If the dimensions are the same.""",
    "shape_or_dtype": """\
RuntimeError: If shapes or dtypes do not fit.""",
    "definite": """\
LinAlgError: If a matrix is not positive definite.""",
    "classes": """\
ValueError: If the first sizes differ, or for another reduction.
RuntimeError: If the shapes or dtypes do not fit.
IndexError: If a target is not a class.""",
    "integers": """\
NotImplementedError: If the dtype is an integer type or bool.""",
    "distinct": """\
NotImplementedError: If the input is complex.
IndexError: If the dimension is out of range.""",
    "checked": """\
LinAlgError: With `check_errors`, if a matrix is singular.""",
    "quantiles": """\
RuntimeError: If the dtypes do not fit, there is no element, or `q` is not within 0 and 1.""",
    "empty_dims": """\
IndexError: If a dimension is out of range or of size 0.""",
}


_WG = {"wg": "import wengert as wg"}
_NUMPY = {**_WG, "np": "import numpy as np"}
_IDIOMS = {
    "wengert.distributed": {**_NUMPY, "distributed": "from wengert import distributed"},
    "wengert.nn": {
        **_NUMPY,
        "nn": "from wengert import nn",
        "parametrize": "from wengert.nn.utils import parametrize",
        "parametrizations": "from wengert.nn.utils import parametrizations",
    },
    "wengert.optim": {
        **_NUMPY,
        "optimizer": "optimizer = wg.optim.SGD([wg.ones(1, requires_grad=True)], lr=1.0)",
    },
    "wengert.ops": {**_NUMPY, "F": "import wengert.nn.functional as F"},
    "wengert.sparse": {**_NUMPY, "sparse": "from wengert import sparse"},
    "wengert.numpy": {**_WG, "np": "import wengert.numpy as np"},
    "wengert.compat.autograd": {
        "np": "import wengert.compat.autograd.numpy as np",
        "grad": "from wengert.compat.autograd import grad",
    },
    "wengert.compat.jax": {
        **_NUMPY,
        "jax": "from wengert.compat import jax",
        "jnp": "import wengert.compat.jax.numpy as jnp",
    },
    "wengert.compat.mxnet": {
        **_WG,
        "mx": "from wengert.compat import mxnet as mx",
        **{
            name: f"from wengert.compat.mxnet import {name}"
            for name in ("autograd", "nd", "np", "npx")
        },
    },
    "wengert.compat.tensorflow": {**_NUMPY, "tf": "import wengert.compat.tensorflow as tf"},
}
"""Names that a package's examples need not import, and the statements that define them."""

_IMPLIED = {name: _PARAMETERS[name] for name in ("inplace", "last_epoch", "out")}
"""Parameters with the same meaning in every function, which come last."""
_IMPLIED_BY_IDIOMS = {
    "wengert.compat.tensorflow": {"name": "name : str, optional\n    Accepted, and of no effect."}
}

_DOCUMENTED = (FunctionType, property)
_HEADINGS = frozenset({"Parameters", "Returns", "Yields", "Raises", "Warns", "Attributes"})


def _texts() -> Iterator[tuple[str, str]]:
    yield from _PARAMETERS.items()
    yield from _EXAMPLES.items()
    for name, text in _RETURNS.items():
        yield f"returns_{name}", f"Returns\n-------\n{text}"
    for name, text in _RAISES.items():
        yield f"raises_{name}", f"Raises\n------\n{text}"
        yield f"error_{name}", text


_TEXTS = dict(_texts())


def _named(doc: str) -> str:
    """Expand the entries and sections that a docstring's lines name."""
    done, *parts = doc.split("%(")
    for part in parts:
        names, _, after = part.partition(")s")
        text = ""
        for entry in map(_TEXTS.__getitem__, names.split(", ")):
            apart = entry.startswith(("Returns\n", "Raises\n"))
            text += ("\n\n" if apart else "\n") + entry if text else entry
        margin = done[done.rfind("\n") :]
        done += text.replace("\n", margin).replace(2 * margin, "\n" + margin) + after
    return done


def _spread(doc: str) -> str:
    """Put the text of each entry in a docstring's sections on a line of its own."""
    parts = doc.split("--\n")
    above = parts[0]
    for at in range(1, len(parts)):
        heading = above.rsplit("\n", 2)[-2]
        above = parts[at]
        if (title := heading.lstrip()) in _HEADINGS:
            section, blank, after = above.partition("\n\n")
            margin = heading[: -len(title)] + "    "
            lines = section.split("\n")
            for i, line in enumerate(lines):
                if not line.startswith(margin):
                    typed = line.find(" : ")
                    end = line.find(": " if typed < 0 else ". ", typed + 1)
                    if end > 0:
                        lines[i] = line[:end] + "\n" + margin + line[end + 2 :]
            parts[at] = "\n".join(lines) + blank + after
    return "--\n".join(parts)


def _calls(code: str, name: str) -> bool:
    """Return whether an example uses the library as `name`."""
    # no regular expressions: compiling them takes long in a short program
    for call in (f"{name}.", f"{name}("):
        at = code.find(call)
        while at > 0:
            line = code[code.rfind("\n", 0, at) + 1 : at]
            before = line[-1:]
            if not (before.isalnum() or before in "_.`") and (">>> " in line or "... " in line):
                return True
            at = code.find(call, at + 1)
    return False


def _imports(code: str, name: str) -> bool:
    """Return whether an example imports or defines `name`."""
    if f">>> {name} = " in code:
        return True
    for after in code.split("import ")[1:]:
        line = after.partition("\n")[0]
        if name in line and name in line.replace(",", " ").replace(".", " ").split():
            return True
    return False


def _imported(doc: str, known: dict[str, str]) -> str:
    """Add to a docstring's examples the imports of the library that they use."""
    start = doc.find(">>> ")
    code = doc[start:]
    lines = ""
    for name, statement in known.items():
        if _calls(code, name) and not _imports(code, name):
            margin = doc[doc.rfind("\n", 0, start) + 1 : start]
            lines += f">>> {statement}\n{margin}"
    return doc[:start] + lines + code if lines else doc


def _implied(doc: str, code: CodeType, entries: dict[str, str]) -> str:
    """Add to a docstring the entries of parameters that need no description."""
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for name, entry in entries.items():
        if name in names and (at := doc.find("Parameters\n")) >= 0:
            margin = doc[doc.rfind("\n", 0, at) :][: -len(doc[at:])]
            end = doc.find("\n\n", at)
            end = end if end >= 0 else len(doc.rstrip())
            heads = doc[at:end]
            if not any(f"{margin}{name}{after}" in heads for after in (" ", ":", ",")):
                doc = doc[:end] + margin + entry.replace("\n", margin) + doc[end:]
    return doc


class _Module:
    """The settings for the docstrings of one module."""

    def __init__(self, name: str):
        place = name.split(".")
        package = ".".join(place[: 3 if "compat" in place else 2])
        self.imports = _IDIOMS.get(package, _NUMPY)
        self.implied = _IMPLIED_BY_IDIOMS.get(package, _IMPLIED)

    def filled(self, doc: str, function: Any = None) -> str:
        """Return a docstring in the form in which it is read."""
        if "%(" in doc:
            doc = _named(doc)
        if "--\n" in doc:
            inner = getattr(function, "__wrapped__", function)
            if type(inner) is FunctionType:
                doc = _implied(doc, inner.__code__, self.implied)
            doc = _spread(doc)
        if ">>> " in doc:
            doc = _imported(doc, self.imports)
        return doc


def fill_sections(names: dict[str, Any]) -> None:
    """Expand the docstrings of a module, its functions and its classes.

    Parameters
    ----------
    names: The module's globals.
    """
    name = names["__name__"]
    module = _Module(name)
    if doc := names["__doc__"]:
        names["__doc__"] = module.filled(doc)
    for value in names.values():
        if type(value) is FunctionType:
            # the docstrings of idioms are filled by their own modules
            home = value.__module__
            if (home == name or home[:8] != "wengert.") and (doc := value.__doc__):
                value.__doc__ = module.filled(doc, value)
        elif isinstance(value, type) and value.__module__ == name:
            members = vars(value)
            if doc := value.__doc__:
                value.__doc__ = module.filled(doc, members.get("__init__"))
            for member in members.values():
                function = getattr(member, "__func__", member)
                if type(function) in _DOCUMENTED and (doc := function.__doc__):
                    member.__doc__ = function.__doc__ = module.filled(doc, function)
