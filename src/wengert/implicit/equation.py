"""Layer 8 · implicit: an equation F(z, *params) = 0 at one of its solutions.

It computes with plain vectors: residuals, products with the Jacobian of F with respect to z, and
solutions of linear systems with it. The operations on the tape are in `wengert.implicit.functions`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wengert.autograd.elements import followed, refuse_lifted, without_tangent
from wengert.autograd.local import closed_over, leaf, products, rows
from wengert.base.containers import flatten
from wengert.base.dtypes import is_differentiable
from wengert.implicit.linear import LinearMap, solution
from wengert.implicit.vectors import Layout, precision
from wengert.kernels.spectral import LinAlgError
from wengert.tape.base import new_tensor
from wengert.tape.modes import enable_grad
from wengert.tensor.tensor import Tensor

DENSE_LIMIT = 500
"""The largest number of unknowns for which the default is a dense Jacobian."""


def tensors_of(value: Any, what: str) -> list[Any]:
    """Return the tensors in `value`, a result of the user's function.

    Raises
    ------
    TypeError: If it holds anything else.
    """
    leaves, _ = flatten(value)
    for item in leaves:
        if not isinstance(item, Tensor):
            raise TypeError(
                f"{what} must return a tensor, or lists, tuples or dicts of tensors, but returned "
                f"{type(item).__name__}: compute it with operations that are recorded"
            )
    return leaves


_AT_ONCE = 64
"""The number of rows of the Jacobian computed in one pass, each of which needs its own memory."""


class Equation:
    """F(z, *params) = 0 at one solution z.

    Parameters
    ----------
    function : callable. F: takes z in the structure of the solution, and the parameters.
    name : str. The name of F in errors.
    solution : list of array. The parts of z.
    rebuild : callable. Builds F's argument z from such tensors.
    leaves : list. The leaves of the parameters; the tensors among them may be differentiated.
    rebuild_parameters : callable. Builds the tuple of parameters from such leaves.
    solve: The linear solver, or None.
    large : str. The default linear solver for many unknowns.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        solution: list[Any],
        rebuild: Callable[[list[Any]], Any],
        leaves: list[Any],
        rebuild_parameters: Callable[[list[Any]], Any],
        solve: Any,
        large: str,
    ) -> None:
        self.function = function
        self.name = name
        self.solution = solution
        self._rebuild = rebuild
        self._leaves = leaves
        self._rebuild_parameters = rebuild_parameters
        self.unknowns = Layout(solution)
        self.places = [i for i, item in enumerate(leaves) if isinstance(item, Tensor)]
        self.parameters = [leaves[i] for i in self.places]
        self._given = solve
        self._large = large
        self.closures: list[Any] = []
        self._graph: Any = None
        self._pushed: Any = None
        self._matrix: Any = None

    # -- evaluation -------------------------------------------------------------------------------

    def residual(self, unknowns: list[Any], parameters: list[Any]) -> list[Any]:
        """Return the value of F for tensors in place of the solution and of the parameters."""
        leaves = list(self._leaves)
        for place, tensor in zip(self.places, parameters, strict=True):
            leaves[place] = tensor
        value = self.function(self._rebuild(unknowns), *self._rebuild_parameters(leaves))
        results = tensors_of(value, self.name)
        for result in results:
            if not is_differentiable(result._payload.dtype):
                raise TypeError(
                    f"{self.name} must return floating-point numbers, but returned {result.dtype}"
                )
        size = sum(r.numel() * (2 if r.is_complex() else 1) for r in results)
        if size != self.unknowns.size:
            raise ValueError(
                f"{self.name} must return as many numbers as there are unknowns. The solution has "
                f"{self.unknowns.size} ({_shapes(self.solution)}), the result has {size} "
                f"({_shapes([r._payload for r in results])})."
            )
        return results

    def linearise(self) -> list[Any]:
        """Record F at the solution, for first derivatives, and return the residuals."""
        if self._graph is None:
            with enable_grad():
                unknowns = [leaf(tensor) for tensor in self.start()]
                parameters = [leaf(without_tangent(t), followed(t)) for t in self.parameters]
                results = self.residual(unknowns, parameters)
            refuse_lifted(results, self.name)
            self.closures = closed_over(results, [*unknowns, *parameters])
            self.equations = Layout([r._payload for r in results])
            self._graph = unknowns, parameters, results
        return self._graph[2]

    def start(self) -> list[Any]:
        """Return the solution as new tensors without history."""
        return [new_tensor(array) for array in self.solution]

    def check_dependence(self) -> None:
        """Raise if F does not depend on the unknowns."""
        unknowns, _, results = self._graph
        vector = self.equations.tensors(np.ones(self.equations.size))
        if all(g is None for g in products(results, unknowns, vector)):
            raise RuntimeError(
                f"{self.name} does not depend on the unknowns, its first argument, by operations "
                "that are recorded: it must compute with that argument itself, not with a copy "
                "made by NumPy, by float() or by detach()"
            )

    # -- derivatives at the solution --------------------------------------------------------------

    def pull(self, vector: Any) -> Any:
        """Return the product of a vector with the Jacobian with respect to z, from the left."""
        unknowns, _, results = self._graph
        grads = products(results, unknowns, self.equations.tensors(vector))
        return self.unknowns.vector([None if g is None else g._payload for g in grads])

    def push(self, vector: Any) -> Any:
        """Return the product of the Jacobian with respect to z with a vector."""
        if self._pushed is None:
            # the product from the left is linear in its vector, so it has a derivative
            unknowns, _, results = self._graph
            dummies = [leaf(t) for t in self.equations.tensors(np.zeros(self.equations.size))]
            with enable_grad():
                self._pushed = dummies, products(results, unknowns, dummies, create_graph=True)
        dummies, grads = self._pushed
        parts = self.unknowns.tensors(vector)
        pairs = [(g, part) for g, part in zip(grads, parts, strict=True) if g is not None]
        pushed = products([g for g, _ in pairs], dummies, [part for _, part in pairs])
        return self.equations.vector([None if p is None else p._payload for p in pushed])

    def pull_parameters(self, tensors: list[Any]) -> list[Any]:
        """Return a vector's products with the Jacobians of parameters and closed-over tensors."""
        _, parameters, results = self._graph
        return products(results, [*parameters, *self.closures], tensors)

    def solved(self, tensors: list[Any], transpose: bool) -> list[Any]:
        """Return the u with ``J u = b``, or of the transposed system."""
        self.linearise()
        before, after = self.equations, self.unknowns
        if transpose:
            before, after = after, before
        b = before.vector([t._payload for t in tensors])
        return after.tensors(self._solved(b, transpose))

    @property
    def solver(self) -> Any:
        """The linear solver that is used."""
        if self._given is not None:
            return self._given
        return "dense" if self.unknowns.size <= DENSE_LIMIT else self._large

    def _solved(self, b: Any, transpose: bool) -> Any:
        if self.solver == "dense":
            matrix = self.matrix()
            return np.linalg.solve(matrix.T if transpose else matrix, b)
        jacobian = LinearMap(self.push, self.pull, self.unknowns.size)
        rtol = 1e-5 if self.unknowns.single or self.equations.single else 1e-11
        return solution(
            self.solver,
            jacobian.T if transpose else jacobian,
            b,
            rtol,
            f"the Jacobian of {self.name}",
        )

    def matrix(self) -> Any:
        """Return the Jacobian with respect to z as a matrix, computed once.

        Raises
        ------
        LinAlgError: If it is singular.
        """
        if self._matrix is None:
            matrix = np.concatenate(
                [np.zeros((0, self.unknowns.size)), *map(self._rows, self._units())]
            )
            if not np.isfinite(matrix).all():
                raise LinAlgError(
                    f"the Jacobian of {self.name} with respect to the unknowns has values that are "
                    "not finite at the point that the solver returned"
                )
            worst = np.linalg.cond(matrix, 1) if matrix.size else 1.0
            if not worst < 1 / np.finfo(np.float64).eps:
                raise LinAlgError(
                    f"the Jacobian of {self.name} with respect to the unknowns is singular at "
                    f"the point that the solver returned (its condition number is {worst:.1e}): "
                    "the equation does not determine how the solution changes with the "
                    "parameters. This is so at multiple roots, and where there are more unknowns "
                    "than independent equations."
                )
            self._matrix = matrix
        return self._matrix

    def _units(self) -> Iterator[list[Any]]:
        """Yield the unit vector of each equation in parts, several at a time."""
        for units in np.split(
            np.eye(self.equations.size), range(_AT_ONCE, self.equations.size, _AT_ONCE)
        ):
            if len(units):
                parts = [[t._array() for t in self.equations.tensors(unit)] for unit in units]
                yield [np.stack(part) for part in zip(*parts, strict=True)]

    def _rows(self, vectors: list[Any]) -> Any:
        """Return the products of vectors with the Jacobian with respect to z, as rows."""
        unknowns, _, results = self._graph
        return self.unknowns.matrix(rows(results, unknowns, vectors), len(vectors[0]))

    # -- the quality of the solution --------------------------------------------------------------

    def excess(self, results: list[Any], tol: float | None) -> tuple[float, float]:
        """Return the largest residual, and its tolerance."""
        if tol is None:
            arrays = (*self.solution, *[r._payload for r in results])
            tol = max((precision(a.dtype) for a in arrays), default=0.0) ** 0.25
        size = max((_largest(array) for array in self.solution), default=0.0)
        residual = max((_largest(r._payload) for r in results), default=0.0)
        return residual, tol * max(1.0, size if math.isfinite(size) else 0.0)


def _largest(array: Any) -> float:
    if array.size == 0:
        return 0.0
    value = float(np.abs(array).max())
    return math.inf if math.isnan(value) else value


def _shapes(arrays: list[Any]) -> str:
    shapes = ", ".join(str(list(array.shape)) for array in arrays)
    return f"shape {shapes}" if len(arrays) == 1 else f"shapes {shapes}"
