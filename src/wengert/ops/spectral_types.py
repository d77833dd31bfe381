"""Layer 5 · ops: the named tuples of decompositions."""

# the classes have the names of the functions, as in PyTorch

from wengert.ops.return_types import Results


class linalg_eig(Results, fields="eigenvalues eigenvectors"):
    """Eigenvalues and eigenvectors."""

    __slots__ = ()


class linalg_eigh(Results, fields="eigenvalues eigenvectors"):
    """Eigenvalues and eigenvectors of Hermitian matrices."""

    __slots__ = ()


class linalg_svd(Results, fields="U S Vh"):
    """Left singular vectors, singular values, and the adjoint of the right singular vectors."""

    __slots__ = ()


class svd(Results, fields="U S V"):
    """Left singular vectors, singular values, and right singular vectors."""

    __slots__ = ()


class linalg_qr(Results, fields="Q R"):
    """An orthogonal and a triangular factor."""

    __slots__ = ()


class qr(Results, fields="Q R"):
    """An orthogonal and a triangular factor."""

    __slots__ = ()
