"""Layer 2 · prims: samples drawn by rejection, as functions of their parameters.

The samples are an argument, since kernels do not draw; see NOTE [derivatives of samples].
"""

from __future__ import annotations

from typing import Any

from wengert.kernels import samplers as kernels
from wengert.prims import gamma
from wengert.prims.families import general, per_matrix
from wengert.prims.record import not_implemented


def _slope_of_dirichlet(F: Any, g: Any, self: Any, drawn: Any) -> Any:
    total = F.sum_dim(self, dim=(self.ndim - 1,), keepdim=True)
    inner = F.sum_dim(drawn * g, dim=(self.ndim - 1,), keepdim=True)
    return F._dirichlet_grad(drawn, self, total) * (g - inner)


def _no_slope(F: Any, g: Any) -> Any:
    raise NotImplementedError("derivative for aten::binomial is not implemented: detach() both")


def _drawn(self: Any, drawn: Any) -> Any:
    return drawn.copy()


general(
    "_standard_gamma",
    _drawn,
    vjp=(lambda F, g, self, drawn: g * F._standard_gamma_grad(self, drawn), None),
    fixed=(),
    refuses=not_implemented("gamma_cpu", "bic"),
    doc="gamma samples as a function of their shape parameter",
    batching="pointwise",
)
per_matrix(
    "_sample_dirichlet",
    _drawn,
    vjp=(_slope_of_dirichlet, None),
    fixed=(),
    refuses=not_implemented("dirichlet", "bic"),
    doc="Dirichlet samples as a function of their concentrations",
)
general(
    "binomial",
    lambda count, prob, drawn: drawn.copy(),
    vjp=(_no_slope, _no_slope, None),
    fixed=(),
    refuses=not_implemented("binomial_cpu", "bic"),
    doc="binomial samples as a function of their parameters, without a derivative",
    batching="pointwise",
)
general(
    "_dirichlet_grad",
    kernels.dirichlet_slope,
    vjp=(gamma.no_second("_dirichlet_grad"),) * 3,
    broadcasts=True,
    promote="float",
    refuses=not_implemented("_dirichlet_grad_cpu", "bic"),
    doc="derivative of elements of Dirichlet samples with respect to their parameters, over 1 - x",
    batching="pointwise",
)
