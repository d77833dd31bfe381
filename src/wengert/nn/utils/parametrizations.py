"""Layer 8 · nn: parametrisations of weights: orthogonal, weight norm, spectral norm."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from wengert import linalg
from wengert.base.dtypes import finfo
from wengert.base.names import shows
from wengert.base.shapes import normal_dim
from wengert.nn import functional as F
from wengert.nn.modules.module import Module
from wengert.nn.utils import parametrize
from wengert.ops.compare import allclose
from wengert.ops.create import from_numpy
from wengert.ops.join import cat
from wengert.ops.like import zeros_like
from wengert.ops.matmul import mv, vdot
from wengert.ops.normalisation_arguments import refuse_escape
from wengert.ops.random import randn
from wengert.ops.ranges import eye
from wengert.tape.modes import no_grad
from wengert.types import Tensor

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]
__dir__ = shows(__all__)

M = TypeVar("M", bound=Module)

NOT_OF_A_TRANSFORM = (
    "spectral_norm got a weight of a transform (vmap, jvp) while its vectors, which will be "
    "updated in place, are not part of the transform. Call eval() on the module first."
)
_MAPS = ("matrix_exp", "cayley", "householder")


# -- orthogonal ------------------------------------------------------------------------------------


def orthogonal(
    module: M,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> M:
    """Parametrise a weight as a matrix with orthonormal columns (or rows, if there are fewer).

    Parameters
    ----------
    %(module, its_name)s
    orthogonal_map : str, optional. ``"matrix_exp"``, ``"cayley"`` or ``"householder"``: the map
        from an unconstrained matrix; default: the first for square and complex matrices, else the
        last.
    use_trivialization : bool. Whether to apply the map relative to the value assigned last, so
        that any orthogonal value can be assigned.

    %(returns_module)s

    Raises
    ------
    ValueError: If there is no such tensor, it has fewer than two dimensions, or the map is unknown.

    Examples
    --------
    >>> module = wg.nn.Module()
    >>> module.weight = wg.nn.Parameter(wg.randn(2, 2))
    >>> w = wg.nn.utils.parametrizations.orthogonal(module).weight
    >>> wg.allclose(w.mT @ w, wg.eye(2), atol=1e-6)
    True
    """
    weight = _weight(module, name)
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: '
            f"{orthogonal_map}"
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)


def _weight(module: Any, name: str) -> Any:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


class _Orthogonal(Module):
    """The map from an unconstrained matrix to an orthogonal one."""

    def __init__(
        self, weight: Any, orthogonal_map: str, *, use_trivialization: bool = True
    ) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError(
                "The householder parametrization does not support complex tensors: choose "
                '"matrix_exp" or "cayley"'
            )
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        """Return the orthogonal matrix."""
        wide = X.shape[-2] < X.shape[-1]
        if wide:
            X = X.mT
        Q = self._reflected(X) if self.orthogonal_map == "householder" else self._rotated(X)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if wide else Q

    def _reflected(self, X: Any) -> Any:
        """Return the product of reflections whose vectors are the columns below the diagonal."""
        A = X.tril(-1)
        tau = 2.0 / (1.0 + (A * A).sum(dim=-2))
        signs = X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        return linalg.householder_product(A, tau) * signs

    def _rotated(self, X: Any) -> Any:
        """Map the skew-symmetric matrix that the lower triangle determines."""
        rows, columns = X.shape[-2:]
        X = X.tril()
        if rows != columns:
            more = X.new_zeros(rows, rows - columns).expand(*X.shape[:-2], -1, -1)
            X = cat([X, more], dim=-1)
        A = X - X.mH
        if self.orthogonal_map == "matrix_exp":
            Q = linalg.matrix_exp(A)
        else:
            one = eye(rows, dtype=A.dtype, device=A.device)
            Q = linalg.solve(one - 0.5 * A, one + 0.5 * A)
        return Q[..., :columns] if rows != columns else Q

    @no_grad()
    def right_inverse(self, Q: Any) -> Any:
        """Return the unconstrained matrix for an orthogonal one."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {Q.shape}."
            )
        given = Q
        wide = Q.shape[-2] < Q.shape[-1]
        if wide:
            Q = Q.mT
        rows, columns = Q.shape[-2:]
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley "
                    "parametrizations when use_trivialization=False."
                )
            A = _reflections(Q)
            return A.mT if wide else A
        if rows != columns:
            more = randn(*Q.shape[:-2], rows, rows - columns, dtype=Q.dtype, device=Q.device)
            self.base = _made_orthogonal(cat([Q, more], dim=-1))
        else:
            self.base = Q.clone() if _is_orthogonal(Q) else _made_orthogonal(Q)
        # every map takes this to the identity
        made = zeros_like(given)
        made.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return made


def _is_orthogonal(Q: Any) -> bool:
    rows, columns = Q.shape[-2:]
    one = eye(columns, dtype=Q.dtype, device=Q.device)
    return bool(allclose(Q.mH @ Q, one, atol=10.0 * rows * finfo(Q.dtype).eps))


def _made_orthogonal(A: Any) -> Any:
    Q, R = linalg.qr(A)
    return Q * R.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _reflections(Q: Any) -> Any:
    """Return the reflections of a QR decomposition below the diagonal, and signs on it."""
    raw, tau = np.linalg.qr(Q.detach().cpu().numpy(), mode="raw")
    A = np.swapaxes(raw, -1, -2).copy()
    places = np.arange(tau.shape[-1])
    signs = np.sign(A[..., places, places])
    A[..., places, places] = np.where(tau == 0, -signs, signs)
    return from_numpy(A).to(Q.device)


# -- norms -----------------------------------------------------------------------------------------


def norm_except_dim(v: Any, pow: float = 2, dim: int = 0) -> Any:
    """Return the norm of each slice along `dim`, with the other dimensions kept at size 1.

    With -1, return the norm of the whole tensor.
    """
    if dim == -1:
        return linalg.vector_norm(v, pow)
    others = [axis for axis in range(v.ndim) if axis != dim % v.ndim]
    return linalg.vector_norm(v, pow, dim=others, keepdim=True) if others else v.abs()


class _WeightNorm(Module):
    """A weight as norms times directions."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return weight_v * (weight_g / norm_except_dim(weight_v, dim=self.dim))

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        """Return the norms and the directions of a weight."""
        return norm_except_dim(weight, dim=self.dim), weight


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Parametrise a weight by norm and direction: ``g * v / norm(v)``.

    Parameters
    ----------
    %(module, its_name)s
    dim : int, optional. The dimension along which each slice has its own norm; None for one norm
        overall.

    Returns
    -------
    Module: `module` itself, with ``parametrizations.<name>.original0`` (g) and ``original1`` (v).

    Examples
    --------
    >>> module = wg.nn.Module()
    >>> module.weight = wg.nn.Parameter(wg.tensor([[3.0, 4.0]]))
    >>> _ = wg.nn.utils.parametrizations.weight_norm(module)
    >>> module.parametrizations.weight.original0.detach()
    tensor([[5.]])
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(_OldNames(name))
    return module


class _OldNames:
    """Renames the entries that an older `weight_norm` has saved."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
        g, v = f"{prefix}{self._name}_g", f"{prefix}{self._name}_v"
        if g in state_dict and v in state_dict:
            place = f"{prefix}parametrizations.{self._name}.original"
            state_dict[f"{place}0"] = state_dict.pop(g)
            state_dict[f"{place}1"] = state_dict.pop(v)


def as_matrix(weight: Any, dim: int) -> Any:
    """Return a weight as a matrix whose rows are the slices along `dim`."""
    rows = weight.movedim(dim, 0)
    return rows.reshape(rows.shape[0], -1)


def check_iterations(count: int) -> None:
    """Refuse a spectral norm without power iterations."""
    if count <= 0:
        raise ValueError(
            f"Expected n_power_iterations to be positive, but got n_power_iterations={count}"
        )


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, which power iteration tracks."""

    _u: Tensor
    _v: Tensor

    def __init__(
        self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        ndim = weight.ndim
        check_iterations(n_power_iterations)
        self.dim = normal_dim(dim, ndim)
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            u = matrix.new_empty(matrix.shape[0]).normal_(0, 1)
            v = matrix.new_empty(matrix.shape[1]).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._iterate(matrix, 15)

    @no_grad()
    def _iterate(self, matrix: Any, times: int) -> None:
        refuse_escape(self._u, matrix, NOT_OF_A_TRANSFORM)
        for _ in range(times):
            self._u.copy_(F.normalize(mv(matrix, self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(mv(matrix.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        """Return the normalised weight."""
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        # the next iteration writes to these
        u, v = self._u.clone(), self._v.clone()
        return weight / vdot(u, mv(matrix, v))

    def right_inverse(self, value: Any) -> Any:
        """Return the value itself, which need not have a norm of 1."""
        return value


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Parametrise a weight as itself divided by its largest singular value.

    Parameters
    ----------
    %(module, its_name)s
    n_power_iterations : int. The number of power iterations each time the weight is computed in
        training.
    eps : float. The lower bound of norms.
    dim : int, optional. The output dimension; default: 1 for transposed convolutions, else 0.

    %(returns_module)s

    Raises
    ------
    ValueError: If there is no such tensor, or `n_power_iterations` is not positive.

    Examples
    --------
    >>> module = wg.nn.Module()
    >>> module.weight = wg.nn.Parameter(wg.tensor([[2.0, 0.0], [0.0, 1.0]]))
    >>> wg.nn.utils.parametrizations.spectral_norm(module).weight.detach().norm(2) > 1
    tensor(True)
    """
    weight = _weight(module, name)
    if dim is None:
        dim = 1 if getattr(module, "transposed", False) else 0
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, made)
