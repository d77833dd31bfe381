"""Layer 9 · compat: ``tf.strings``: operations on tensors of strings.

>>> tf.strings.upper(tf.constant(["a", "b"])).numpy().tolist()
[b'A', b'B']
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.kit.rows import shaped
from wengert.compat.tensorflow.dtypes import numpy_dtype
from wengert.compat.tensorflow.eager import bytes_of, each, is_text, labels_of
from wengert.compat.tensorflow.errors import invalid
from wengert.compat.tensorflow.functions.values import axes_of, constant_of, numbers_of
from wengert.compat.tensorflow.words import public, refusal


def _mapping(path: str, function: Callable[[bytes], bytes], words: str) -> Any:
    def mapped(input, encoding="", name=None) -> Any:
        """Each string {words}.

        Examples
        --------
        >>> tf.strings.{name}(" Ab ").numpy()
        {example!r}
        """
        if encoding == "utf-8":
            return each(lambda s: getattr(s.decode(), path)().encode(), input)
        return each(function, input)

    return shaped(mapped, path, words=words, example=function(b" Ab "))


lower = _mapping("lower", bytes.lower, "in small letters")
upper = _mapping("upper", bytes.upper, "in capital letters")
strip = _mapping("strip", bytes.strip, "without space around it")


def length(input, unit="BYTE", name=None) -> Any:
    """Return the length of each string, in bytes or (``"UTF8_CHAR"``) characters.

    Examples
    --------
    >>> print(tf.strings.length(["a", "bcd"]).numpy())
    [1 3]
    """
    size = len if unit == "BYTE" else (lambda s: len(s.decode()))
    return constant_of(each(size, input, dtype=np.int32))


def join(inputs, separator="", name=None) -> Any:
    """Join the strings of several tensors elementwise.

    Examples
    --------
    >>> tf.strings.join([["a", "b"], "c"], separator="-").numpy().tolist()
    [b'a-c', b'b-c']
    """
    return each(lambda *parts: separator.encode().join(parts), *inputs)


def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None) -> Any:
    """Join the strings along dimensions.

    Examples
    --------
    >>> tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=1).numpy().tolist()
    [b'ab', b'cd']
    """
    array = bytes_of(inputs)
    axes = axes_of(axis, array.ndim, "ReduceJoin")
    kept = [d for d in range(array.ndim) if d not in axes]
    moved = np.transpose(array, (*kept, *axes))
    lead = moved.shape[: len(kept)]
    result = np.empty(lead, object)
    for place in np.ndindex(lead):
        result[place] = separator.encode().join(np.ravel(moved[place]).tolist())
    if keepdims:
        result = result.reshape([1 if d in axes else n for d, n in enumerate(array.shape)])
    return labels_of(result)


def split(input, sep=None, maxsplit=-1, name=None) -> Any:
    """Split a string into a vector, or several strings with equally many parts into rows.

    Raises
    ------
    ValueError: If the numbers of parts differ, because there are no ragged tensors here.

    Examples
    --------
    >>> tf.strings.split("one two").numpy().tolist()
    [b'one', b'two']
    """
    mark = None if sep in (None, "", b"") else bytes_of(sep)[()]
    return _rows(input, lambda s: s.split(mark, maxsplit))


def bytes_split(input, name=None) -> Any:
    """Split a string into bytes.

    Examples
    --------
    >>> tf.strings.bytes_split("ab").numpy().tolist()
    [b'a', b'b']
    """
    return _rows(input, lambda s: [s[i : i + 1] for i in range(len(s))])


def unicode_split(input, input_encoding: str, errors="replace", *args, name=None) -> Any:
    """Split a string into characters.

    Examples
    --------
    >>> tf.strings.unicode_split("aé", "UTF-8").numpy().tolist()
    [b'a', b'\\xc3\\xa9']
    """
    return _rows(input, lambda s: [c.encode() for c in s.decode(input_encoding, errors)])


def unicode_decode(input, input_encoding: str, errors="replace", *args, name=None) -> Any:
    """Return the code points of a string.

    Examples
    --------
    >>> print(tf.strings.unicode_decode("ab", "UTF-8").numpy())
    [97 98]
    """
    return _rows(input, lambda s: [ord(c) for c in s.decode(input_encoding, errors)], np.int32)


def _rows(input, function: Callable[[bytes], list[Any]], kind: Any = object) -> Any:
    array = bytes_of(input)
    rows = [function(s) for s in array.ravel()]
    if len({len(row) for row in rows}) > 1:
        raise refusal(ValueError, "the strings have")
    found = np.asarray(rows, kind).reshape(*array.shape, len(rows[0]) if rows else 0)
    return labels_of(found) if kind is object else constant_of(found)


def to_number(input, out_type="float32", name=None) -> Any:
    """Parse numbers from strings.

    Raises
    ------
    InvalidArgumentError: If a string is not a number.

    Examples
    --------
    >>> print(tf.strings.to_number(["1", "2.5"]).numpy())
    [1.  2.5]
    """
    kind = numpy_dtype(out_type)
    read = int if kind is not None and kind.kind == "i" else float
    try:
        return constant_of(
            each(read, input, dtype=np.float64 if read is float else np.int64).astype(kind)
        )
    except ValueError as error:
        raise invalid(f"StringToNumberOp could not correctly convert string: {error}") from None


def as_string(input, precision=-1, *args, name=None) -> Any:
    """Convert numbers to strings.

    Examples
    --------
    >>> tf.strings.as_string([1, 2]).numpy().tolist()
    [b'1', b'2']
    """
    array = numbers_of(input)
    digits = 6 if precision < 0 else precision
    found = np.empty(array.shape, object)
    for place in np.ndindex(array.shape):
        number = array[place]
        if array.dtype.kind == "b":
            found[place] = str(bool(number)).lower()
        else:
            found[place] = f"{number:.{digits}f}" if array.dtype.kind == "f" else str(number)
    return labels_of(found)


def substr(input, pos, len, unit="BYTE", name=None) -> Any:
    """Return a substring of each string.

    Examples
    --------
    >>> tf.strings.substr("abcdef", 1, 3).numpy()
    b'bcd'
    """
    start, size = int(numbers_of(pos)), int(numbers_of(len))
    if unit != "BYTE":
        return each(lambda s: s.decode()[start:][:size].encode(), input)
    return each(lambda s: s[start:][:size], input)


def regex_replace(input, pattern, rewrite, replace_global=True, name=None) -> Any:
    r"""Replace the matches of a pattern; ``\1`` stands for its first group.

    Examples
    --------
    >>> tf.strings.regex_replace("a1b22", "[0-9]+", "#").numpy()
    b'a#b#'
    """
    old, new = bytes_of(pattern)[()], bytes_of(rewrite)[()]
    return each(lambda s: re.sub(old, new, s, count=0 if replace_global else 1), input)


def regex_full_match(input, pattern, name=None) -> Any:
    """Return whether a pattern matches a whole string.

    Examples
    --------
    >>> print(tf.strings.regex_full_match(["ab", "b"], "a.*").numpy())
    [ True False]
    """
    expression = bytes_of(pattern)[()]
    whole = each(lambda s: re.fullmatch(expression, s) is not None, input, dtype=np.bool_)
    return constant_of(whole)


def format(template: str, inputs, placeholder="{}", summarize=3, name=None) -> Any:
    """Format values into the ``{}`` placeholders of a text.

    Examples
    --------
    >>> tf.strings.format("x = {}", tf.constant(2)).numpy()
    b'x = 2'
    """
    values = inputs if isinstance(inputs, list | tuple) else [inputs]
    text = template
    for value in values:
        shown = bytes_of(value)[()].decode() if is_text(value) else str(numbers_of(value))
        text = text.replace(placeholder, shown, 1)
    return labels_of(text)


__all__ = public(globals())
