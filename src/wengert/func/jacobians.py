"""Layer 7 · func: full and partial Jacobians and Hessians."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Literal, ParamSpec, overload

import numpy as np

from wengert.base.containers import flatten
from wengert.func.batch import vmap
from wengert.func.forward import jvp
from wengert.func.inputs import Transformed, chosen, replaced, tensors_of, with_aux
from wengert.func.reverse import grad, vjp
from wengert.ops.options import fixed, sent_to
from wengert.ops.permute import movedim
from wengert.tape.base import TensorBase
from wengert.tape.record import T
from wengert.types import Tensor

P = ParamSpec("P")


def units_of(tensors: Sequence[Any]) -> list[Any]:
    """Return, for each tensor, the unit vectors of the joint space: one row per element of any."""
    total = sum(tensor._payload.size for tensor in tensors)
    units, start = [], 0
    for tensor in tensors:
        count = tensor._payload.size
        rows = np.zeros((total, count), tensor._payload.dtype)
        rows[start : start + count] = np.eye(count, dtype=rows.dtype)
        units.append(fixed(sent_to(tensor, rows.reshape(total, *tensor._payload.shape))))
        start += count
    return units


def _rows(tensor: Any, like: list[Any], by_output: bool) -> list[Any]:
    """Split a batch over the elements of all tensors of `like` into the blocks of a Jacobian."""
    blocks, start = [], 0
    for other in like:
        count = other._payload.size
        part = T.slice(tensor, dim=0, start=start, end=start + count, step=1)
        shape = tuple(tensor._payload.shape[1:])
        block = T.unsafe_view(part, shape=(*other._payload.shape, *shape))
        if not by_output:
            ndim = other._payload.ndim
            block = movedim(block, tuple(range(ndim)), tuple(range(len(shape), len(shape) + ndim)))
        blocks.append(block)
        start += count
    return blocks


def _check_real(function: str, **tensors: Any) -> None:
    for what, values in tensors.items():
        for i, tensor in enumerate(values):
            if tensor._payload.dtype.kind == "c":
                raise RuntimeError(
                    f"{function}: Expected all {what} to be real but received complex tensor at "
                    f"flattened input idx: {i}. Differentiate view_as_real() of it"
                )


def by_rows(
    func: Callable[..., Any],
    argnums: Any,
    has_aux: bool,
    chunk_size: Any = None,
    real: bool = False,
) -> Callable[..., Any]:
    """Return the function that `jacrev` makes; without `real`, complex numbers are holomorphic."""

    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        numbers, several = chosen(args, argnums)

        def partial(*values: Any) -> Any:
            return func(*replaced(args, numbers, values), **kwargs)

        primals = [args[number] for number in numbers]
        output, pull, *aux = vjp(partial, *primals, has_aux=has_aux)
        outputs, rebuild = flatten(output)
        inputs, rebuild_inputs = tensors_of(tuple(primals), "jacrev", "inputs")
        if real:
            _check_real("jacrev", inputs=inputs, outputs=outputs)

        def row(*cotangents: Any) -> Any:
            grads = pull(rebuild(list(cotangents)))
            return tuple(flatten(grads)[0])

        units = units_of(outputs)
        grads = vmap(row, chunk_size=chunk_size)(*units)
        by_input = [_rows(grad, outputs, True) for grad in grads]
        made = []
        for i in range(len(outputs)):
            blocks = rebuild_inputs([column[i] for column in by_input])
            made.append(blocks if several else blocks[0])
        result = rebuild(made)
        return (result, *aux) if has_aux else result

    return jacobian_of


def by_columns(
    func: Callable[..., Any],
    argnums: Any,
    has_aux: bool,
    randomness: str = "error",
    real: bool = False,
) -> Callable[..., Any]:
    """Return the function that `jacfwd` makes; without `real`, complex numbers are holomorphic."""

    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        numbers, several = chosen(args, argnums)
        primals = tuple(args[number] for number in numbers)
        inputs, rebuild_inputs = tensors_of(primals, "jacfwd", "inputs")
        if real:
            _check_real("jacfwd", inputs=inputs)
        kept: list[Any] = []

        def partial(*values: Any) -> Any:
            whole = rebuild_inputs(list(values))
            output, aux = with_aux(
                func(*replaced(args, numbers, whole), **kwargs), has_aux, "jacfwd"
            )
            leaves, rebuild = flatten(output)
            others, rebuild_aux = flatten(aux)
            kept[:] = [rebuild, rebuild_aux, others]
            return tuple(leaves), tuple(leaf for leaf in others if isinstance(leaf, TensorBase))

        def column(*directions: Any) -> Any:
            _, slopes, others = jvp(partial, tuple(inputs), directions, has_aux=True)
            return slopes, others

        if sum(tensor._payload.size for tensor in inputs) == 1:
            # one direction needs no batch, so the function may branch on values
            parts = column(*[T.select(unit, dim=0, index=0) for unit in units_of(inputs)])
            slopes, others = ([T.unsqueeze(p, dim=0) for p in part] for part in parts)
        else:
            slopes, others = vmap(column, randomness=randomness)(*units_of(inputs))
        rebuild, rebuild_aux, given = kept
        if real:
            _check_real("jacfwd", outputs=slopes)
        made = []
        for slope in slopes:
            blocks = rebuild_inputs(_rows(slope, inputs, False))
            made.append(blocks if several else blocks[0])
        result = rebuild(made)
        if not has_aux:
            return result
        # it is the same for each direction
        first = (T.select(other, dim=0, index=0) for other in others)
        aux = [next(first) if isinstance(leaf, TensorBase) else leaf for leaf in given]
        return result, rebuild_aux(aux)

    return jacobian_of


@overload
def jacrev(
    func: Callable[Concatenate[Tensor, P], Tensor],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[False] = False,
    chunk_size: int | None = None,
) -> Callable[Concatenate[Tensor, P], Tensor]: ...
@overload
def jacrev(
    func: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]: ...
def jacrev(
    func: Callable[..., Any],
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `func` by rows, in reverse mode.

    It calls `func` once, and runs one backward pass for all elements of its output together.

    Parameters
    ----------
    func : callable. Returns a tensor or a nested container of tensors; with `has_aux`
        ``(output, aux)``.
    argnums : int or tuple of int. The positions of the arguments to differentiate with respect to;
        each may be a nested container.
    has_aux : bool. Whether `func` also returns auxiliary data.
    chunk_size : int, optional. The number of rows to compute at once; all by default.

    Returns
    -------
    callable: Returns, in the structure of the output, the Jacobians of each output tensor, in the
        structure of the arguments; the shape of each is the output's followed by the argument's.

    Raises
    ------
    RuntimeError: If `argnums` names no argument, if `func` returns anything but tensors, and for
        complex inputs or outputs: pass `view_as_real` of them.

    Examples
    --------
    >>> wg.func.jacrev(lambda x: x * x)(wg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")
    return Transformed(
        by_rows(func, argnums, has_aux, chunk_size, real=True),
        jacrev,
        func,
        {"argnums": argnums, "has_aux": has_aux, "chunk_size": chunk_size},
    )


@overload
def jacfwd(
    func: Callable[Concatenate[Tensor, P], Tensor],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    *,
    randomness: str = "error",
) -> Callable[Concatenate[Tensor, P], Tensor]: ...
@overload
def jacfwd(
    func: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]: ...
def jacfwd(
    func: Callable[..., Any],
    argnums: Any = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `func` by columns, in forward mode.

    It calls `func` once, on a batch of directions.

    Parameters
    ----------
    func, argnums, has_aux: As in `jacrev`.
    randomness : {"error", "different", "same"}. As in `vmap`.

    Returns
    -------
    callable: Returns the same as the function that `jacrev` returns.

    Raises
    ------
    RuntimeError: As in `jacrev`.

    Examples
    --------
    >>> wg.func.jacfwd(lambda x: x * x)(wg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    return Transformed(
        by_columns(func, argnums, has_aux, randomness, real=True),
        jacfwd,
        func,
        {"argnums": argnums, "has_aux": has_aux, "randomness": randomness},
    )


@overload
def hessian(
    func: Callable[Concatenate[Tensor, P], Tensor], argnums: Literal[0] = 0
) -> Callable[Concatenate[Tensor, P], Tensor]: ...
@overload
def hessian(func: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]: ...
def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """Return a function that computes the Hessian of `func`: forward mode over reverse mode.

    Parameters
    ----------
    func : callable. Returns a tensor, whose second derivatives are computed.
    argnums : int or tuple of int. The positions of the arguments to differentiate with respect to.

    Returns
    -------
    callable: Returns the Jacobian of the Jacobian; for a tuple of arguments, tuples of tuples.

    Examples
    --------
    >>> wg.func.hessian(lambda x: (x**3).sum())(wg.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return Transformed(jacfwd(jacrev(func, argnums), argnums), hessian, func, {"argnums": argnums})


@overload
def jacobian(
    func: Callable[Concatenate[Tensor, P], Tensor],
    argnums: Literal[0] = 0,
    *,
    mode: str = "auto",
    has_aux: Literal[False] = False,
    chunk_size: int | None = None,
) -> Callable[Concatenate[Tensor, P], Tensor]: ...
@overload
def jacobian(
    func: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    *,
    mode: str = "auto",
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]: ...
def jacobian(
    func: Callable[..., Any],
    argnums: Any = 0,
    *,
    mode: str = "auto",
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `func` in the cheaper mode.

    Parameters
    ----------
    func, argnums, has_aux, chunk_size: As in `jacrev`.
    mode : {"auto", "reverse", "forward"}. By rows, by columns, or by whichever are fewer (rows if
        equal).

    Returns
    -------
    callable: Returns the same as the function that `jacrev` returns.

    Raises
    ------
    ValueError: If `mode` is none of these.

    Examples
    --------
    >>> wg.func.jacobian(lambda x: wg.stack([x.sin(), x.cos(), x]))(wg.tensor(0.0))
    tensor([1., -0., 1.])
    """
    if mode not in ("auto", "reverse", "forward"):
        raise ValueError(f"mode must be 'auto', 'reverse' or 'forward', but got {mode!r}")
    rows = jacrev(func, argnums, has_aux=has_aux, chunk_size=chunk_size)
    columns = jacfwd(func, argnums, has_aux)

    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        if mode != "auto":
            return (rows if mode == "reverse" else columns)(*args, **kwargs)
        numbers, _ = chosen(args, argnums)
        inputs, _ = tensors_of(tuple(args[n] for n in numbers), "jacobian", "inputs")
        width = sum(tensor._payload.size for tensor in inputs)
        output, _ = with_aux(func(*args, **kwargs), has_aux, "jacobian")
        height = sum(out._payload.size for out in flatten(output)[0])
        return (rows if height <= width else columns)(*args, **kwargs)

    return Transformed(
        jacobian_of,
        jacobian,
        func,
        {"argnums": argnums, "mode": mode, "has_aux": has_aux, "chunk_size": chunk_size},
    )


def hvp(
    func: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Return the gradient of `func` and the product of its Hessian with a vector.

    Forward mode over reverse mode: the cost does not grow with the number of inputs.

    Parameters
    ----------
    func : callable. Returns a tensor without dimensions.
    primals : tuple. Its arguments.
    tangents : tuple. The vector, of their structure.

    Returns
    -------
    gradient, product : tuple. Of the structure of `primals`.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0])
    >>> wg.func.hvp(lambda x: (x**3).sum(), (x,), (wg.ones(2),))
    ((tensor([ 3., 12.]),), (tensor([ 6., 12.]),))
    """
    every = tuple(range(len(primals)))
    gradient, product = jvp(grad(func, argnums=every), primals, tangents)
    return gradient, product


def _second(func: Callable[..., Any], x: Any, name: str) -> Any:
    """Return the second derivatives of `func` along each axis."""
    (tensor,), _ = tensors_of(x, name, "inputs")

    def along(direction: Any) -> Any:
        def slope(y: Any) -> Any:
            return jvp(func, (y,), (direction,))[1]

        return jvp(slope, (tensor,), (direction,))[1]

    (units,) = units_of([tensor])
    return tensor, vmap(along)(units)


def hessian_diag(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes the diagonal of the Hessian of `func` in forward mode.

    Parameters
    ----------
    func : callable. Takes one tensor and returns a tensor.

    Returns
    -------
    callable: Returns the second derivative with respect to each element of the argument; its shape
        is the output's followed by the argument's.

    Examples
    --------
    >>> wg.func.hessian_diag(lambda x: (x**3).sum())(wg.tensor([1.0, 2.0]))
    tensor([ 6., 12.])
    """

    def diagonal(x: Any) -> Any:
        tensor, seconds = _second(func, x, "hessian_diag")
        (made,) = _rows(seconds, [tensor], False)
        return made

    return Transformed(diagonal, hessian_diag, func, {})


def laplacian(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes the Laplacian of `func`: the sum of its second derivatives.

    Parameters
    ----------
    func : callable. Takes one tensor and returns a tensor.

    Returns
    -------
    callable: Returns a tensor of the shape of the output.

    Examples
    --------
    >>> wg.func.laplacian(lambda x: (x**2).sum())(wg.ones(3))
    tensor(6.)
    """

    def total(x: Any) -> Any:
        _, seconds = _second(func, x, "laplacian")
        return T.sum_dim(seconds, dim=(0,), keepdim=False)

    return Transformed(total, laplacian, func, {})
