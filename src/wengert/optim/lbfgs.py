"""Layer 9 · optim: `LBFGS`, a quasi-Newton method with limited memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.ops.create import zeros
from wengert.ops.join import cat
from wengert.ops.strided import view_as_real
from wengert.optim.line_search import Point, cubic_between, strong_wolfe
from wengert.optim.optimizer import Optimizer, ParamsT, arguments, check_rate
from wengert.optim.parameters import options_of, with_gradients
from wengert.tape.modes import no_grad
from wengert.types import Tensor

__all__ = ["LBFGS"]

_CACHED = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")


class LBFGS(Optimizer):
    """The limited-memory BFGS method (Liu and Nocedal 1989).

    One step runs several iterations, and calls the closure at each point that it tries. Only one
    group of parameters is allowed.

    Parameters
    ----------
    params : iterable. Tensors or named tensors.
    lr : float or Tensor. The initial step length.
    max_iter : int. The maximum number of iterations per step.
    max_eval : int, optional. The maximum number of closure calls per step; default:
        ``max_iter * 5 // 4``.
    tolerance_grad : float. Stop when no element of the gradient is larger.
    tolerance_change : float. Stop when neither the parameters nor the loss change by more.
    history_size : int. The number of iterations to remember.
    line_search_fn : {None, "strong_wolfe"}. The line search.

    Raises
    ------
    ValueError: If `lr` is negative, or there are several groups.

    Examples
    --------
    >>> x = wg.tensor([-1.2, 1.0], requires_grad=True)
    >>> optimizer = wg.optim.LBFGS([x], max_iter=100, line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure)
    tensor(24.2000, grad_fn=<AddBackward0>)
    >>> bool(((x - 1).abs() < 1e-3).all())
    True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        defaults = arguments(locals())
        check_rate(lr)
        super().__init__(params, defaults)
        self._group()

    def _group(self) -> dict[str, Any]:
        """Return the only group; refuse further ones, whose parameters no step would move."""
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        return self.param_groups[0]

    # -- all parameters as one vector --------------------------------------------------------------

    @property
    def _params(self) -> list[Any]:
        return self._group()["params"]

    def _gradient(self) -> Any:
        """Return the gradients of all parameters as one vector, with zeros for missing ones."""
        with_gradients(self._params)
        parts = []
        for param in self._params:
            grad = zeros(param.shape, dtype=param.dtype) if param.grad is None else param.grad
            grad = grad.to_dense()
            grad = view_as_real(grad) if grad.is_complex() else grad
            parts.append(grad.detach().reshape(-1))
        return cat(parts, 0)

    def _move(self, t: Any, direction: Any) -> None:
        start = 0
        for param in self._params:
            target = view_as_real(param) if param.is_complex() else param
            stop = start + target.numel()
            target.add_(direction[start:stop].reshape(target.shape), alpha=t)
            start = stop

    # -- steps -------------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]  # here it must be
        """Update the parameters in several iterations.

        Parameters
        ----------
        closure : callable. Recomputes the loss and its gradients, and returns the loss.

        Returns
        -------
        Tensor or float: What `closure` returned first.

        Raises
        ------
        RuntimeError: If the line search is unknown.
        """
        group = self._group()
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError(
                f"only 'strong_wolfe' is supported as line_search_fn, not "
                f"{group['line_search_fn']!r}"
            )

        with no_grad():
            return self._iterate(lambda: self._loss(closure))

    def _iterate(self, evaluate: Callable[[], Any]) -> Any:
        group = self._group()
        lr = options_of(group, True)["lr"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = evaluate()
        loss, grad = float(first), self._gradient()
        state["func_evals"] += 1
        evaluations = 1
        if float(grad.abs().max()) <= group["tolerance_grad"]:
            return first
        memory = {name: state.get(name) for name in _CACHED}
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(grad, memory, state)
            memory["d"], memory["prev_flat_grad"], memory["prev_loss"] = direction, grad, loss
            t = lr
            if state["n_iter"] == 1:
                total = float(grad.abs().sum())
                t = min(1.0, 1.0 / total if total else 1.0) * lr
            memory["t"] = t
            slope = float(grad.dot(direction))
            if slope > -group["tolerance_change"]:
                break
            count = 0
            if group["line_search_fn"] is not None:
                start = Point(0, loss, grad, slope)
                most = group["max_eval"] - evaluations
                found, count = self._search(evaluate, direction, start, t, most)
                t, loss, grad = found.t, found.value, found.grad
                memory["t"] = t
                self._move(t, direction)
            else:
                self._move(t, direction)
                if iteration != group["max_iter"]:
                    # the next step computes the gradient at the last point, since it may
                    # have other data
                    loss, grad = float(evaluate()), self._gradient()
                    count = 1
            evaluations += count
            state["func_evals"] += count
            if (
                evaluations >= group["max_eval"]
                or float(grad.abs().max()) <= group["tolerance_grad"]
                or float((direction * t).abs().max()) <= group["tolerance_change"]
                or abs(loss - memory["prev_loss"]) < group["tolerance_change"]
            ):
                break
        state.update(memory)
        return first

    def _direction(self, grad: Any, memory: dict[str, Any], state: dict[str, Any]) -> Any:
        """Return the search direction: minus the inverse Hessian estimate times the gradient."""
        if state["n_iter"] == 1:
            memory.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return -grad
        changes, steps, inverses = memory["old_dirs"], memory["old_stps"], memory["ro"]
        size = self._group()["history_size"]
        change, step = grad - memory["prev_flat_grad"], memory["d"] * memory["t"]
        product = change.dot(step)
        if product > 1e-10:
            if len(changes) == size:
                for kept in (changes, steps, inverses):
                    kept.pop(0)
            changes.append(change)
            steps.append(step)
            inverses.append(1.0 / product)
            memory["H_diag"] = product / change.dot(change)
        weights = state.setdefault("al", [None] * size)
        made = -grad
        for i in reversed(range(len(changes))):
            weights[i] = steps[i].dot(made) * inverses[i]
            made.sub_(weights[i] * changes[i])
        made.mul_(memory["H_diag"])
        for i in range(len(changes)):
            made.add_((weights[i] - changes[i].dot(made) * inverses[i]) * steps[i])
        return made

    def _search(
        self, evaluate: Callable[[], Any], direction: Any, start: Point, t: Any, most: int
    ) -> tuple[Point, int]:
        """Return the point that a line search finds, leaving the parameters unchanged."""
        before = [param.clone() for param in self._params]

        def at(t: Any) -> Point:
            self._move(t, direction)
            try:
                value, grad = float(evaluate()), self._gradient()
            finally:
                for param, kept in zip(self._params, before, strict=True):
                    param.copy_(kept)
            return Point(t, value, grad, float(grad.dot(direction)))

        reach = float(direction.abs().max())
        return strong_wolfe(at, start, t, reach, most=most)


def _strong_wolfe(
    obj_func: Any,
    x: Any,
    t: Any,
    d: Any,
    f: Any,
    g: Any,
    gtd: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[Any, Any, Any, int]:
    """Run the line search, under PyTorch's name; ``obj_func(x, t, d)`` gives value and gradient.

    Returns the value, the gradient and the step length at the chosen point, and the number of
    evaluations.
    """

    def at(length: Any) -> Point:
        value, gradient = obj_func(x, length, d)
        return Point(length, value, gradient, gradient.dot(d))

    start = Point(0, f, g, gtd)
    reach = d.abs().max()
    best, count = strong_wolfe(at, start, t, reach, c1, c2, tolerance_change, max_ls)
    return best.value, best.grad, best.t, count


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: tuple[Any, Any] | None = None
) -> Any:
    """Return the minimum of the cubic of two points, values and slopes, under PyTorch's name."""
    return cubic_between(Point(x1, f1, None, g1), Point(x2, f2, None, g2), bounds)
