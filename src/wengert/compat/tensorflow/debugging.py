"""Layer 9 · compat: ``tf.debugging``: assertions about values, shapes and types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.base.dtypes import limits
from wengert.compat.kit.signatures import named
from wengert.compat.tensorflow.conversion import convert_to_tensor, identity
from wengert.compat.tensorflow.dtypes import as_dtype
from wengert.compat.tensorflow.errors import invalid
from wengert.compat.tensorflow.tensor import made, same_dtype, tensor_of
from wengert.compat.tensorflow.words import public, refusal


def _values(value) -> Any:
    return np.asarray(made(tensor_of(value)).numpy())


def _compared(name: str, symbol: str, compare: Callable[[Any, Any], Any]) -> Callable[..., None]:
    def check(x, y, message=None, summarize=None, name=None) -> None:
        a, b = (np.asarray(made(value).numpy()) for value in same_dtype(title, x, y))
        try:
            holds = compare(a, b)
        except ValueError:
            raise invalid(f"Incompatible shapes: {list(a.shape)} vs. {list(b.shape)}") from None
        if np.all(holds):
            return
        places = np.argwhere(~np.asarray(holds))[: summarize or 3]
        wide_a, wide_b = np.broadcast_arrays(a, b)
        where = tuple(places.T) if np.ndim(holds) else ()
        count = len(places) if np.ndim(holds) else 1
        raise invalid(
            f"{message or ''}\nCondition x {symbol} y did not hold.\n"
            f"Indices of first {count} different values:\n{places}\n"
            f"Corresponding x values:\n{wide_a[where]}\nCorresponding y values:\n{wide_b[where]}\n"
            f"First {min(3, a.size)} elements of x:\n{a.reshape(-1)[:3]}\n"
            f"First {min(3, b.size)} elements of y:\n{b.reshape(-1)[:3]}"
        )

    title = "".join(part.capitalize() for part in name.removeprefix("assert_").split("_"))
    doc = (
        f"Raise an InvalidArgumentError unless ``x {symbol} y`` holds for all elements.\n\n"
        "Its message begins with `message` and shows the first places where it does not."
    )
    return named(check, name, doc)


assert_equal = _compared("assert_equal", "==", np.equal)
assert_none_equal = _compared("assert_none_equal", "!=", np.not_equal)
assert_less = _compared("assert_less", "<", np.less)
assert_less_equal = _compared("assert_less_equal", "<=", np.less_equal)
assert_greater = _compared("assert_greater", ">", np.greater)
assert_greater_equal = _compared("assert_greater_equal", ">=", np.greater_equal)


def _signed(name: str, symbol: str, compare: Callable[[Any, Any], Any]) -> Callable[..., None]:
    def check(x, message=None, summarize=None, name=None) -> None:
        values = _values(x)
        if not np.all(compare(values, 0)):
            shown = [str(value) for value in values.reshape(-1)[: summarize or 3]]
            raise invalid(
                f"{message or ''}\nCondition x {symbol} 0 did not hold element-wise:\n"
                f"x (shape={values.shape} dtype={values.dtype}) = \n{shown}"
            )

    doc = f"Raise an InvalidArgumentError unless ``x {symbol} 0`` holds for all elements."
    return named(check, name, doc)


assert_positive = _signed("assert_positive", ">", np.greater)
assert_negative = _signed("assert_negative", "<", np.less)
assert_non_negative = _signed("assert_non_negative", ">=", np.greater_equal)
assert_non_positive = _signed("assert_non_positive", "<=", np.less_equal)


def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None) -> None:
    """Raise an InvalidArgumentError unless ``|x - y| <= atol + rtol * |y|`` everywhere.

    By default the tolerances are ten times the resolution of the dtype.
    """
    a, b = (np.asarray(made(value).numpy()) for value in same_dtype("AssertNear", x, y))
    least = 10 * float(limits(a.dtype).eps) if a.dtype.kind in "fcV" else 0.0
    rtol, atol = (least if given is None else float(given) for given in (rtol, atol))
    if not np.all(np.abs(a - b) <= atol + rtol * np.abs(b)):
        raise invalid(
            f"{message or ''}\nx and y not equal to tolerance rtol = {rtol}, atol = {atol}\n"
            f"x (shape={a.shape} dtype={a.dtype}) = \n{a}\n"
            f"y (shape={b.shape} dtype={b.dtype}) = \n{b}"
        )


def Assert(condition, data, summarize=None, name=None) -> None:
    """Raise an InvalidArgumentError that shows `data`, unless `condition` is true."""
    if not bool(np.all(_values(condition))):
        shown = "\n".join(
            ", ".join(map(str, _values(value).reshape(-1)[: summarize or 3].tolist()))
            if not isinstance(value, str | bytes)
            else str(value)
            for value in data
        )
        raise invalid(f"Expected {condition!s} to be true. Summarized data: {shown}")


def assert_all_finite(x, message: str, name=None) -> Any:
    """Return `x`, or raise an InvalidArgumentError if it contains infinity or NaN."""
    values = _values(x)
    found = []
    if np.isinf(values).any():
        found.append("Inf")
    if np.isnan(values).any():
        found.append("NaN")
    if found:
        raise invalid(f"{message} : Tensor had {' and '.join(found)} values", "CheckNumerics")
    return identity(x)


def check_numerics(tensor, message: str, name=None) -> Any:
    """Check that all elements are finite; same as `assert_all_finite`."""
    return assert_all_finite(tensor, message)


def _rank(x) -> tuple[int, tuple[int, ...]]:
    shape = tuple(convert_to_tensor(x)._payload.shape)
    return len(shape), shape


def _ranked(x, fits: bool, wanted: str, message) -> None:
    if not fits:
        have, shape = _rank(x)
        raise refusal(ValueError, "{}Tensor  must", message or "", wanted, have, shape)


def assert_rank(x, rank, message=None, name=None) -> None:
    """Raise a ValueError unless `x` has `rank` dimensions."""
    _ranked(x, _rank(x)[0] == int(rank), str(int(rank)), message)


def assert_rank_at_least(x, rank, message=None, name=None) -> None:
    """Raise a ValueError unless `x` has at least `rank` dimensions."""
    _ranked(x, _rank(x)[0] >= int(rank), f"at least {int(rank)}", message)


def assert_rank_in(x, ranks, message=None, name=None) -> None:
    """Raise a ValueError unless the number of dimensions of `x` is among `ranks`."""
    _ranked(x, _rank(x)[0] in [int(rank) for rank in ranks], f"in {tuple(ranks)}", message)


def assert_scalar(tensor, message=None, name=None) -> Any:
    """Return `tensor`, or raise a ValueError if it has dimensions."""
    have, shape = _rank(tensor)
    if have:
        raise ValueError(f"{message or ''}Expected scalar shape for tensor, saw shape: {shape}.")
    return convert_to_tensor(tensor)


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None) -> None:
    """Raise a ValueError unless tensors have the given shapes; a letter stands for one size.

    `shapes` is a dict or a list of pairs that maps each tensor to its sizes: numbers, letters, or
    None for any size.
    """
    known: dict[Any, int] = {}
    for tensor, wanted in shapes.items() if isinstance(shapes, dict) else shapes:
        have, shape = _rank(tensor)
        sizes = tuple(wanted) if isinstance(wanted, list | tuple | str) else (wanted,)
        if "..." in sizes or Ellipsis in sizes or (sizes and sizes[0] == "*"):
            mark = next(i for i, s in enumerate(sizes) if s in ("...", Ellipsis, "*"))
            after = len(sizes) - mark - 1
            middle = (None,) * max(have - mark - after, 0)
            sizes = (*sizes[:mark], *middle, *sizes[mark + 1 :])
        _ranked(tensor, have == len(sizes), str(len(sizes)), message)
        for i, (size, name_or_size) in enumerate(zip(shape, sizes, strict=True)):
            if name_or_size is None:
                continue
            if isinstance(name_or_size, int):
                expected = name_or_size
            else:
                expected = known.setdefault(name_or_size, size)
            if size != expected:
                raise ValueError(
                    f"{message or ''}Specified by tensor  dimension {i}.  Tensor dimension "
                    f"{i} must have size {expected} ({name_or_size}).  Received size {size}, shape "
                    f"{shape}"
                )


def assert_type(tensor, tf_type, message=None, name=None) -> None:
    """Raise a TypeError unless the elements of `tensor` are of type `tf_type`."""
    have = convert_to_tensor(tensor).dtype
    if have is not as_dtype(tf_type):
        raise refusal(TypeError, "{}tensor must be", message or "", as_dtype(tf_type), have)


def assert_integer(x, message=None, name=None) -> None:
    """Raise a TypeError unless the elements of `x` are integers."""
    have = convert_to_tensor(x).dtype
    if not have.is_integer:
        raise TypeError(f'{message or ""}Expected "x" to be integer type.  Found: {have!r}')


def disable_check_numerics() -> None:
    """Do nothing; accepted for compatibility."""


def enable_traceback_filtering() -> None:
    """Do nothing; accepted for compatibility."""


def disable_traceback_filtering() -> None:
    """Do nothing; accepted for compatibility."""


def set_log_device_placement(enabled: bool) -> None:
    """Do nothing; accepted for compatibility."""


__all__ = public(globals())
