"""Layer 9 · compat: MXNet's contexts; every array is stored on the CPU."""

from __future__ import annotations

from contextvars import ContextVar

from wengert.compat.kit.namespaces import defined
from wengert.compat.mxnet.base import MXNetError, refusal, shown

_ENTERED: ContextVar[tuple[Context, ...]] = ContextVar("wengert_mxnet_context", default=())


class Context:
    """A device: ``cpu(0)``. Others can be named, but refuse to hold an array.

    Parameters
    ----------
    device_type : str or Context. ``"cpu"``, ``"gpu"``, ``"cpu_pinned"`` or ``"cpu_shared"``.
    device_id : int

    Examples
    --------
    >>> mx.Context("cpu", 0) == mx.cpu()
    True
    >>> with mx.cpu():
    ...     mx.current_context()
    cpu(0)
    """

    devtype2num = {"cpu": 1, "gpu": 2, "cpu_pinned": 3, "cpu_shared": 5}  # noqa: RUF012

    def __init__(self, device_type, device_id=0) -> None:
        if isinstance(device_type, Context):
            device_type, device_id = device_type.device_type, device_type.device_id
        self.device_typeid = self.devtype2num[device_type]
        self.device_type: str = device_type
        self.device_id = device_id

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Context)
            and self.device_type == other.device_type
            and self.device_id == other.device_id
        )

    def __hash__(self) -> int:
        return hash((self.device_type, self.device_id))

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    def __enter__(self) -> Context:
        _ENTERED.set((*_ENTERED.get(), self))
        return self

    def __exit__(self, *exc: object) -> None:
        _ENTERED.set(_ENTERED.get()[:-1])

    def empty_cache(self) -> None:
        """Do nothing: NumPy manages the memory."""


def cpu(device_id=0) -> Context:
    """Return the CPU context.

    Examples
    --------
    >>> mx.cpu()
    cpu(0)
    """
    return Context("cpu", device_id)


def cpu_pinned(device_id=0) -> Context:
    """Return the context of pinned memory, which is ordinary memory here."""
    return Context("cpu_pinned", device_id)


def gpu(device_id=0) -> Context:
    """Return a GPU context; an array on it raises `MXNetError`, as in MXNet without CUDA.

    Examples
    --------
    >>> mx.gpu(1), mx.context.num_gpus()
    (gpu(1), 0)
    """
    return Context("gpu", device_id)


def num_gpus() -> int:
    """Return the number of GPUs: 0."""
    return 0


def current_context() -> Context:
    """Return the innermost context entered, by default ``cpu(0)``."""
    entered = _ENTERED.get()
    return entered[-1] if entered else Context("cpu")


def checked(ctx) -> None:
    """Raise an error if `ctx` cannot store arrays.

    Raises
    ------
    MXNetError: If it is a GPU, or a list of several contexts.
    TypeError: If it is not a context.
    """
    if ctx is None:
        ctx = current_context()
    elif isinstance(ctx, list | tuple) and ctx:
        if len(ctx) > 1:
            raise refusal(MXNetError, "{} contexts: here", len(ctx))
        (ctx,) = ctx
    if not isinstance(ctx, Context):
        raise TypeError(f"ctx must be a Context such as mx.cpu(), got {shown(ctx)}")
    if ctx.device_type == "gpu":
        raise refusal(MXNetError, "GPU support is", ctx)


__all__ = defined(globals())
