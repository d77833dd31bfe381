"""Layer 5 · ops: the named tuples of linear algebra's functions with several results."""

# the classes have the names of the functions, as in PyTorch

from wengert.ops.return_types import Results


class linalg_slogdet(Results, fields="sign logabsdet"):
    """The sign of determinants and the logarithm of their absolute value."""

    __slots__ = ()


class linalg_solve_ex(Results, fields="result info"):
    """The solutions of systems, and for each 0, or where its matrix is singular."""

    __slots__ = ()


class linalg_inv_ex(Results, fields="inverse info"):
    """The inverses of matrices, and for each 0, or where the matrix is singular."""

    __slots__ = ()


class linalg_lstsq(Results, fields="solution residuals rank singular_values"):
    """The solutions of least squares, squared distances, ranks and singular values."""

    __slots__ = ()


class linalg_cholesky_ex(Results, fields="L info"):
    """Cholesky factors, and for each 0, or the first minor that is not positive-definite."""

    __slots__ = ()


class geqrf(Results, fields="a tau"):
    """R above vectors of reflections, and their factors."""

    __slots__ = ()


class linalg_lu(Results, fields="P L U"):
    """A permutation, a lower and an upper triangular factor."""

    __slots__ = ()


class lu_unpack(linalg_lu):
    """A permutation, a lower and an upper triangular factor."""

    __slots__ = ()


class linalg_lu_factor(Results, fields="LU pivots"):
    """Both triangular factors in one matrix, and the exchanges of rows."""

    __slots__ = ()


class linalg_lu_factor_ex(Results, fields="LU pivots info"):
    """Both triangular factors in one matrix, the exchanges of rows, and where U has a 0."""

    __slots__ = ()


class triangular_solve(Results, fields="solution cloned_coefficient"):
    """The solutions of triangular systems, and a copy of the matrices."""

    __slots__ = ()
