"""Layer 8 · compiler: decompositions of products of matrices, vectors and tensors."""

from __future__ import annotations

import math
from typing import Any

from wengert.compiler.decompose.rules import COMPLEX, REAL, rule
from wengert.kernels.contraction import plan_of
from wengert.prims import records

_ANY = REAL + COMPLEX

Labels = tuple[int, ...]


def _axpby(self: Any, product: Any, beta: Any, alpha: Any) -> Any:
    if alpha != 1:
        product = product * alpha
    if beta == 1:
        return product + self
    return product + self * beta if beta != 0 else product


@rule(records.addmm, kinds=_ANY)
def _addmm(F: Any, self: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    return _axpby(self, F.mm(mat1, mat2), beta, alpha)


@rule(records.addmv, kinds=_ANY)
def _addmv(F: Any, self: Any, mat: Any, vec: Any, beta: Any, alpha: Any) -> Any:
    return _axpby(self, F.mv(mat, vec), beta, alpha)


@rule(records.baddbmm, kinds=_ANY)
def _baddbmm(F: Any, self: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    return _axpby(self, F.bmm(batch1, batch2), beta, alpha)


@rule(records.addr, kinds=_ANY)
def _addr(F: Any, self: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any) -> Any:
    if alpha != 1:
        vec1 = vec1 * alpha
    return _axpby(self, F.unsqueeze(vec1, dim=1) * F.unsqueeze(vec2, dim=0), beta, 1)


@rule(records.vdot, kinds=_ANY)
def _vdot(F: Any, self: Any, other: Any) -> Any:
    return F.dot(F.conj(self) if self.dtype.kind == "c" else self, other)


@rule(records.linalg_cross, kinds=_ANY)
def _cross(F: Any, self: Any, other: Any, dim: int) -> Any:
    a = [F.select(self, dim=dim, index=i) for i in range(3)]
    b = [F.select(other, dim=dim, index=i) for i in range(3)]
    parts = [a[j] * b[k] - a[k] * b[j] for j, k in ((1, 2), (2, 0), (0, 1))]
    return F.stack(*parts, dim=dim)


# -- contractions ---------------------------------------------------------------------------------


def _permute(F: Any, self: Any, order: Labels) -> Any:
    return self if order == tuple(range(len(order))) else F.permute(self, dims=order)


def _reshape(F: Any, self: Any, shape: Labels) -> Any:
    return self if tuple(self.shape) == shape else F.view(self, shape=shape)


def _align(F: Any, self: Any, order: Labels) -> Any:
    """Permute the dimensions to `order`, with a new one of size 1 for each -1."""
    self = _permute(F, self, tuple([i for i in order if i >= 0]))
    sizes = iter(self.shape)
    return _reshape(F, self, tuple([next(sizes) if i >= 0 else 1 for i in order]))


def _list(F: Any, self: Any, order: Labels, batch: int) -> Any:
    """Permute the dimensions to `order`, and merge the first ones, as many as `batch`."""
    if order[:batch] == tuple(range(batch)):
        # merged first, in memory order: products take transposed matrices as they are
        self = _reshape(F, self, (math.prod(self.shape[:batch]), *self.shape[batch:]))
        return _permute(F, self, (0, *[i - batch + 1 for i in order[batch:]]))
    self = _permute(F, self, order)
    return _reshape(F, self, (math.prod(self.shape[:batch]), *self.shape[batch:]))


@rule(records.contract, kinds=_ANY)
def _contract(F: Any, self: Any, other: Any, a: Labels, b: Labels, out: Labels) -> Any:
    plan = plan_of(a, b, out, math.prod(other.shape) > math.prod(self.shape))
    if plan.product:
        return _align(F, self, plan.first) * _align(F, other, plan.second)
    x, y = _permute(F, self, plan.first), _permute(F, other, plan.second)
    nb = plan.batch
    n, k = nb + plan.left, nb + plan.sum
    batch, left, summed = tuple(x.shape[:nb]), tuple(x.shape[nb:n]), math.prod(x.shape[n:])
    right = tuple(y.shape[k:])
    rows, columns, size = math.prod(left), math.prod(right), math.prod(batch)
    if not nb:
        if left and right:
            x, y = _reshape(F, x, (rows, summed)), _reshape(F, y, (summed, columns))
            result = F.mm(x, y)
        elif left:
            result = F.mv(_reshape(F, x, (rows, summed)), _reshape(F, y, (summed,)))
        elif right:
            transposed = F.t(_reshape(F, y, (summed, columns)))
            result = F.mv(transposed, _reshape(F, x, (summed,)))
        else:
            result = F.dot(_reshape(F, x, (summed,)), _reshape(F, y, (summed,)))
    elif not (left or right):
        x, y = _reshape(F, x, (*batch, summed)), _reshape(F, y, (*batch, summed))
        result = F.sum_dim(x * y, dim=(nb,), keepdim=False)
    else:
        x, y = _list(F, self, plan.first, nb), _list(F, other, plan.second, nb)
        x, y = _reshape(F, x, (size, rows, summed)), _reshape(F, y, (size, summed, columns))
        result = F.bmm(x, y)
    return _permute(F, _reshape(F, result, batch + left + right), plan.restore)
