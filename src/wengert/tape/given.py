"""Layer 4 · tape: tangents as tensors of their own.

NOTE [tangents that are tensors]
The tangent passed to `make_dual` and the one returned by `unpack_dual` are one tensor, as in
PyTorch: the same object each time, over the memory of the tangent. So the dual tensor notes that
object, together with the payload and the edge for which it is valid. A primal or tangent taken from
a tensor with a history refuses recorded writes, which would bypass the history of the dual.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.interp.dual import Dual
from wengert.interp.levels import Level, is_plain
from wengert.kernels.layout import laid_as
from wengert.tape.base import alike, new_tensor, version_of
from wengert.tape.invalidated import plain
from wengert.tape.levels import move
from wengert.tape.modes import is_recording
from wengert.tape.versions import InferenceCell
from wengert.tape.views import PART, link, move_edge

NOTED = "_given_tangent"
"""The attribute of a tensor that notes its tangent."""


def note_tangent(tensor: Any, tangent: Any) -> None:
    """Note `tangent` as the tensor that stands for the tangent of `tensor`."""
    vars(tensor)[NOTED] = (tensor._payload, tangent, tensor._edge, _versions(tensor, tangent))


def _versions(tensor: Any, tangent: Any) -> Any:
    return None if tensor._edge is None else (version_of(tensor), version_of(tangent))


def noted_tangent(tensor: Any) -> Any:
    """Return the tensor noted for the tangent of `tensor`; None if none is, or it is outdated."""
    payload, tangent, edge, versions = vars(tensor).get(NOTED, (None, None, None, None))
    if payload is not tensor._payload or edge is not tensor._edge:
        return None
    return tangent if versions == _versions(tensor, tangent) else None


def tangent_tensor(tensor: Any, level: Level) -> Any:
    """Return the tangent of `tensor` at `level`, where it has one."""
    whole = tensor._array()
    if not isinstance(whole, Dual) or whole.owner is not level:
        return move("tangent_of", tensor, level)
    tangent = noted_tangent(tensor)
    if tangent is not None:
        return tangent
    if not is_plain(whole.tangent):
        return move("tangent_of", tensor, level)
    if tensor._edge is not None:
        edge = move("tangent_of", tensor, level)._edge
        if edge is None:
            # nothing is recorded in this mode
            return alike(new_tensor(np.copy(whole.tangent)), tensor)
    else:
        edge = None
    if whole.own:
        tangent = new_tensor(whole.tangent, edge, whole.given or tensor._share_version())
    else:
        tangent = new_tensor(np.copy(whole.tangent), edge)
    alike(tangent, tensor)._extra().no_write = PART
    link(tensor, tangent)
    note_tangent(tensor, tangent)
    return tangent


def follow(tensor: Any, tangent: Any) -> None:
    """After a write to `tensor`, update the history of the tensor that stands for its tangent.

    A tangent with memory of its own, as `make_dual` may receive, was not written to.
    """
    if tensor._edge is not None and tangent._vc is (tensor._payload.given or tensor._vc):
        if is_recording():
            tangent._payload = plain(tangent._payload)
            move_edge(tangent, move("tangent_of", tensor, tensor._payload.owner)._edge)
        tangent._extra().no_write = PART
        note_tangent(tensor, tangent)


def joined_with(out: Any, tangent: Any, level: Level) -> Any:
    """Make a dual tensor of a value and a tangent, both tensors without a history."""
    value, array, cell = out._array(), tangent._array(), tangent._share_version()
    if out._ext is None or out._ext.base is None or cell.__class__ is InferenceCell:
        # other values may share this tangent
        array, cell = laid_as(array.copy(), value), None
    own = array.strides == value.strides and array.flags.writeable
    dual = new_tensor(
        Dual(value, array, level, own, cell if own else None), None, out._share_version()
    )
    if own and cell is not None:
        note_tangent(dual, tangent)
    return dual


def shared_tangent(dual: Any, tangent: Any) -> None:
    """Make the new tensor `dual` share the memory of `tangent` for its tangent.

    The tangent must have the memory layout of the value, so that a view of one is a view of both.
    """
    whole, array = dual._payload, tangent._array()
    cell = tangent._share_version()
    own = array.flags.writeable and cell.__class__ is not InferenceCell
    dual._payload = Dual(np.asarray(whole.primal), array, whole.owner, own, cell if own else None)
    link(dual, tangent)
    note_tangent(dual, tangent)
