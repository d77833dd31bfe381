"""Layer 6 · tensor: in-place methods."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.arrays import constant, unmasked
from wengert.base.device import CPU
from wengert.base.errors import wrong_type
from wengert.base.shapes import expanded
from wengert.interp.levels import Lifted, is_elsewhere
from wengert.ops.cast import warn_discarded
from wengert.ops.checks import bool_mask
from wengert.ops.coerce import dtype_name, expanded_shape
from wengert.ops.expand import expand
from wengert.ops.index import check_bytes, fitting_value, named_places, split_index
from wengert.ops.pointwise import check_alpha, fitting_alpha, rounded_division
from wengert.ops.randomness import drawn
from wengert.ops.select import check_filling, check_fits, mixed_bounds
from wengert.ops.select import where as choose
from wengert.ops.signatures import HandsOn
from wengert.ops.strided import as_strided
from wengert.ops.whole_batches import drawn_of
from wengert.prims.facet import ALIASES, IN_PLACE, OPERATOR
from wengert.prims.table import TABLE
from wengert.tape.base import SparseValue, TensorBase, new_tensor
from wengert.tape.inplace import bump, holds, is_plain, write, written
from wengert.tape.masked import HIDING, may_give_nan
from wengert.tape.modes import is_recording
from wengert.tape.operands import cast, held, is_number
from wengert.tape.record import T
from wengert.tape.views import window
from wengert.tape.write_checks import check_cast, check_writable


def in_place(name: str) -> Callable[..., Any]:
    """Make the in-place method of the element-wise operation `name`."""
    prim = TABLE[name]
    public = f"{name}_"

    def unary(self: Any) -> Any:
        return write(prim, self, (), {}, public)

    def binary(self: Any, other: Any) -> Any:
        return write(prim, self, (other,), {}, public)

    method: Callable[..., Any] = unary if len(prim.args) == 1 else binary
    method.__name__ = method.__qualname__ = public
    method.__doc__ = f"Write the result of `{name}` to this tensor, and return it."
    return method


def made_in_place() -> dict[str, Callable[..., Any]]:
    """Return the in-place methods and operators made from records, under all their names."""
    found = {}
    for prim, has_form in IN_PLACE.items():
        if has_form:
            names = [f"{name}_" for name in (prim.name, *ALIASES[prim].split())]
            found.update(dict.fromkeys(names, in_place(prim.name)))
    for prim, symbol in OPERATOR.items():
        if hasattr(int, f"__r{symbol}__"):
            found[f"__i{symbol}__"] = operator_in_place(prim.name)
    return found


def operator_in_place(name: str) -> Callable[..., Any]:
    """Make the method behind an operator such as ``+=``; foreign operands use their own."""
    prim = TABLE[name]

    def method(self: Any, other: Any) -> Any:
        if not (isinstance(other, TensorBase | np.ndarray | np.generic) or is_number(other)):
            if isinstance(other, SparseValue) and name in ("add", "sub"):
                return other.write_to(self, name)
            # otherwise Python would fall back to the out-of-place operator and make a new tensor
            other = constant(other)
            if not (isinstance(other, np.ndarray) or is_number(other)):
                return NotImplemented
        return write(prim, self, (other,), {}, f"{name}_")

    return method


def random_in_place(draw: Callable[..., Any], each: bool = False) -> Callable[..., Any]:
    """Make the method that fills its tensor with the result of ``draw(template, ...)``.

    Parameters
    ----------
    each: Whether its parameter may be a tensor, with a value for each element.
    """
    name = f"{draw.__name__.removeprefix('draw_')}_"

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "from" in kwargs:  # a word of Python's, which only a dictionary can name
            kwargs["from_"] = kwargs.pop("from")
        given = (*args, *kwargs.values()) if each else ()
        found = [value for value in given if isinstance(value, TensorBase)] if given else None
        if not found and is_plain(self):
            array = self._payload
            array[...] = draw(array, *args, **kwargs)
            written(self, name)
            return self
        check_writable(self, is_recording() and self._edge is not None)
        template = self._array()
        if isinstance(template, Lifted):
            template = np.empty(template.shape, template.dtype)
        if found:
            options = {key: value for key, value in kwargs.items() if value is not found[0]}
            values = drawn_of(
                lambda value: draw(template, value, **options),
                expand(found[0], template.shape)._payload,
            )
        else:
            values = drawn(lambda: draw(template, *args, **kwargs))
        return write(TABLE["assign"], self, (new_tensor(values),), {}, name)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{draw.__doc__} Fill the tensor in place, and return it."
    method.__wrapped__ = HandsOn(draw)  # type: ignore[attr-defined]
    return method


def add_(self: Any, other: Any, former: Any = None, *, alpha: Any = 1) -> Any:
    """Add ``alpha * other`` in place; old programs write ``add_(alpha, other)``.

    Examples
    --------
    >>> wg.tensor([1.0, 2.0]).add_(wg.tensor([3.0, 4.0]), alpha=10)
    tensor([31., 42.])
    """
    if former is not None:
        other, alpha = former, other
    return _scaled("add", self, other, alpha)


def sub_(self: Any, other: Any, former: Any = None, *, alpha: Any = 1) -> Any:
    """Subtract ``alpha * other`` in place; old programs write ``sub_(alpha, other)``.

    Examples
    --------
    >>> wg.tensor([1.0, 2.0]).sub_(1)
    tensor([0., 1.])
    """
    if former is not None:
        other, alpha = former, other
    return _scaled("sub", self, other, alpha)


def _scaled(name: str, self: Any, other: Any, alpha: Any) -> Any:
    if alpha.__class__ is not int:
        check_alpha(self, other, alpha)
    if alpha == 1:
        try:
            return write(TABLE[name], self, (other,), {}, f"{name}_")
        except TypeError:
            if isinstance(other, SparseValue):
                return other.write_to(self, name)
            raise
    alpha = fitting_alpha(self, other, alpha)
    if isinstance(other, SparseValue):
        return other.write_to(self, name, alpha)
    if is_number(other):
        return write(TABLE[name], self, (other * alpha,), {}, f"{name}_")
    return write(TABLE[f"{name}_scaled"], self, (other,), {"alpha": alpha}, f"{name}_")


def div_(self: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Divide by `other` in place, optionally rounded (see `wengert.div`).

    Examples
    --------
    >>> wg.tensor([1.0, 2.0]).div_(4), wg.tensor([7.0, -7.0]).div_(2, rounding_mode="floor")
    (tensor([0.2500, 0.5000]), tensor([ 3., -4.]))
    """
    return write(TABLE[rounded_division(rounding_mode)], self, (other,), {}, "div_")


def pow_(self: Any, exponent: Any) -> Any:
    """Raise the elements to a power in place (see `wengert.pow`).

    Examples
    --------
    >>> wg.tensor([1.0, 2.0]).pow_(3)
    tensor([1., 8.])
    """
    return write(TABLE["pow"], self, (exponent,), {}, "pow_")


def square_(self: Any) -> Any:
    """Square the elements in place.

    Examples
    --------
    >>> wg.tensor([1.0, -3.0]).square_()
    tensor([1., 9.])
    """
    return write(TABLE["pow"], self, (2,), {}, "square_")


def clamp_(self: Any, min: Any = None, max: Any = None) -> Any:
    """Bound the values from below and above, in place (see `wengert.clamp`).

    Examples
    --------
    >>> wg.tensor([-1.0, 0.5, 2.0]).clamp_(0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    bounds = [bound for bound in (min, max) if bound is not None]
    if all(map(is_number, bounds)):
        check_cast(TABLE["clamp"], self, bounds)
        return write(TABLE["clamp"], self, (), {"min": min, "max": max}, "clamp_")
    if not all(isinstance(bound, TensorBase | np.ndarray) for bound in bounds):
        return clamp_(self, *mixed_bounds("clamp_", min, max))
    form = "clamp_tensor"
    if min is None or max is None:
        form = "clamp_max_tensor" if min is None else "clamp_min_tensor"
    return write(TABLE[form], self, tuple(bounds), {}, "clamp_")


def clamp_min_(self: Any, min: Any) -> Any:
    """Bound the values from below, in place.

    Examples
    --------
    >>> wg.tensor([-1.0, 0.5]).clamp_min_(0)
    tensor([0.0000, 0.5000])
    """
    return _bounded(self, "clamp_min", min)


def clamp_max_(self: Any, max: Any) -> Any:
    """Bound the values from above, in place.

    Examples
    --------
    >>> wg.tensor([0.5, 2.0]).clamp_max_(1)
    tensor([0.5000, 1.0000])
    """
    return _bounded(self, "clamp_max", max)


def _bounded(self: Any, op: str, bound: Any) -> Any:
    if not is_number(bound):
        return clamp_(self, **{op.removeprefix("clamp_"): bound})
    check_cast(TABLE[op], self, [bound])
    return write(TABLE[op], self, (), {op.removeprefix("clamp_"): bound}, f"{op}_")


def abs_(self: Any) -> Any:
    """Take the absolute value in place.

    Raises
    ------
    RuntimeError: If the tensor is complex, since the result would be real.

    Examples
    --------
    >>> wg.tensor([-1.0, 2.0]).abs_()
    tensor([1., 2.])
    """
    if self._payload.dtype.kind == "c":
        raise RuntimeError(
            "In-place abs is not supported for complex tensors. Use abs(), which gives real numbers"
        )
    return write(TABLE["abs"], self, (), {}, "abs_")


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Copy the elements of `src`, broadcast and converted, into this tensor.

    Raises
    ------
    RuntimeError: If `src` does not broadcast to this tensor's shape.

    Examples
    --------
    >>> x = wg.zeros(2, 2)
    >>> x.copy_(wg.tensor([1, 2]))  # the row broadcasts, and becomes float32
    tensor([[1., 2.],
            [1., 2.]])
    """
    if not isinstance(src, TensorBase):
        src = new_tensor(np.asarray(unmasked(src)))
    if src is self and self._edge is None:
        check_writable(self, False, may_overlap=True)
        bump(self, "copy_")
        return self
    if is_elsewhere(src._payload) and not is_elsewhere(self._payload):
        src = T.to_device(src, device=CPU)
    if src._payload.dtype is not self._payload.dtype:
        warn_discarded(src._payload.dtype, self._payload.dtype)
        if is_plain(self):
            src = cast(src, self._payload.dtype)
    return write(TABLE["assign"], self, (src,), {}, "copy_")


def fill_(self: Any, value: Any) -> Any:
    """Set every element to `value`, a number or a 0-d tensor.

    Examples
    --------
    >>> wg.zeros(2, 2).fill_(3)
    tensor([[3., 3.],
            [3., 3.]])
    """
    if isinstance(value, TensorBase):
        check_filling(value, "fill_ only supports 0-dimension value tensor")
        return write(TABLE["fill_tensor"], self, (value,), {}, "fill_")
    params = {"value": held(_number(value, "fill_"), self._payload.dtype)}
    return write(TABLE["fill_scalar"], self, (), params, "fill_")


def _number(value: Any, op: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if not is_number(value):
        raise wrong_type(op, "value", "Number", value)
    return value


def zero_(self: Any) -> Any:
    """Set every element to 0.

    Examples
    --------
    >>> wg.ones(3).zero_()
    tensor([0., 0., 0.])
    """
    return write(TABLE["zero"], self, (), {}, "zero_")


def fill_diagonal_(self: Any, fill_value: Any, wrap: bool = False) -> Any:
    """Set the main diagonal to a number; with `wrap`, repeat it below in a tall matrix.

    Raises
    ------
    RuntimeError: If the tensor has fewer than two dimensions, or more than two of unequal sizes.

    Examples
    --------
    >>> wg.zeros(2, 3).fill_diagonal_(1)
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    shape, steps = self._payload.shape, self.stride()
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1: a diagonal needs at least two")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError(f"all dimensions of input must be of equal length, not {list(shape)}")
    size, stride = min(shape), sum(steps)
    fill_(as_strided(self, (size,), (stride,)), fill_value)
    rows, width = shape[:2]
    if wrap and len(shape) == 2 and rows > width + 1:
        count = -(-self._payload.size // (width + 1)) - size
        start = self.storage_offset() + steps[0] * (width + 1)
        fill_(as_strided(self, (count,), (stride,), start), fill_value)
    return self


def masked_fill_(self: Any, mask: Any, value: Any) -> Any:
    """Set the elements where `mask` is True to `value`, a number or a 0-d tensor.

    Examples
    --------
    >>> x = wg.tensor([1.0, -2.0, 3.0])
    >>> x.masked_fill_(x < 0, 0)
    tensor([1., 0., 3.])
    """
    hidden = may_give_nan(self)
    made = _masked_fill(self, mask, value)
    if hidden and made._edge is not None:
        HIDING.add(made._edge)
    return made


def _masked_fill(self: Any, mask: Any, value: Any) -> Any:
    mask = bool_mask(mask, "masked_fill")
    if isinstance(value, TensorBase):
        check_filling(value, "masked_fill_ only supports a 0-dimensional value tensor,")
        check_fits(value._payload, self._payload.dtype)
        return write(TABLE["masked_fill_tensor"], self, (mask, value), {}, "masked_fill_")
    params = {"value": held(_number(value, "masked_fill_"), self._payload.dtype)}
    if params["value"].__class__ is not float:
        # NumPy would promote the number to a wider type
        params["value"] = self._payload.dtype.type(params["value"])
    return write(TABLE["masked_fill"], self, (mask,), params, "masked_fill_")


def index_put_(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """Set ``self[indices] = values``, or add if `accumulate`; see `wengert.index_put`.

    Examples
    --------
    >>> wg.zeros(3).index_put_((wg.tensor([0, 2]),), wg.tensor([1.0, 5.0]))
    tensor([1., 0., 5.])
    """
    arrays = named_places(self, indices)
    params = {"indices": arrays, "accumulate": accumulate}
    if isinstance(values, TensorBase):
        values = fitting_value(values, self, indices, arrays, accumulate)
    return write(TABLE["index_put"], self, (values,), params, "index_put_")


def put_last(self: Any, indices: Any, values: Any) -> Any:
    """Set ``self[indices] = values`` as NumPy does: the last value of a repeated index wins.

    `index_put_` writes the same values, but has PyTorch's gradients, which also reach overwritten
    values.
    """
    return index_put_(self, indices, last_named(self, named_places(self, indices), values))


def last_named(self: Any, indices: tuple[Any, ...], value: Any) -> Any:
    """Return `value` for ``self[indices]``, with zeros for elements that later ones overwrite.

    Overwritten elements then have no derivative of any order.
    """
    plain = value._edge is None and not isinstance(value._payload, Lifted)
    if plain or all(index is None or index.dtype.kind == "b" for index in indices):
        return value
    owner = new_tensor(np.zeros(self._payload.shape, np.intp))
    shape = T.index(owner, indices=indices)._payload.shape
    order = new_tensor(np.arange(math.prod(shape)).reshape(shape))
    owner = T.index_put(owner, order, indices=indices, accumulate=False)
    kept = T.eq(T.index(owner, indices=indices), order)
    if isinstance(kept._payload, np.ndarray) and kept._payload.all():
        return value
    value = _fitting(value, shape)
    if value._payload.shape != shape:
        value = T.expand(value, shape=expanded(value._payload.shape, shape))
    return T.where(kept, value, new_tensor(np.zeros((), value._payload.dtype)))


def where(self: Any, condition: Any, other: Any) -> Any:
    """Return this tensor where `condition` holds, and `other` elsewhere (see `wengert.where`).

    Examples
    --------
    >>> x = wg.tensor([-1.0, 7.0])
    >>> x.where(x > 0, 0.0)
    tensor([0., 7.])
    """
    return choose(condition, self, other)


def writing(view: Callable[[Any], Any]) -> Callable[[Any, Any], None]:
    """Make the setter of an attribute that is a view: it writes into the view."""

    def write(self: Any, value: Any) -> None:
        part = view(self)
        if isinstance(value, TensorBase):
            part.copy_(value)
        else:
            part[...] = value

    return write


def delitem(self: Any, index: Any) -> None:
    """Raise, since elements cannot be deleted from a tensor."""
    raise TypeError("Tensor does not support deleting items")


def _set_at_once(self: Any, index: Any, value: Any) -> bool:
    """Try to write a number, or a tensor of the same dtype, to an array; return if done."""
    items = index if index.__class__ is tuple else (index,)
    advanced = False
    for item in items:
        if item.__class__ is not int and (
            item.__class__ is not slice
            or item.step is not None
            or (item.start is not None and item.start.__class__ is not int)
            or (item.stop is not None and item.stop.__class__ is not int)
        ):
            advanced = True
            if not _names_places(item):
                return False
    if not is_plain(self):
        return False
    payload = self._payload
    if advanced:
        if self._edge is not None:
            return False
        index = tuple([getattr(item, "_payload", item) for item in items])
        for item in index:
            if item.__class__ is np.ndarray and np.may_share_memory(item, payload):
                return False
    if isinstance(value, TensorBase):
        if not holds(self, value) or (advanced and len(items) > 1):
            return False
        value = value._payload
        name = "copy_" if value.ndim else "fill_"
    elif value.__class__ is int or (value.__class__ is float and payload.dtype.kind == "f"):
        if not -(2**31) < value < 2**31:
            return False
        name = "fill_"
    else:
        return False
    try:
        payload[index] = value
    except (IndexError, ValueError, OverflowError, TypeError):
        # PyTorch words the error differently, or wraps the number
        return False
    written(self, "index_put_" if advanced else name)
    return True


def _names_places(item: Any) -> bool:
    """Return whether an index item is a tensor of integers or a mask, which NumPy accepts."""
    array = item._payload if isinstance(item, TensorBase) else None
    return (
        array.__class__ is np.ndarray
        and array.dtype.char in "?l"
        and array.ndim > 0
        and array.flags.owndata
    )


def setitem(self: Any, index: Any, value: Any, last: bool = False) -> None:
    """Set ``self[index] = value``, for any index that reading accepts.

    The value broadcasts to the indexed shape and is converted to this tensor's dtype. The write is
    recorded: the gradient flows to `value`, and not to the overwritten elements. For a repeated
    index it flows to all of its values, as in PyTorch, or with `last` to the one that remains.

    Raises
    ------
    RuntimeError: If the tensor is a leaf that requires a gradient (write under ``no_grad``).
    """
    if _set_at_once(self, index, value):
        return
    given = isinstance(value, TensorBase)
    if not given:
        kind = self._payload.dtype
        if isinstance(value, np.generic):
            value = value.item()
        if is_number(value):
            value = held(value, kind)
        elif value is None or isinstance(value, str | bytes | dict | set | frozenset):
            raise TypeError(
                f"can't assign a {type(value).__name__} to a torch.{dtype_name(self._payload)}"
                "Tensor: assign a tensor, an array or a number"
            )
        value = new_tensor(
            np.asarray(unmasked(value), dtype=None if isinstance(value, np.ndarray) else kind)
        )
    steps, advanced = split_index(self, index)
    target = window(self, steps) if steps else self
    if advanced is None:
        value = _fitting(value, target._payload.shape)
        if value._payload.shape != target._payload.shape:
            # raises, and names the size that does not fit
            shape = expanded_shape(value, target._payload.shape)
            lifted = isinstance(value._payload, Lifted) or isinstance(target._payload, Lifted)
            if lifted or np.may_share_memory(value._payload, target._payload):
                value = T.expand(value, shape=shape)
        form = "copy_" if value._payload.ndim or index is Ellipsis else "fill_"
        write(TABLE["assign" if form == "copy_" else "fill_tensor"], target, (value,), {}, form)
    else:
        check_bytes(value, index, advanced)
        if given:
            value = fitting_value(value, target, index, advanced)
        if (shape := value._payload.shape)[:1] == (1,):
            ones = next((i for i, size in enumerate(shape) if size != 1), len(shape))
            value = T.view(value, shape=shape[ones:])
        params = {"indices": advanced, "accumulate": False}
        if last:
            value = last_named(target, advanced, value)
        masks = any(part is not None and part.dtype.kind == "b" for part in advanced)
        hidden = masks and may_give_nan(target)
        write(TABLE["index_put"], target, (value,), params, "index_put_")
        if hidden and target._edge is not None:
            HIDING.add(target._edge)


def _fitting(value: Any, shape: tuple[int, ...]) -> Any:
    """Return `value` without leading dimensions of size 1 that the target lacks, as in PyTorch."""
    have = value._payload.shape
    extra = len(have) - len(shape)
    if extra > 0 and all(n == 1 for n in have[:extra]):
        return T.view(value, shape=have[extra:])
    return value
