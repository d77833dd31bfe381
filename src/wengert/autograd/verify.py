"""Layer 7 · autograd: a run of `gradcheck`: its comparisons and messages."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wengert.autograd.numeric import Evaluator, along, as_tuple, columns, evaluator, one_sided
from wengert.autograd.projected import bisect, differs, signs, times
from wengert.autograd.undefined import undefined_gradients
from wengert.base.device import CPU
from wengert.base.dtypes import is_differentiable
from wengert.interp.levels import device_of
from wengert.tape.backward import run_grad
from wengert.tape.base import SparseValue, TensorBase, new_tensor
from wengert.tape.record import T
from wengert.tape.sites import warn

# Jacobians of up to this many entries are compared in full when a projection differs
_SMALL = 10_000
# if inputs and outputs have more elements than this, projections are compared first
_MANY = 500
_DOUBLE = ("float64", "complex128")


class GradcheckError(RuntimeError):
    """A derivative that `gradcheck` or `gradgradcheck` found wrong."""


def requires_grad(value: Any) -> bool:
    """Return whether `value` is a tensor that requires a gradient."""
    return isinstance(value, TensorBase) and value._edge is not None


def argument_names(func: Callable[..., Any], count: int) -> list[str | None]:
    """Return the names of the first `count` positional arguments, None where unknown."""
    try:
        parameters = inspect.signature(func).parameters.values()
    except (TypeError, ValueError):
        return [None] * count
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names: list[str | None] = [p.name for p in parameters if p.kind in kinds]
    return (names + [None] * count)[:count]


class _Part:
    """A real function among the outputs: a real output, or one part of a complex one."""

    def __init__(self, position: int, index: int, tensor: Any, unit: complex, name: str) -> None:
        self.position = position
        self.index = index
        self.tensor = tensor
        self.unit = unit
        self.name = name

    def of(self, value: Any) -> Any:
        """Return this part of an output's value, or of its derivative."""
        return value.imag if self.unit == 1j else value.real

    def cotangent(self, values: Any) -> Any:
        """Return the output's cotangent that weights this part with real `values`, as a tensor."""
        payload = self.tensor._payload
        return new_tensor((values * self.unit).reshape(payload.shape).astype(payload.dtype))


class Check:
    """One run of `gradcheck`."""

    def __init__(
        self,
        func: Callable[..., Any],
        inputs: tuple[Any, ...],
        eps: float,
        atol: float,
        rtol: float,
        nondet_tol: float,
        check_grad_dtypes: bool,
    ) -> None:
        self.func = func
        self.inputs = inputs
        self.eps = eps
        self.atol = atol
        self.rtol = rtol
        self.nondet_tol = nondet_tol
        self.check_grad_dtypes = check_grad_dtypes
        self.positions = _checked_inputs(inputs)
        self.watched = [inputs[i] for i in self.positions]
        self.rng = np.random.default_rng(0)
        self.evaluate = evaluator(func, inputs, eps)

    def run(self, fast: bool, undefined: bool) -> None:
        """Run all checks, and raise at the first failure."""
        outputs = as_tuple(self.func(*self.inputs))
        if outputs and not any(isinstance(out, TensorBase) for out in outputs):
            raise TypeError(
                "gradcheck expects `func` to return a tensor or a tuple of tensors, but it "
                f"returned {type(outputs[0]).__name__}"
            )
        evaluate = self.evaluate
        parts = parts_of(outputs)
        if not parts:
            self._expect_constant(evaluate, fast)
        elif fast:
            self._compare_projections(evaluate, parts)
        elif not self.is_large(parts) or self._differ_in_projections(evaluate, parts):
            self._compare_jacobians(evaluate, parts)
        self._expect_zero([out for out in outputs if requires_grad(out)])
        if undefined:
            self._expect_undefined_is_zero()

    # -- the analytical side --------------------------------------------------------------------

    def _pull(self, part: _Part, values: Any) -> list[Any]:
        """Return the flattened gradient of `part`, weighted by `values`, for each watched input."""
        grads = run_grad([part.tensor], self.watched, [part.cotangent(values)], True, False)
        pulled = []
        for k, (grad, tensor) in enumerate(zip(grads, self.watched, strict=True)):
            like = tensor._payload
            if grad is None:
                pulled.append(np.zeros(like.size, like.dtype))
                continue
            have = grad._payload
            if have.shape != like.shape:
                raise GradcheckError(
                    f"Analytical gradient has incorrect size: {list(have.shape)} for "
                    f"{self._argument(k)} of shape {list(like.shape)}"
                )
            if self.check_grad_dtypes and have.dtype != like.dtype:
                raise GradcheckError(
                    f"Gradient has dtype mismatch: {have.dtype} for {self._argument(k)} of dtype "
                    f"{like.dtype}"
                )
            pulled.append(np.asarray(have).reshape(-1))
        return pulled

    def _pull_twice(self, part: _Part, values: Any) -> list[Any]:
        """Return the result of `_pull`, after checking that a second run gives the same."""
        first, second = self._pull(part, values), self._pull(part, values)
        for k, (a, b) in enumerate(zip(first, second, strict=True)):
            if a.size and not np.array_equal(a, b, equal_nan=True):
                apart = np.abs(a - b).max()
                if not apart <= self.nondet_tol:
                    raise GradcheckError(
                        "Backward is not reentrant, i.e., running backward with same input and "
                        "grad_output multiple times gives different values, although analytical "
                        "gradient matches numerical gradient. The tolerance for nondeterminism "
                        f"was {self.nondet_tol}.\n"
                        f"  The gradient of output {part.position} with respect to "
                        f"{self._argument(k)} differs by {apart:.3g} between two runs."
                    )
        return first

    # -- all entries ------------------------------------------------------------------------------

    def _compare_jacobians(self, evaluate: Evaluator, parts: Sequence[_Part]) -> None:
        numerical = [columns(evaluate, tensor, self.eps) for tensor in self.watched]
        for part in parts:
            analytical = self._jacobian(part)
            for k, tensor in enumerate(self.watched):
                expected = one_number(part.of(numerical[k][part.index]), tensor)
                self._compare(part, k, analytical[k], expected)
            self._expect_linear(part)

    def _jacobian(self, part: _Part) -> list[Any]:
        """Return the analytical Jacobian of `part` by every watched input, a row per element."""
        size = part.tensor._payload.size
        result = [np.zeros((tensor._payload.size, size), _of(tensor)) for tensor in self.watched]
        for i in range(size):
            row = np.zeros(size)
            row[i] = 1
            for jacobian, column in zip(result, self._pull_twice(part, row), strict=True):
                jacobian[:, i] = column
        return result

    def _compare(self, part: _Part, k: int, analytical: Any, numerical: Any) -> None:
        apart = np.abs(analytical - numerical)
        with np.errstate(invalid="ignore"):
            excess = apart / (self.atol + self.rtol * np.abs(numerical))
        excess[np.isnan(excess) & (analytical != numerical)] = np.inf
        wrong = int((excess > 1).sum())
        if wrong:
            worst = np.unravel_index(int(excess.argmax()), excess.shape)
            message = self._mismatch(
                part, k, int(worst[0]), int(worst[1]), analytical[worst], numerical[worst]
            )
            raise GradcheckError(
                f"{message}\n  {wrong} of {excess.size} entries differ. The Jacobians, a row for "
                f"each element of the input:\nnumerical:{_shown(numerical)}\n"
                f"analytical:{_shown(analytical)}\n"
            )

    def _expect_linear(self, part: _Part) -> None:
        """Check that backward is linear, since unit vectors do not expose squaring or clamping."""
        a, b = 4 * self.rng.standard_normal((2, part.tensor._payload.size))
        b = -np.sign(a) * np.abs(b)  # the opposite sign: abs() is linear on each side of 0
        pulled = zip(*[self._pull(part, values) for values in (a, b, a + b)], strict=True)
        for k, (of_a, of_b, of_both) in enumerate(pulled):
            allowed = self.atol + self.rtol * (np.abs(of_a) + np.abs(of_b))
            if np.any(np.abs(of_both - of_a - of_b) > allowed):
                raise GradcheckError(
                    "backward not multiplied by grad_output: the gradient of output "
                    f"{part.position} by {self._argument(k)} is not linear in grad_output"
                )

    # -- projections ------------------------------------------------------------------------------

    def is_large(self, parts: Sequence[_Part]) -> bool:
        """Return whether projections come first (see NOTE [projections before entries])."""
        tensors = [*self.watched, *[part.tensor for part in parts]]
        if any(tensor._payload.dtype.name not in _DOUBLE for tensor in tensors):
            return False
        return sum(tensor._payload.size for tensor in tensors) > _MANY

    def _differ_in_projections(self, evaluate: Evaluator, parts: Sequence[_Part]) -> bool:
        for turn in range(times):
            weights = [signs(self.rng, part.tensor).real for part in parts]
            pull = self._pull if turn else self._pull_twice
            pulled = [pull(p, v) for p, v in zip(parts, weights, strict=True)]
            for k, tensor in enumerate(self.watched):
                u = signs(self.rng, tensor)
                pushed = along(evaluate, tensor, u.reshape(tensor._payload.shape), self.eps)
                for part, v, gradients in zip(parts, weights, pulled, strict=True):
                    terms = v * part.of(pushed[part.index])
                    numerical, found = float(terms.sum()), _real_dot(gradients[k], u)
                    if differs(found, numerical, np.abs(terms).sum(), self.atol):
                        self._localise(evaluate, part, k, u, v, 0.0, numerical)
                        return True
        for part in parts:
            self._expect_linear(part)
        return False

    def _compare_projections(self, evaluate: Evaluator, parts: Sequence[_Part]) -> None:
        directions = [self._direction(tensor) for tensor in self.watched]
        weights = [self._unit(part.tensor._payload.size) for part in parts]
        pulled = [self._pull_twice(p, v) for p, v in zip(parts, weights, strict=True)]
        for k, (tensor, u) in enumerate(zip(self.watched, directions, strict=True)):
            pushed = along(evaluate, tensor, u.reshape(tensor._payload.shape), self.eps)
            for part, v, gradients in zip(parts, weights, pulled, strict=True):
                numerical = float(v @ part.of(pushed[part.index]))
                analytical = _real_dot(gradients[k], u)
                apart = abs(analytical - numerical)
                if apart > self.atol + self.rtol * abs(numerical) or apart != apart:
                    self._localise(evaluate, part, k, u, v, apart, numerical)
        for part in parts:
            self._expect_linear(part)

    def _unit(self, size: int) -> Any:
        values = self.rng.standard_normal(size)
        return values / (np.linalg.norm(values) or 1)

    def _direction(self, tensor: Any) -> Any:
        size = tensor._payload.size
        values = self._unit(size)
        return values + 1j * self._unit(size) if tensor._payload.dtype.kind == "c" else values

    def _localise(
        self, evaluate: Evaluator, part: _Part, k: int, u: Any, v: Any, apart: float, number: float
    ) -> None:
        """Raise for the element that makes two projections differ, unless all elements are right.

        Errors in a projection add up more than they cancel, so its tolerance is that of one
        element; if it is exceeded, each element may still be within its own.
        """
        tensor, size = self.watched[k], part.tensor._payload.size
        if u.size * size <= _SMALL:
            expected = one_number(part.of(columns(evaluate, tensor, self.eps)[part.index]), tensor)
            self._compare(part, k, self._jacobian(part)[k], expected)
            return
        gradient = self._pull(part, v)[k]

        def by_input(chosen: Any) -> float:
            some = np.zeros_like(u)
            some[chosen] = u[chosen]
            pushed = along(evaluate, tensor, some.reshape(tensor._payload.shape), self.eps)
            return _real_dot(gradient, some) - float(v @ part.of(pushed[part.index]))

        row = bisect(by_input, u.size)
        unit = np.zeros_like(u)
        unit[row] = 1
        numerical = self._row(evaluate, part, tensor, unit)

        def by_output(chosen: Any) -> float:
            some = np.zeros_like(v)
            some[chosen] = v[chosen]
            return float(np.abs(self._pull(part, some)[k][row] - numerical @ some))

        column = bisect(by_output, size)
        one = np.zeros_like(v)
        one[column] = 1
        found = self._pull(part, one)[k][row]
        allowed = self.atol + self.rtol * abs(numerical[column])
        loose = self.atol * np.abs(u).sum() * np.abs(v).sum() + self.rtol * abs(number)
        if not abs(found - numerical[column]) <= allowed:
            message = self._mismatch(part, k, row, column, found, numerical[column])
            raise GradcheckError(f"{message}\n  Found by random projections.")
        if not apart <= loose:
            raise GradcheckError(
                f"{self._heading(part, k)}\n  a random projection of the Jacobian differs by "
                f"{apart:.6g}, though no single entry stands out; fast_mode=False compares all"
            )

    def _row(self, evaluate: Evaluator, part: _Part, tensor: Any, unit: Any) -> Any:
        """Return the numerical derivatives of all of `part` by one element of an input."""
        shape = tensor._payload.shape
        units = (1, 1j) if tensor._payload.dtype.kind == "c" else (1,)
        return sum(
            u * part.of(along(evaluate, tensor, (unit * u).reshape(shape), self.eps)[part.index])
            for u in units
        )

    # -- properties of every backward --------------------------------------------------------------

    def _expect_constant(self, evaluate: Evaluator, fast: bool) -> None:
        for k, tensor in enumerate(self.watched):
            if fast:
                direction = self._direction(tensor).reshape(tensor._payload.shape)
                found = along(evaluate, tensor, direction, self.eps)
            else:
                found = columns(evaluate, tensor, self.eps)
            for i, derivative in enumerate(found):
                if derivative is not None and np.any(derivative):
                    raise GradcheckError(
                        "Numerical gradient for function expected to be zero: no output requires "
                        f"a gradient, but output {i} depends on {self._argument(k)}. Did the "
                        "function leave the graph (detach(), numpy(), item(), no_grad)?"
                    )

    def _expect_zero(self, outputs: Sequence[Any]) -> None:
        """Check that zero cotangents give zero gradients."""
        if not outputs:
            return
        zeros = [new_tensor(np.zeros(out._payload.shape, out._payload.dtype)) for out in outputs]
        for k, grad in enumerate(run_grad(outputs, self.watched, zeros, True, False)):
            if grad is not None and np.any(np.asarray(grad._payload) != 0):
                raise GradcheckError(
                    f"backward not multiplied by grad_output: {self._argument(k)} gets a gradient "
                    "that is not zero when grad_output is"
                )

    def _expect_undefined_is_zero(self) -> None:
        """Check that an output without a cotangent counts as one with a zero cotangent."""

        def outputs() -> list[Any]:
            return [out for out in as_tuple(self.func(*self.inputs)) if requires_grad(out)]

        wrong = undefined_gradients(outputs, self.watched, self._argument, self.rtol, self.atol)
        if wrong is not None:
            warn(
                "Backwards compatibility: New undefined gradient support checking feature is "
                "enabled by default, but it may break existing callers of this function. If this "
                "is true for you, you can call this function with "
                '"check_undefined_grad=False" to disable the feature'
            )
            raise GradcheckError(wrong[0]) from wrong[1]

    # -- messages ---------------------------------------------------------------------------------

    def _argument(self, k: int) -> str:
        position = self.positions[k]
        name = argument_names(self.func, len(self.inputs))[position]
        return f"argument {position}" + ("" if name is None else f" ('{name}')")

    def _heading(self, part: _Part, k: int) -> str:
        prefix = f"While considering the {part.name} part of complex outputs only, "
        return (
            f"{prefix if part.name else ''}Jacobian mismatch for output {part.position} with "
            f"respect to input {k},"
        )

    def _slopes(self, part: _Part, k: int, row: int, column: int) -> str:
        """Describe the one-sided slopes at an element, to detect a kink."""
        tensor = self.watched[k]
        if tensor._payload.dtype.name not in _DOUBLE:
            return (
                f"\n  The input is {tensor._payload.dtype.name}, too coarse for steps of "
                f"{self.eps:g}: use float64, or a larger eps and larger tolerances."
            )
        if tensor._payload.dtype.kind == "c":
            return ""

        def slopes(step: float) -> tuple[float, float]:
            return one_sided(self.evaluate, tensor, row, part.index, column, part.of, step)

        below, above = slopes(self.eps)
        apart = abs(above - below)
        if apart > 10 * (self.atol + self.rtol * max(abs(below), abs(above))):
            nearer = slopes(self.eps / 4)
            # with a large second derivative, a quarter of the step gives a quarter of it
            if not 0.1 < abs(nearer[1] - nearer[0]) / apart < 0.5:
                return (
                    f"\n  The function is not differentiable there: left slope {below:.6g}, right "
                    f"slope {above:.6g}. Choose inputs that are further than eps from such places."
                )
        wider = sum(slopes(10 * self.eps)) / 2
        if abs(wider - (below + above) / 2) <= self.atol + self.rtol * abs(wider):
            return "\n  Ten times the step gives the same numerical value: the rule is wrong here."
        return (
            f"\n  Ten times the step gives {wider:.8g}: the numerical value is not to be relied "
            "on, so check eps, the dtype, or whether the function jumps there."
        )

    def _mismatch(
        self, part: _Part, k: int, row: int, column: int, found: Any, expected: Any
    ) -> str:
        of = _element(f"output {part.position}", column, part.tensor._payload.shape)
        by = _element(self._argument(k), row, self.watched[k]._payload.shape)
        apart = abs(found - expected)
        relative = apart / abs(expected) if expected else np.inf
        return (
            f"{self._heading(part, k)}\n"
            f"  the derivative of {of} with respect to {by} is\n"
            f"    analytical {found:.8g}\n"
            f"    numerical  {expected:.8g}\n"
            f"  difference {apart:.3g} (relative {relative:.3g}; allowed: atol {self.atol:g} + "
            f"rtol {self.rtol:g} * abs(numerical)){self._slopes(part, k, row, column)}"
        )


def _checked_inputs(inputs: Sequence[Any]) -> list[int]:
    """Return the positions of the inputs to check."""
    positions = []
    for i, value in enumerate(inputs):
        if not requires_grad(value):
            continue
        payload = value._payload
        if payload.dtype.name not in _DOUBLE:
            warn(
                f"Input #{i} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ",
            )
        # the strides of an empty array are meaningless
        if payload.size > 1 and 0 in [
            stride for stride, n in zip(payload.strides, payload.shape, strict=True) if n > 1
        ]:
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs "
                "that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )
        positions.append(i)
    if not positions:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )
    return positions


def on_cpu(func: Callable[..., Any], inputs: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return `func` and its inputs with those on other devices on the CPU: it sends them there."""
    inputs = as_tuple(inputs)
    places = {
        i: device_of(x._payload)
        for i, x in enumerate(inputs)
        if isinstance(x, TensorBase) and device_of(x._payload) != CPU
    }
    if not places:
        return func, inputs

    @functools.wraps(func)
    def function(*given: Any) -> Any:
        sent = (T.to_device(x, device=places[i]) if i in places else x for i, x in enumerate(given))
        outputs = as_tuple(func(*sent))
        return tuple(x.cpu() if hasattr(x, "cpu") else x for x in outputs)

    values = (
        x.detach().cpu().requires_grad_(x.requires_grad) if i in places else x
        for i, x in enumerate(inputs)
    )
    return function, tuple(values)


def of_values(func: Callable[..., Any], inputs: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return `func` and its inputs with the values of sparse tensors in their place."""
    inputs = as_tuple(inputs)
    sparse: dict[int, Any] = {i: x for i, x in enumerate(inputs) if isinstance(x, SparseValue)}
    if not sparse:
        return func, inputs

    def function(*given: Any) -> Any:
        built = (sparse[i]._with(x) if i in sparse else x for i, x in enumerate(given))
        outputs = as_tuple(func(*built))
        return tuple(getattr(x, "_values_", x) for x in outputs)

    values = (
        sparse[i]._values_.detach().requires_grad_(x.requires_grad) if i in sparse else x
        for i, x in enumerate(inputs)
    )
    return function, tuple(values)


def parts_of(outputs: Sequence[Any]) -> list[_Part]:
    """Return the real functions among `outputs` that depend on an input; imaginary parts first."""
    parts: list[_Part] = []
    position = 0
    for i, out in enumerate(outputs):
        if not requires_grad(out) or not is_differentiable(out._payload.dtype):
            continue
        if out._payload.dtype.kind == "c":
            parts.append(_Part(position, i, out, 1j, "imaginary"))
            parts.append(_Part(position, i, out, 1, "real"))
        else:
            parts.append(_Part(position, i, out, 1, ""))
        position += 1
    return parts


def _of(tensor: Any) -> Any:
    return np.complex128 if tensor._payload.dtype.kind == "c" else np.float64


def one_number(pairs: Any, tensor: Any) -> Any:
    """Combine derivatives with respect to ``x`` and ``y`` into the gradient of ``x + iy``."""
    return (
        pairs[..., 0] + 1j * pairs[..., 1] if tensor._payload.dtype.kind == "c" else pairs[..., 0]
    )


def _real_dot(gradient: Any, direction: Any) -> float:
    """Return the change along `direction` that `gradient` predicts."""
    return float(np.vdot(gradient, direction).real)


def _element(name: str, index: int, shape: tuple[int, ...]) -> str:
    if not shape:
        return name
    return f"{name}[{', '.join(str(int(i)) for i in np.unravel_index(index, shape))}]"


def _shown(matrix: Any) -> str:
    return np.array2string(matrix, precision=6, threshold=64, edgeitems=3, max_line_width=100)
