"""Layer 9 · amp: `autocast`, in which products are computed in 16 bits.

NOTE [what autocast casts]
An autocast comes between the recording of operations and their kernels (see
`wengert.utils.dispatch`), so it sees primitives, not the functions that users call. Each
primitive's record says how it is cast. Products take their arguments in the lower dtype, losses and
a few reductions in float32; everything else computes in the dtypes of its arguments, promoted as
usual. float64 is left alone, as in PyTorch. Each cast is recorded, so gradients arrive in the
dtypes of the parameters. Functions that look at dtypes before they compute read their arguments
by `wengert.ops.coerce.wide`: those of linear algebra, Fourier transforms, distances, quantiles.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.dtypes import FLOATING, as_dtype, category, dtype
from wengert.base.errors import long_name
from wengert.base.extras import bfloat16
from wengert.prims.facet import Facet
from wengert.prims.record import Primitive
from wengert.tape.base import LEAF, version_of
from wengert.tape.modes import Mode, change_mode, full_mode, is_recording
from wengert.tape.operands import cast
from wengert.tape.sites import warn
from wengert.utils.dispatch import Dispatch

CASTS: Facet[str] = Facet("autocast", lambda prim: "")
"""How arguments are cast: ``"lower"``, ``"float32"``, or not at all."""
_FLOAT = np.dtype(np.float32)
_DEVICES = ("cpu", "cuda", "xpu", "mps", "hpu", "mtia", "xla", "maia", "privateuseone")


class _Casts(Dispatch):
    """The dispatch context between operations and their kernels inside an autocast."""

    mixes = True

    def __init__(self, lower: np.dtype[Any], keeps: bool) -> None:
        self.lower = lower
        self._keeps = keeps
        self._kept: dict[int, tuple[Any, ...]] = {}

    def fresh(self) -> _Casts:
        """Return a context that casts the same way and has cached nothing."""
        return _Casts(self.lower, self._keeps)

    def run(self, mode: Mode, prim: Primitive, tensors: list[Any], params: Any, outs: Any) -> Any:
        """Compute an operation on arguments cast to the dtype that suits it."""
        casts = CASTS[prim] if outs is None else ""
        if casts == "lower":
            tensors = [self._in(tensor, self.lower) for tensor in tensors]
            kinds = {tensor._payload.dtype: None for tensor in tensors}
            if len(kinds) > 1:
                names = " != ".join(long_name(kind).lower() for kind in kinds)
                raise RuntimeError(
                    f"expected m1 and m2 to have the same dtype, but got: {names}. autocast leaves "
                    "float64 alone: convert one of them with .to(dtype)"
                )
        elif casts == "float32":
            tensors = [self._in(tensor, _FLOAT) for tensor in tensors]
        return self.compute(mode, prim, tensors, params, outs)

    def _in(self, tensor: Any, kind: np.dtype[Any]) -> Any:
        """Return `tensor` in another floating dtype; casts of unmodified parameters are cached."""
        have = tensor._payload.dtype
        if have == kind or category(have) != FLOATING or have == np.float64:
            return tensor
        if not self._keeps or tensor._edge is not LEAF or kind != self.lower:
            return cast(tensor, kind)
        now = (version_of(tensor), is_recording())
        known = self._kept.get(id(tensor))
        if known is None or known[0] != now:
            # keep the parameter alive too, so that its address is not reused
            known = self._kept[id(tensor)] = (now, cast(tensor, kind), tensor)
        return known[1]


class autocast:
    """A context, or decorator, that computes products in 16 bits.

    Matrix products and convolutions take their arguments in `dtype`; losses compute in float32,
    everything else in the dtypes of its arguments. On a CPU this saves memory rather than time.

    Parameters
    ----------
    device_type : str. ``"cpu"``. For other devices, which are not available, it warns and casts
        nothing.
    dtype : dtype, optional. float16, or bfloat16 (for which the package ml_dtypes is needed), the
        default outside of another `autocast`; inside, it is that one's.
    enabled : bool. False turns an outer autocast off.
    cache_enabled : bool, optional. Whether parameters are cast once rather than at every use; True
        by default.

    Raises
    ------
    RuntimeError: If the device type is not known.

    Examples
    --------
    >>> x = wg.ones(2, 2)
    >>> with wg.autocast("cpu", dtype=wg.float16):
    ...     y = x @ x
    >>> y.dtype, (x + y).dtype
    (torch.float16, torch.float32)
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(
                f"Expected `device_type` of type `str`, got: `{type(device_type)}`. Write "
                "autocast('cpu')"
            )
        kind = device_type.partition(":")[0]
        if kind not in _DEVICES:
            raise RuntimeError(f"User specified an unsupported autocast device_type '{kind}'")
        self.device = kind
        entered = _entered()
        given = entered.lower if dtype is None and entered is not None else dtype
        self._given = None if given is None else as_dtype(given)
        self._enabled = enabled
        self._keeps = True if cache_enabled is None else cache_enabled
        self._outer: list[tuple[Any, ...]] = []
        if enabled and kind != "cpu":
            name = kind.upper()
            warn(
                f"User provided device_type of '{kind}', but {name} is not available. Disabling",
            )
            self._enabled = False
        elif enabled and self._given is not None and self._given.itemsize != 2:
            warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                "CPU Autocast only supports dtype of torch.bfloat16, torch.float16 currently.",
            )
            self._enabled = False

    @property
    def fast_dtype(self) -> dtype:
        """The dtype in which products are computed."""
        return bfloat16() if self._given is None else self._given

    def __enter__(self) -> autocast:
        before = full_mode().dispatch
        rest = tuple(entered for entered in before if not isinstance(entered, _Casts))
        if self._enabled:
            rest = (*rest, _Casts(self.fast_dtype.dtype, self._keeps))
        if rest != before:
            change_mode(dispatch=rest)
        self._outer.append(before)
        return self

    def __exit__(self, *exc: object) -> None:
        before = self._outer.pop()
        if full_mode().dispatch != before:
            change_mode(dispatch=before)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function` as one that runs in this context: the decorator form."""

        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return decorated


def _entered() -> _Casts | None:
    for context in reversed(full_mode().dispatch):
        if isinstance(context, _Casts):
            return context
    return None


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Return whether products are currently computed in 16 bits.

    Parameters
    ----------
    device_type : str. ``"cpu"``; nothing is cast on other devices.

    Examples
    --------
    >>> with wg.autocast("cpu", dtype=wg.float16):
    ...     wg.is_autocast_enabled("cpu")
    True
    """
    return device_type == "cpu" and _entered() is not None


def _is_any_autocast_enabled() -> bool:
    return _entered() is not None


def get_autocast_dtype(device_type: str = "cuda") -> dtype:
    """Return the dtype of products in the current `autocast`, or in one without ``dtype``.

    Examples
    --------
    >>> with wg.autocast("cpu", dtype=wg.float16):
    ...     wg.get_autocast_dtype("cpu")
    torch.float16
    """
    if device_type != "cpu":
        return as_dtype("float16")
    entered = _entered()
    return bfloat16() if entered is None else as_dtype(entered.lower)


def is_autocast_available(device_type: str) -> bool:
    """Return whether `autocast` casts anything on a device: only on the CPU.

    Examples
    --------
    >>> wg.amp.is_autocast_available("cpu"), wg.amp.is_autocast_available("cuda")
    (True, False)
    """
    return device_type == "cpu"


def is_autocast_cpu_enabled() -> bool:
    """Return ``is_autocast_enabled("cpu")``: its old name."""
    return is_autocast_enabled("cpu")


def get_autocast_cpu_dtype() -> dtype:
    """Return ``get_autocast_dtype("cpu")``: its old name."""
    return get_autocast_dtype("cpu")


def is_autocast_cache_enabled() -> bool:
    """Return whether an `autocast` caches its casts, which makes no difference to results."""
    return True


def clear_autocast_cache() -> None:
    """Clear the cache of an `autocast`; it never outlives the context."""
