"""Layer 5 · ops: the named tuples of decompositions."""

# the classes have the names of the functions, as in PyTorch

from __future__ import annotations

from operator import itemgetter

from wengert.ops.return_types import Results


class linalg_eig(Results):
    """Eigenvalues and eigenvectors."""

    __slots__ = ()
    __match_args__ = ("eigenvalues", "eigenvectors")
    eigenvalues = property(itemgetter(0))
    eigenvectors = property(itemgetter(1))


class linalg_eigh(Results):
    """Eigenvalues and eigenvectors of Hermitian matrices."""

    __slots__ = ()
    __match_args__ = ("eigenvalues", "eigenvectors")
    eigenvalues = property(itemgetter(0))
    eigenvectors = property(itemgetter(1))


class linalg_svd(Results):
    """Left singular vectors, singular values, and the adjoint of the right singular vectors."""

    __slots__ = ()
    __match_args__ = ("U", "S", "Vh")
    U = property(itemgetter(0))
    S = property(itemgetter(1))
    Vh = property(itemgetter(2))


class svd(Results):
    """Left singular vectors, singular values, and right singular vectors."""

    __slots__ = ()
    __match_args__ = ("U", "S", "V")
    U = property(itemgetter(0))
    S = property(itemgetter(1))
    V = property(itemgetter(2))


class linalg_qr(Results):
    """An orthogonal and a triangular factor."""

    __slots__ = ()
    __match_args__ = ("Q", "R")
    Q = property(itemgetter(0))
    R = property(itemgetter(1))


class qr(Results):
    """An orthogonal and a triangular factor."""

    __slots__ = ()
    __match_args__ = ("Q", "R")
    Q = property(itemgetter(0))
    R = property(itemgetter(1))
