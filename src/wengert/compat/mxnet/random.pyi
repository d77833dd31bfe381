"""What `wengert.compat.mxnet.random` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from builtins import int as _int
from collections.abc import Sequence
from typing import Any

def exponential(scale: Any = 1.0, shape: _int | Sequence[_int] | None = None, dtype: Any = None, ctx: Any = None, out: Any = None) -> Any: ...
def gamma(alpha: Any = 1.0, beta: Any = 1.0, shape: _int | Sequence[_int] | None = None, dtype: Any = None, ctx: Any = None, out: Any = None) -> Any: ...
from wengert.compat.mxnet.ndarray.random import multinomial as multinomial
def normal(loc: Any = 0.0, scale: Any = 1.0, shape: _int | Sequence[_int] | None = None, dtype: Any = None, ctx: Any = None, out: Any = None) -> Any: ...
def poisson(lam: Any = 1.0, shape: _int | Sequence[_int] | None = None, dtype: Any = None, ctx: Any = None, out: Any = None) -> Any: ...
from wengert.compat.mxnet.ndarray.random import randint as randint
from wengert.compat.mxnet.ndarray.random import randn as randn
from wengert.compat.mxnet.sampling import seed as seed
from wengert.compat.mxnet.ndarray.random import shuffle as shuffle
def uniform(low: Any = 0.0, high: Any = 1.0, shape: _int | Sequence[_int] | None = None, dtype: Any = None, ctx: Any = None, out: Any = None) -> Any: ...
