"""Layer 8 · compiler: composite primitives taken apart into a small core, while tracing.

NOTE [decompositions]
``DECOMPOSED[name]`` says how a primitive is computed by simpler ones. A rule, which is called as
``rule(F, *arrays, **params)``, is written as rules of derivatives are, against a namespace `F`,
with infix operators and with Python numbers as constants. It may read shapes and dtypes, never
values. It returns what the kernel returns (a tuple where the primitive has several outputs, memory
of its own unless the primitive is a view), or ``NotImplemented`` where this dtype or this shape is
better left to the kernel; then the primitive stays one step. A rule may call primitives that have
rules themselves: the namespace takes those apart in turn.

Results agree with the kernels to rounding, also where elements are infinite, not numbers, or large.
Rules leave out what a kernel does for NumPy's sake only: passes in place, blocks, and the silence
about overflow, which a backend provides for a whole program.

NOTE [the core]
`CORE` holds what rules end in and what backends compute themselves, by kinds of loops. Everything
else is a call of its kernel in between. A primitive without a rule and outside of the core is not
wrong, only slower.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from wengert.compiler.decompose_layers import LAYERS
from wengert.compiler.decompose_places import PLACES
from wengert.compiler.decompose_pointwise import POINTWISE
from wengert.compiler.decompose_products import PRODUCTS
from wengert.compiler.decompose_rules import Rule
from wengert.compiler.decompose_sums import SUMS

__all__ = ["CORE", "DECOMPOSED", "ELEMENTWISE", "INDEXED", "MATRICES", "MOVED", "REDUCED"]

DECOMPOSED: Mapping[str, Rule] = MappingProxyType(
    {**POINTWISE, **SUMS, **LAYERS, **PLACES, **PRODUCTS}
)
"""The rule of each composite primitive (see NOTE [decompositions])."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


ELEMENTWISE = _names(
    """
    add sub mul div neg add_scalar sub_scalar rsub_scalar mul_scalar div_scalar
    pow pow_scalar rpow_scalar reciprocal sqrt abs sign sgn floor ceil trunc round
    fmod fmod_scalar remainder remainder_scalar floor_divide div_floor div_trunc copysign
    exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
    erf erfc atan2 hypot maximum minimum eq ne lt le gt ge
    logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not
    isnan isinf isfinite signbit where to_copy clone real imag conj complex
    """
)
"""Each element of the result is a function of the elements at the same place, with broadcasting."""

REDUCED = _names("sum_dim prod_dim amax amin argmax argmin any all")
"""Elements are combined along dimensions; ``dim`` is a tuple (one or None for positions)."""

MOVED = _names(
    """
    view expand permute t transpose select slice diagonal flip unsafe_view alias contiguous
    unsqueeze squeeze squeeze_dim squeeze_dims squeeze_dim_
    zeros at_index tril triu diag_embed select_backward slice_backward diagonal_backward
    cat stack
    """
)
"""Where an element comes from is a function of its place alone, or it is 0.

The last line but one holds those that compare positions: a loop computes them from its indices.
"""

MATRICES = _names("mm mv dot bmm")
"""Products for BLAS.

An argument may be a `t`, `transpose` or `permute` of a value: BLAS reads it as it lies, so these
stay steps of their own, which the product takes into its call.
"""

INDEXED = _names(
    """
    gather scatter scatter_add scatter_value index index_backward index_put index_select index_add
    select_scatter slice_scatter cumsum
    """
)
"""Elements are read or written where indices say; those outside must raise as the kernels do."""

CORE = ELEMENTWISE | REDUCED | MOVED | MATRICES | INDEXED
"""What rules end in (see NOTE [the core])."""
