"""Layer 5 · ops: the named tuples of linear algebra's functions with several results."""

# the classes have the names of the functions, as in PyTorch

from __future__ import annotations

from operator import itemgetter

from wengert.ops.return_types import Results


class linalg_slogdet(Results):
    """The sign of determinants and the logarithm of their absolute value."""

    __slots__ = ()
    __match_args__ = ("sign", "logabsdet")
    sign = property(itemgetter(0))
    logabsdet = property(itemgetter(1))

    __slots__ = ()


class linalg_solve_ex(Results):
    """The solutions of systems, and where there is none."""

    __slots__ = ()
    __match_args__ = ("result", "info")
    result = property(itemgetter(0))
    info = property(itemgetter(1))


class linalg_inv_ex(Results):
    """The inverses of matrices, and where there is none."""

    __slots__ = ()
    __match_args__ = ("inverse", "info")
    inverse = property(itemgetter(0))
    info = property(itemgetter(1))


class linalg_lstsq(Results):
    """The solutions of least squares, squared distances, ranks and singular values."""

    __slots__ = ()
    __match_args__ = ("solution", "residuals", "rank", "singular_values")
    solution = property(itemgetter(0))
    residuals = property(itemgetter(1))
    rank = property(itemgetter(2))
    singular_values = property(itemgetter(3))


class linalg_cholesky_ex(Results):
    """Cholesky factors, and where there is none."""

    __slots__ = ()
    __match_args__ = ("L", "info")
    L = property(itemgetter(0))
    info = property(itemgetter(1))


class linalg_lu(Results):
    """A permutation, a lower and an upper triangular factor."""

    __slots__ = ()
    __match_args__ = ("P", "L", "U")
    P = property(itemgetter(0))
    L = property(itemgetter(1))
    U = property(itemgetter(2))


class lu_unpack(linalg_lu):
    """A permutation, a lower and an upper triangular factor."""

    __slots__ = ()


class linalg_lu_factor(Results):
    """Both triangular factors in one matrix, and the exchanges of rows."""

    __slots__ = ()
    __match_args__ = ("LU", "pivots")
    LU = property(itemgetter(0))
    pivots = property(itemgetter(1))


class linalg_lu_factor_ex(Results):
    """Both triangular factors in one matrix, the exchanges of rows, and where U has a 0."""

    __slots__ = ()
    __match_args__ = ("LU", "pivots", "info")
    LU = property(itemgetter(0))
    pivots = property(itemgetter(1))
    info = property(itemgetter(2))


class triangular_solve(Results):
    """The solutions of triangular systems, and a copy of the matrices."""

    __slots__ = ()
    __match_args__ = ("solution", "cloned_coefficient")
    solution = property(itemgetter(0))
    cloned_coefficient = property(itemgetter(1))
