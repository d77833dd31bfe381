"""Layer 8 · quasirandom: points of the Sobol sequence, which fill a cube evenly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.base.dtypes import as_dtype, default_float
from wengert.base.extras import scipy_module
from wengert.base.names import shows
from wengert.ops.choice import randint
from wengert.ops.generator import Generator
from wengert.ops.options import made

__all__ = ["SobolEngine"]
__dir__ = shows(__all__)


class SobolEngine:
    """Points of a Sobol sequence, with PyTorch's numbers. Needs SciPy.

    Parameters
    ----------
    dimension : int. Numbers per point, at most 21201.
    scramble : bool. Whether to scramble the sequence at random; it stays evenly distributed.
    seed : int, optional. The seed for scrambling; by default the global generator is used.

    Raises
    ------
    ValueError: If the dimension is not supported.

    Examples
    --------
    >>> engine = wg.quasirandom.SobolEngine(2)
    >>> engine.draw(3)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500]])
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        state = scipy_module("stats", "SobolEngine").qmc.Sobol(dimension, scramble=False)._sv
        state = state.astype(np.int64)
        shift = np.zeros(dimension, np.int64)
        if scramble:
            state, shift = self._scrambled(state)
        self.sobolstate, self.shift, self.quasi = made(state), made(shift), made(shift.copy())
        self.num_generated = 0

    def _scrambled(self, state: Any) -> tuple[Any, Any]:
        """Return the directions times random triangular bit matrices, and a random shift."""
        bits = self.MAXBIT
        generator = None if self.seed is None else Generator().manual_seed(self.seed)
        shift = randint(2, (self.dimension, bits), generator=generator)._payload
        matrix = randint(2, (self.dimension, bits, bits), generator=generator)._payload
        powers = 2 ** np.arange(bits)
        lower = np.tril(matrix)
        lower[:, range(bits), range(bits)] = 1
        # the first bit of a direction is its highest
        places = (state[:, :, None] >> np.arange(bits)[::-1]) & 1
        made_bits = np.einsum("dpk,djk->djp", lower, places) % 2
        return made_bits @ powers[::-1], shift @ powers

    def draw(self, n: int = 1, out: Any = None, dtype: Any = None) -> Any:
        """Draw the next `n` points, a tensor of shape (n, dimension)."""
        kind = default_float() if dtype is None else as_dtype(dtype).dtype
        points = np.empty((n, self.dimension), np.int64)
        for row in range(n):
            if self.num_generated:
                self._step()
            points[row] = self.quasi._payload
            self.num_generated += 1
        result = made((points / 2.0**self.MAXBIT).astype(kind))
        return result if out is None else out.resize_as_(result).copy_(result)

    def draw_base2(self, m: int, out: Any = None, dtype: Any = None) -> Any:
        """Draw the next ``2**m`` points; the total number drawn must then be a power of two."""
        total = self.num_generated + 2**m
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(2**m, out, dtype)

    def fast_forward(self, n: int) -> SobolEngine:
        """Skip the next `n` points."""
        for _ in range(n):
            if self.num_generated:
                self._step()
            self.num_generated += 1
        return self

    def reset(self) -> SobolEngine:
        """Restart the sequence."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def _step(self) -> None:
        """Advance to the next point, which changes one direction: that of the lowest zero bit."""
        before = self.num_generated - 1
        lowest = int(math.log2(~before & (before + 1)))
        self.quasi ^= self.sobolstate[:, lowest]

    def __repr__(self) -> str:
        options = [f"dimension={self.dimension}"]
        options += ["scramble=True"] if self.scramble else []
        options += [] if self.seed is None else [f"seed={self.seed}"]
        return f"SobolEngine({', '.join(options)})"
