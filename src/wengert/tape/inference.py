"""Layer 4 · tape: inference mode, whose tensors can never become part of a graph."""

from __future__ import annotations

from typing import Any

from wengert.prims.record import Primitive
from wengert.tape.detachments import note_switch
from wengert.tape.modes import MODE, Mode, Switch, changed, current_mode, full_mode
from wengert.tape.record import T
from wengert.tape.versions import InferenceCell
from wengert.tape.views import MADE_IN_INFERENCE


def is_inference_mode_enabled() -> bool:
    """Return whether inference mode is on.

    Examples
    --------
    >>> with wg.inference_mode():
    ...     wg.is_inference_mode_enabled()
    True
    """
    return full_mode().inference is not None


def made_in_inference(tensor: Any) -> Any:
    """Mark the new tensor if inference mode is on, and return it."""
    mode = current_mode()
    if mode is not None and mode.inference is not None and tensor._vc is None:
        tensor._vc = InferenceCell()
    return tensor


class _Inference:
    """Computes operations in inference mode."""

    def record(
        self, mode: Mode, prim: Primitive, args: tuple[Any, ...], params: dict[str, Any]
    ) -> Any:
        """Compute `prim` without recording, and mark its results."""
        MODE.set(mode.inner)
        try:
            results = getattr(T, prim.name)(*args, **params)
        finally:
            MODE.set(mode)
        for out in results if isinstance(results, tuple) else (results,):
            if not prim.view:
                out._vc = InferenceCell()
            elif out._vc.__class__ is not InferenceCell:
                # a view of an ordinary tensor is ordinary, but refuses recorded writes
                out._ext.no_write = MADE_IN_INFERENCE
        return results


_INFERENCE = _Inference()
_ALONE = changed(None, inference=_INFERENCE, grad=False)
"""The mode of ``inference_mode`` without others, shared."""


class inference_mode(Switch):
    """Record nothing, and make tensors that can never be recorded: a context and a decorator.

    Unlike in `no_grad`, tensors made in it have no version counter: saving one for a backward pass
    raises, and so does writing to it outside of inference mode. ``clone()`` returns an ordinary
    tensor.

    Parameters
    ----------
    mode : bool or callable. Whether to switch it on or off; or the function to decorate.

    Examples
    --------
    >>> x = wg.ones(2, requires_grad=True)
    >>> with wg.inference_mode():
    ...     y = x * 2
    >>> y.requires_grad, y.is_inference()
    (False, True)
    """

    field = "inference"

    def __new__(cls, mode: Any = True) -> Any:
        """Return the context manager, or `mode`, a function, decorated by it."""
        if isinstance(mode, bool):
            return super().__new__(cls)
        return cls(True)(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(_INFERENCE if mode else None)

    def __enter__(self) -> None:
        mode = full_mode()
        self._before.append((mode.grad, mode.inference))
        if self._value is not None and mode.records:
            note_switch("inference_mode()")
        if self._value is not None and current_mode() is None:
            MODE.set(_ALONE)
            return
        # leaving inference mode records again, as in PyTorch
        MODE.set(changed(mode, inference=self._value, grad=self._value is None))

    def __exit__(self, *exc: object) -> None:
        grad, inference = self._before.pop()
        mode = current_mode()
        alone = mode is _ALONE and grad and inference is None
        MODE.set(None if alone else changed(mode, inference=inference, grad=grad))

    def clone(self) -> Switch:
        return type(self)(self._value is not None)
