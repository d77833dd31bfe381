"""Layer 9 · compat: TensorFlow's control flow, which runs as Python, and its maps and scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.compat.kit.namespaces import defined
from wengert.compat.kit.rows import shaped
from wengert.compat.tensorflow import nest
from wengert.compat.tensorflow.conversion import convert_to_tensor, stop_gradient
from wengert.compat.tensorflow.errors import invalid
from wengert.compat.tensorflow.recording import BatchLift, lifts_now, within
from wengert.compat.tensorflow.tensor import made, same_dtype, tensor_of
from wengert.compat.tensorflow.words import refusal
from wengert.func.batch import vmap
from wengert.tape.modes import full_mode
from wengert.tape.record import T


def _check_functions(**given) -> None:
    for name, function in given.items():
        if not callable(function):
            raise TypeError(f"{name!r} must be callable.")


def cond(pred, true_fn=None, false_fn=None, name=None) -> Any:
    """Return the result of `true_fn` if `pred` is true, else of `false_fn`.

    Raises
    ------
    TypeError: If `true_fn` or `false_fn` is not callable.

    Examples
    --------
    >>> x = tf.constant(-2.0)
    >>> tf.cond(x > 0.0, lambda: x, lambda: -x)
    <tf.Tensor: shape=(), dtype=float32, numpy=2.0>
    """
    _check_functions(true_fn=true_fn, false_fn=false_fn)
    return true_fn() if bool(pred) else false_fn()


def case(
    pred_fn_pairs,
    default: Callable[[], Any] | None = None,
    exclusive=False,
    strict=False,
    name=None,
) -> Any:
    """Call the function paired with the first true predicate, or `default`.

    Raises
    ------
    InvalidArgumentError: If no predicate is true and there is no `default`; with `exclusive`, if
        several are true.

    Examples
    --------
    >>> tf.case([(tf.constant(False), lambda: 1)], default=lambda: 2)
    2
    """
    if not isinstance(pred_fn_pairs, list | tuple):
        raise TypeError("'pred_fn_pairs' must be a list or tuple of (predicate, function) pairs.")
    true = [fn for pred, fn in pred_fn_pairs if bool(pred)]
    if exclusive and len(true) > 1:
        raise refusal(invalid, "Expected at most", len(true))
    if true:
        return true[0]()
    if default is None:
        raise invalid("None of the conditions evaluated as True, and there is no default")
    return default()


def switch_case(
    branch_index, branch_fns, default: Callable[[], Any] | None = None, name=None
) -> Any:
    """Call function number `branch_index`; if there is none, `default` or the last one.

    Examples
    --------
    >>> tf.switch_case(tf.constant(1), [lambda: "zero", lambda: "one"])
    'one'
    """
    if isinstance(branch_fns, dict) or (branch_fns and isinstance(branch_fns[0], tuple)):
        branches = dict(branch_fns)
    else:
        branches = dict(enumerate(branch_fns))
    found = branches.get(int(branch_index))
    if found is None:
        found = branches[max(branches)] if default is None else default
    return found()


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars,
    shape_invariants=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    maximum_iterations=None,
    name=None,
) -> Any:
    """Call `body` on the loop variables while `cond` of them is true.

    Parameters
    ----------
    cond, body : callable. Functions of the loop variables; `body` returns their new values.
    loop_vars : list or tuple. Their initial values.
    back_prop : bool. Whether the result may be differentiated.
    maximum_iterations : optional. The maximum trip count.
    shape_invariants, parallel_iterations, swap_memory, name: Accepted, without effect.

    Returns
    -------
    list or tuple of Tensor: The final values of the loop variables.

    Examples
    --------
    >>> i, x = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (0, 1.0))
    >>> x
    <tf.Tensor: shape=(), dtype=float32, numpy=8.0>
    """
    _check_functions(cond=cond, body=body)
    count = len(loop_vars)
    limit = None if maximum_iterations is None else int(maximum_iterations)
    done = 0
    while (limit is None or done < limit) and bool(cond(*loop_vars)):
        result = body(*loop_vars)
        loop_vars = result if isinstance(result, list | tuple) else (result,)
        if len(loop_vars) != count:
            raise refusal(ValueError, "The two structures", count, len(loop_vars))
        done += 1
    keep = convert_to_tensor if back_prop else stop_gradient
    return nest.map_structure(keep, loop_vars)


# -- maps ------------------------------------------------------------------------------------------


def _rows(elems) -> tuple[list[Any], int]:
    """Return the elements of nested tensors along their first dimension."""
    flat = [convert_to_tensor(value) for value in nest.flatten(elems)]
    if not flat:
        raise ValueError("elems must contain at least one Tensor.")
    for value in flat:
        if not value.shape.rank:
            raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    count = flat[0].shape[0]
    for value in flat:
        if value.shape[0] != count:
            raise refusal(ValueError, "Shapes {} and", flat[0].shape, value.shape)
    return [nest.pack_sequence_as(elems, [value[i] for value in flat]) for i in range(count)], count


def _stacked(values: list[Any]) -> Any:
    """Stack structures of tensors into one structure."""
    columns = zip(*[nest.flatten(value) for value in values], strict=True)
    packed = [made(T.stack(*same_dtype("TensorListStack", *column), dim=0)) for column in columns]
    return nest.pack_sequence_as(values[0], packed)


def _kept(result, back_prop: bool) -> Any:
    return result if back_prop else nest.map_structure(stop_gradient, result)


def map_fn(
    fn: Callable[[Any], Any],
    elems,
    dtype=None,
    parallel_iterations: int | None = None,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    name=None,
    fn_output_signature=None,
) -> Any:
    """Apply `fn` to each element along the first dimension, and stack the results.

    Parameters
    ----------
    fn : callable. A function of one element, which has the structure of `elems`.
    elems : Tensor or nested structure of tensors. The inputs, whose first dimensions are equal.
    back_prop : bool. Whether the result may be differentiated.
    dtype, fn_output_signature, parallel_iterations, swap_memory, infer_shape, name: Accepted,
        without effect.

    Examples
    --------
    >>> tf.map_fn(lambda x: x * x, tf.constant([1.0, 2.0]))
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 4.], dtype=float32)>
    """
    rows, count = _rows(elems)
    if not count:
        return nest.map_structure(convert_to_tensor, elems)
    return _kept(_stacked([fn(row) for row in rows]), back_prop)


def scan(
    fn: Callable[[Any, Any], Any],
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    reverse=False,
    name=None,
) -> Any:
    """Call ``fn(before, element)`` along the first dimension, and stack the results.

    Without an `initializer` the first element is the first result.

    Examples
    --------
    >>> tf.scan(lambda total, x: total + x, tf.constant([1.0, 2.0, 3.0]))
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([1., 3., 6.], dtype=float32)>
    """
    rows, _ = _rows(elems)
    states = _states(fn, rows[::-1] if reverse else rows, initializer)
    found = states[initializer is not None :]
    return _kept(_stacked(found[::-1] if reverse else found), back_prop)


def _states(fn: Callable[[Any, Any], Any], rows: list[Any], initializer) -> list[Any]:
    """Return the initial state, which is the first row if none is given, and those after rows."""
    given = initializer is not None
    states = [nest.map_structure(convert_to_tensor, initializer) if given else rows[0]]
    for row in rows if given else rows[1:]:
        states.append(fn(states[-1], row))
    return states


def _fold(path: str, order: int, words: str, example: str) -> Any:
    def fold(
        fn: Callable[[Any, Any], Any],
        elems,
        initializer=None,
        parallel_iterations=10,
        back_prop=True,
        swap_memory=False,
        name=None,
    ) -> Any:
        """Return the last result of ``fn(before, element)`` along the first dimension{words}.

        Examples
        --------
        >>> tf.{path}(lambda a, x: a - x, tf.constant([1.0, 2.0, 3.0]))
        <tf.Tensor: shape=(), dtype=float32, numpy={example}>
        """
        last = _states(fn, _rows(elems)[0][::order], initializer)[-1]
        return _kept(nest.map_structure(convert_to_tensor, last), back_prop)

    return shaped(fold, path, words=words, example=example)


foldl = _fold("foldl", 1, "", "-4.0")
foldr = _fold("foldr", -1, ", from the last element to the first", "0.0")


def vectorized_map(fn: Callable[[Any], Any], elems, fallback_to_while_loop=True, warn=True) -> Any:
    """Apply `fn` to all elements at once, as one batch; otherwise like `map_fn`.

    A tape inside `fn` computes the gradients of each element.

    Parameters
    ----------
    fn : callable. A function of one element, which has the structure of `elems`.
    elems : Tensor or nested structure of tensors. The inputs, whose first dimensions are equal.
    fallback_to_while_loop : bool. Whether to loop over the elements if control flow in `fn` depends
        on their values.
    warn: Accepted, without effect.

    Examples
    --------
    >>> tf.vectorized_map(lambda x: x * x, tf.constant([1.0, 2.0]))
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 4.], dtype=float32)>
    """
    flat = [convert_to_tensor(value) for value in nest.flatten(elems)]
    sizes = {value.shape[0] for value in flat if value.shape.rank}
    sizes.discard(1)
    if len(sizes) > 1 or not flat or any(not value.shape.rank for value in flat):
        raise refusal(ValueError, "All tensors in", [tuple(value.shape) for value in flat])
    whole = max(value.shape[0] for value in flat)
    structure: list[Any] = []

    def mapped(*parts) -> tuple[Any, ...]:
        with within(stack=(*lifts_now(), BatchLift(full_mode().levels[-1]))):
            one = [
                made(part) if value.shape[0] == whole else made(tensor_of(value))[0]
                for part, value in zip(parts, flat, strict=True)
            ]
            result = fn(nest.pack_sequence_as(elems, one))
            structure[:] = [result]
            return tuple(tensor_of(leaf) for leaf in nest.flatten(result))

    dims = tuple(0 if value.shape[0] == whole else None for value in flat)
    try:
        found = vmap(mapped, in_dims=dims, randomness="different")(
            *[tensor_of(value) for value in flat]
        )
    except RuntimeError:
        if not fallback_to_while_loop:
            raise
        repeated = [
            value
            if value.shape[0] == whole
            else made(tensor_of(np.repeat(value.numpy(), whole, 0)))
            for value in flat
        ]
        return map_fn(fn, nest.pack_sequence_as(elems, repeated))
    return nest.pack_sequence_as(structure[0], [made(value) for value in found])


__all__ = defined(globals())
