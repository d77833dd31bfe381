"""Layer 7 · func: forward mode: `jvp` and `linearize`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.containers import flatten
from wengert.base.dtypes import is_differentiable
from wengert.func.inputs import Entered, tensors_like, tensors_of, tensors_only, with_aux
from wengert.func.reverse import pullback
from wengert.interp.dual import Dual
from wengert.interp.levels import Level
from wengert.ops.like import zeros_like
from wengert.tape.backward import run_grad
from wengert.tape.base import LEAF, TensorBase, alike, new_tensor
from wengert.tape.levels import brought, leads_outside, move
from wengert.tape.modes import current_mode, enable_grad, is_recording, set_fwd_grad_enabled
from wengert.tape.record import T
from wengert.tape.views import link


def joined(primal: Any, tangent: Any, level: Level) -> Any:
    """Return a dual tensor of a value and its tangent."""
    if is_recording() and (primal._edge is not None or tangent._edge is not None):
        parts = move("constant", primal, level), move("infinitesimal", tangent, level)
        return alike(T.add(*parts), primal)
    dual = new_tensor(Dual(primal._array(), tangent._payload, level), None, primal._share_version())
    link(primal, dual)
    return alike(dual, primal)


def _check_pair(primal: Any, tangent: Any, name: str) -> None:
    p, t = primal._payload, tangent._payload
    if not is_differentiable(p.dtype):
        raise RuntimeError(
            f"{name}: a primal must be of a floating or complex dtype, not {p.dtype}: it has no "
            "derivative; let the function use it from outside"
        )
    if not is_differentiable(t.dtype):
        raise ValueError(
            f"{name}: Expected tangent to be floating point or complex, but got: {tangent.dtype}"
        )
    if t.dtype.kind == "c" and p.dtype.kind != "c":
        raise ValueError(
            f"{name}: Expected tangent to be real, as its primal of {primal.dtype} is, but got: "
            f"{tangent.dtype}"
        )
    if tuple(p.shape) != tuple(t.shape):
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(p.shape)} while the given "
            f"forward gradient is of size {list(t.shape)}, in {name}."
        )


def jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """Compute the value of `func` and its directional derivative in one forward pass.

    Parameters
    ----------
    func : callable. Takes `primals`, and returns a tensor or a nested container of tensors.
    primals : tuple. The arguments of `func`: tensors, or nested containers of them.
    tangents : tuple. The direction: of the structure and shapes of `primals`.
    strict : bool. Whether an output that does not depend on the primals is an error; otherwise its
        derivative is zero.
    has_aux : bool. Whether `func` returns ``(output, aux)``.

    Returns
    -------
    output, jvp_out: What `func` returned, and its derivative, of the same structure.
    aux: With `has_aux`.

    Raises
    ------
    RuntimeError: If the tangents do not match the primals; for what `strict` refuses; and if `func`
        returns anything but tensors.
    ValueError: If a tangent is neither floating nor complex, or complex where its primal is not.

    Examples
    --------
    >>> x = wg.tensor([1.0, 2.0])
    >>> wg.func.jvp(lambda x: (x * x).sum(), (x,), (wg.tensor([1.0, 0.0]),))
    (tensor(5.), tensor(2.))
    """
    name = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{name}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    if not primals:
        raise RuntimeError(f"{name}: Expected primals to contain at least one Tensor.")
    parts = [tensors_of(primal, name, "primals") for primal in primals]
    flat = [tensor for tensors, _ in parts for tensor in tensors]
    said = f"{name}: Expected primals and tangents to have the same python structure"
    if not isinstance(tangents, tuple):
        raise RuntimeError(f"{said}: a tuple, but got {type(tangents).__name__}")
    directions = tensors_like(tangents, primals, said, name, "tangents")
    for primal, tangent in zip(flat, directions, strict=True):
        _check_pair(primal, tangent, name)
    with set_fwd_grad_enabled(True), Entered(function=func, arguments=primals) as level:
        pairs = iter(
            [joined(p, cast_tangent(t, p), level) for p, t in zip(flat, directions, strict=True)]
        )
        values = [rebuild([next(pairs) for _ in tensors]) for tensors, rebuild in parts]
        output, aux = with_aux(func(*values), has_aux, name)
        outputs, rebuild_output = tensors_only(output, name)
        for out in outputs:
            if strict and not _depends(out, level):
                raise RuntimeError(
                    f"{name}: The output of f is independent of the inputs. This is not allowed "
                    "with strict=True."
                )
        shared = [out._vc is not None for out in outputs]
        made = [move("primal_of", out, level) for out in outputs]
        for out, value, shares in zip(outputs, made, shared, strict=True):
            if shares:
                link(out, value)
        slopes = [move("tangent_of", out, level) for out in outputs]
        others, rebuild_aux = flatten(aux)
        others = [move("primal_of", o, level) if isinstance(o, TensorBase) else o for o in others]
    results = (rebuild_output(made), rebuild_output(slopes))
    return (*results, rebuild_aux(others)) if has_aux else results


def cast_tangent(tangent: Any, primal: Any) -> Any:
    """Return `tangent` in the dtype of its primal."""
    if tangent._payload.dtype == primal._payload.dtype:
        return tangent
    return T.to_copy(tangent, dtype=primal._payload.dtype)


def _depends(out: Any, level: Level) -> bool:
    payload = out._payload
    return isinstance(payload, Dual) and payload.owner is level and payload.tangent is not None


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Return the value of `func` and its derivative as a linear function of the direction.

    `func` is called once; each direction then costs about one backward pass, without running `func`
    again.

    Parameters
    ----------
    func : callable. Takes `primals`, and returns a tensor or a nested container of tensors.
    primals : Tensor or nested containers of them. Where to differentiate.

    Returns
    -------
    output: What `func` returned.
    jvp_fn : callable. Takes as many tangents as there are primals, of their shapes and dtypes, and
        returns the derivative of the output in this direction.

    Examples
    --------
    >>> output, push = wg.func.linearize(lambda x: x**3, wg.tensor([1.0, 2.0]))
    >>> push(wg.tensor([1.0, 1.0]))
    tensor([ 3., 12.])
    """
    output, pushed = linearized(func, primals, False)
    return output, pushed


def linearized(func: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool) -> list[Any]:
    """Return the results of `linearize`, and what else `func` returned if it `has_aux`."""
    (output, pull, *aux), inputs = pullback(func, primals, has_aux)
    outputs, rebuild = flatten(output)
    with enable_grad():
        # linear in the cotangents: the transpose is the derivative
        mode = current_mode()
        levels = () if mode is None else mode.levels
        zeros = [brought(zeros_like(out), levels) for out in outputs]
        unknown = [alike(new_tensor(zero._payload, LEAF), zero) for zero in zeros]
        grads, _ = flatten(pull(rebuild(unknown), create_graph=True))

    def pushed(*tangents: Any) -> Any:
        """Return the derivative in the direction of `tangents`."""
        name = "linearize(f, *primals)"
        said = f"{name}: Expected the tangents to have the structure of the primals"
        directions = tensors_like(tangents, primals, said, name, "tangents")
        for i, (grad, tangent) in enumerate(zip(grads, directions, strict=True)):
            for what in ("shape", "dtype"):
                have, wanted = getattr(tangent, what), getattr(grad, what)
                if have != wanted:
                    raise RuntimeError(
                        f"tangent:{i} with {what} {have} in flattened pytree doesn't match the "
                        f"{what} {wanted} of the corresponding primal."
                    )
        pairs = [(g, t) for g, t in zip(grads, directions, strict=True) if g._edge is not None]
        if not pairs:
            return rebuild([zeros_like(out) for out in outputs])
        ends, seeds = zip(*pairs, strict=True)
        graph = is_recording() and (
            any(t._edge is not None for t in seeds) or leads_outside(ends, [*unknown, *inputs])
        )
        found = run_grad(ends, unknown, seeds, True, graph)
        made = [
            zeros_like(o) if f is None else alike(f, o) for o, f in zip(outputs, found, strict=True)
        ]
        return rebuild(made)

    return [output, pushed, *aux]
