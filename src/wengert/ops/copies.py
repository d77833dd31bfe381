"""Layer 5 · ops: copies of views, and parts that do not share a history of writes.

The functions of each family treat the results of view functions in the same way, and are made in a
loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.export import export
from wengert.base.sections import named
from wengert.ops.arrange import diagonal
from wengert.ops.coerce import operand
from wengert.ops.expand import expand
from wengert.ops.out import into
from wengert.ops.permute import permute, t, transpose
from wengert.ops.shape import squeeze, unsqueeze, view
from wengert.ops.signatures import HandsOn
from wengert.ops.split import chunk, select, split, split_with_sizes, stretch, unbind
from wengert.ops.strided import as_strided, unfold, view_as_complex, view_as_real
from wengert.tape.base import new_tensor
from wengert.tape.record import T


def _copy_of(
    made: Callable[..., Any],
    name: str,
    example: str,
    result: str,
    history: str = "Differentiable, to any order.",
) -> Callable[..., Any]:
    """Return the function that copies the view that `made` returns."""

    def function(input: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Return the result of `{stem}` as a copy.

        Parameters
        ----------
        %(viewed)s

        Returns
        -------
        Tensor: It shares no memory with `input`. {history}

        %(raises_view)s

        Examples
        --------
        >>> {example}
        """
        copy = T.contiguous(made(operand(input, name), *args, **kwargs))
        return copy if out is None else into(out, copy, name)

    words = {"example": f"wg.{name}({example})\n{result}", "history": history}
    return _taking(made, named(function, name, stem=name.removesuffix("_copy"), **words), True)


def _copies_of(
    made: Callable[..., Any], name: str, example: str, result: str
) -> Callable[..., Any]:
    """Return the function that copies the parts that `made` returns."""

    def function(input: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Return the parts of `{stem}` as copies.

        Parameters
        ----------
        %(viewed)s
        out : sequence of Tensor, optional
            Where to write the parts, one tensor for each; then nothing is returned.

        Returns
        -------
        tuple of Tensor: They share no memory with `input`. Differentiable.

        %(raises_view)s

        Examples
        --------
        >>> {example}
        """
        copies = [T.contiguous(part) for part in made(operand(input, name), *args, **kwargs)]
        if out is None:
            return tuple(copies)
        if len(out) != len(copies):
            raise RuntimeError(
                f"{name}() expected an out= argument of size {len(copies)}, got size {len(out)}"
            )
        for target, copy in zip(out, copies, strict=True):
            into(target, copy, name)
        return None

    words = {"example": f"wg.{name}({example})\n{result}"}
    return _taking(made, named(function, name, stem=name.removesuffix("_copy"), **words), True)


def _copying(made: Callable[..., Any], name: str, example: str, result: str) -> Callable[..., Any]:
    """Return the function that returns the results of `made`, each of which may be written to."""

    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the parts that `{stem}` gives, each of which may be written to.

        In PyTorch the parts share the memory of `input`; here they are copies.

        Parameters
        ----------
        %(viewed)s

        Returns
        -------
        tuple of Tensor: Differentiable, to any order.

        %(raises_view)s

        Examples
        --------
        >>> {example}
        """
        parts = made(operand(input, name), *args, **kwargs)
        return tuple([T.contiguous(part) for part in parts])

    words = {"example": f"wg.{name}({example})\n{result}"}
    return _taking(made, named(function, name, stem=name.removeprefix("unsafe_"), **words), False)


def _taking(made: Callable[..., Any], function: Callable[..., Any], out: bool) -> Any:
    """Give a function the signature of the one that it hands its arguments on to."""
    takes = HandsOn(made, first="input", out=out)
    function.__signature__ = takes.__signature__  # type: ignore[attr-defined]
    return function


def _slice(
    input: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Any:
    return T.slice(input, **stretch(input._payload.shape, dim, start, end, step, "slice_copy"))


def _expand(input: Any, size: Any, *, implicit: bool = False) -> Any:
    return expand(input, size)


def _detach(input: Any) -> Any:
    return new_tensor(input._payload)


_SQUARE = "wg.tensor([[1, 2], [3, 4]])"
_PAIR = "(tensor([1, 2]), tensor([3, 4]))"

alias_copy = _copy_of(lambda input: input, "alias_copy", "wg.tensor([1, 2])", "tensor([1, 2])")
as_strided_copy = _copy_of(
    as_strided, "as_strided_copy", f"{_SQUARE}, (2,), (3,)", "tensor([1, 4])"
)
detach_copy = _copy_of(
    _detach,
    "detach_copy",
    "wg.tensor([1.0], requires_grad=True)",
    "tensor([1.])",
    history="Outside the graph.",
)
diagonal_copy = _copy_of(diagonal, "diagonal_copy", _SQUARE, "tensor([1, 4])")
expand_copy = _copy_of(_expand, "expand_copy", "wg.tensor([1]), (3,)", "tensor([1, 1, 1])")
permute_copy = _copy_of(
    permute, "permute_copy", f"{_SQUARE}, (1, 0)", "tensor([[1, 3],\n        [2, 4]])"
)
select_copy = _copy_of(select, "select_copy", f"{_SQUARE}, 1, 0", "tensor([1, 3])")
slice_copy = _copy_of(_slice, "slice_copy", "wg.tensor([1, 2, 3]), 0, 1", "tensor([2, 3])")
squeeze_copy = _copy_of(squeeze, "squeeze_copy", "wg.tensor([[1, 2]])", "tensor([1, 2])")
t_copy = _copy_of(t, "t_copy", _SQUARE, "tensor([[1, 3],\n        [2, 4]])")
transpose_copy = _copy_of(
    transpose, "transpose_copy", f"{_SQUARE}, 0, 1", "tensor([[1, 3],\n        [2, 4]])"
)
unfold_copy = _copy_of(
    unfold,
    "unfold_copy",
    "wg.tensor([1, 2, 3]), 0, 2, 1",
    "tensor([[1, 2],\n        [2, 3]])",
)
unsqueeze_copy = _copy_of(unsqueeze, "unsqueeze_copy", "wg.tensor([1, 2]), 0", "tensor([[1, 2]])")
view_as_complex_copy = _copy_of(
    view_as_complex, "view_as_complex_copy", "wg.tensor([[1.0, 2.0]])", "tensor([1.+2.j])"
)
view_as_real_copy = _copy_of(
    view_as_real, "view_as_real_copy", "wg.tensor([1 + 2j])", "tensor([[1., 2.]])"
)
view_copy = _copy_of(view, "view_copy", f"{_SQUARE}, (4,)", "tensor([1, 2, 3, 4])")

split_copy = _copies_of(split, "split_copy", "wg.tensor([1, 2, 3, 4]), 2", _PAIR)
split_with_sizes_copy = _copies_of(
    split_with_sizes, "split_with_sizes_copy", "wg.tensor([1, 2, 3, 4]), [2, 2]", _PAIR
)
unbind_copy = _copies_of(unbind, "unbind_copy", _SQUARE, _PAIR)

unsafe_chunk = _copying(chunk, "unsafe_chunk", "wg.tensor([1, 2, 3, 4]), 2", _PAIR)
unsafe_split = _copying(split, "unsafe_split", "wg.tensor([1, 2, 3, 4]), 2", _PAIR)
unsafe_split_with_sizes = _copying(
    split_with_sizes, "unsafe_split_with_sizes", "wg.tensor([1, 2, 3, 4]), [2, 2]", _PAIR
)
export("wengert")(
    alias_copy,
    as_strided_copy,
    detach_copy,
    diagonal_copy,
    expand_copy,
    permute_copy,
    select_copy,
    slice_copy,
    squeeze_copy,
    t_copy,
    transpose_copy,
    unfold_copy,
    unsqueeze_copy,
    view_as_complex_copy,
    view_as_real_copy,
    view_copy,
    split_copy,
    split_with_sizes_copy,
    unbind_copy,
)
export("wengert", "Tensor")(unsafe_chunk, unsafe_split, unsafe_split_with_sizes)
