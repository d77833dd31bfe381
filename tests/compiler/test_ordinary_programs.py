"""Test that denied constructs do not disable the compilation of ordinary programs."""

from __future__ import annotations

import abc
import collections
import contextlib
import dataclasses
import enum
import functools
import itertools
import math
import typing
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from kinds import CALL, KINDS, World

import wengert as wg
from wengert import nn
from wengert.compiler.objects import walker as objects
from wengert.nn import functional as F

T = typing.TypeVar("T")


@functools.lru_cache
def cached(n: int) -> float:
    return n * 2.0


@dataclasses.dataclass
class Config:
    rate: float = 0.1
    sizes: list[int] = dataclasses.field(default_factory=lambda: [1, 2])


class Activation(enum.Enum):
    RELU = "relu"
    TANH = "tanh"


class Base(abc.ABC, typing.Generic[T]):
    @abc.abstractmethod
    def apply(self, x: Any) -> Any: ...


class Scaled(Base[int]):
    def __init__(self) -> None:
        self.k = 2.0

    def apply(self, x: Any) -> Any:
        return x * self.k


class Methods:
    def __init__(self) -> None:
        self.n = 3

    @functools.cached_property
    def kept(self) -> float:
        return self.n * 2.0

    @property
    def computed(self) -> int:
        return self.n

    @staticmethod
    def double(x: Any) -> Any:
        return x * 2

    @classmethod
    def triple(cls, x: Any) -> Any:
        return x * 3

    def __repr__(self) -> str:
        return f"Methods({self.n})"

    def __call__(self, x: Any) -> Any:
        return self.double(self.triple(x)) * self.computed * self.kept


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.named = nn.ModuleDict({"norm": nn.LayerNorm(4)})
        self.register_buffer("shift", wg.ones(4))
        self.drop, self.norm = nn.Dropout(0.5), nn.BatchNorm1d(4)
        self.activation, self.config = nn.GELU(), Config()

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = self.activation(layer(x)) * self.config.rate
        return self.norm(self.drop(self.named["norm"](x) + self.shift))


class Doubled(wg.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


def wrapped(function: Any) -> Any:
    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return inner


@wrapped
def decorated(x: Any) -> Any:
    return x * 2


@contextlib.contextmanager
def scale() -> Iterator[float]:
    yield 2.0


Point = collections.namedtuple("Point", "a b")
config, chosen, scaled, methods = Config(), Activation.RELU, Scaled(), Methods()
assert methods.kept == 6.0


def in_context(x: Any) -> Any:
    with scale() as k, wg.no_grad():
        return x * k


def recursive(x: Any, n: int = 5) -> Any:
    return x if n == 0 else recursive(x * 1.1, n - 1)


def nested(x: Any) -> Any:
    def loss(w: Any) -> Any:
        return (w * x).sum()

    return wg.func.grad(loss)(x)


def checked(x: Any) -> Any:
    if x.shape[0] != 2:
        raise ValueError(f"two rows are expected, not {x.shape}")
    if not isinstance(x, wg.Tensor):
        raise TypeError(f"not {type(x).__name__}")
    return x * len(f"{x.shape}")


def training(name: str) -> Any:
    net = Net()
    optimizer = getattr(wg.optim, name)(net.parameters(), lr=0.01)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


PROGRAMS: dict[str, Any] = {
    "dataclass": lambda x: x * config.rate * config.sizes[1],
    "enum": lambda x: F.relu(x) if chosen is Activation.RELU else x.tanh(),
    "function by its name": lambda x: getattr(F, chosen.value)(x),
    "abstract generic class": lambda x: scaled.apply(x),
    "methods": methods,
    "decorator": lambda x: decorated(x),
    "context manager": in_context,
    "itertools": lambda x: sum(x[i, j] for i, j in itertools.product(range(2), range(2))),
    "constants": lambda x: x * math.sqrt(2) * math.pi * np.pi * np.sqrt(3.0),
    "named tuple": lambda x: Point(x, 2)._replace(b=3).a * Point(1, 2).b,
    "partial": functools.partial(lambda k, x: x * k, 3.0),
    "default": lambda x, d=collections.OrderedDict(a=1.0): x * d["a"],  # as a table
    "cache": lambda x: x * cached(3),
    "recursion": recursive,
    "functions within": nested,
    "checks": checked,
    "Function": lambda x: Doubled.apply(x),
    "transforms": lambda x: wg.func.vmap(wg.func.grad(lambda r: (r**2).sum()))(x),
    "module": Net(),
    "module in evaluation": Net().eval(),
    **{f"training by {name}": training(name) for name in ("SGD", "Adam", "RMSprop", "NAdam")},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_ordinary_programs_are_compiled(name: str) -> None:
    compiled = wg.compile(PROGRAMS[name], backend="numpy", options={"measure": False})
    for _ in range(3):
        compiled(wg.ones(2, 4))
    assert compiled.reason is None, str(compiled.reason)
    assert compiled.explain().traces


DENIED = {
    *("iterator", "generator", "count", "__next__ of a count", "cycle", "lock", "event"),
    *("ctypes pointer", "large array", "flat iterator", "random.Random", "np.random.Generator"),
    *("np.random.RandomState", "thread local", "lru_cache", "single dispatch", "cached property"),
    *("logger", "root logger", "moment in a zone that moves", "dtype with metadata"),
    *("ufunc that calls Python", "array below an array", "array with metadata"),
    *("function with built-in names", "weak reference", "weak method", "weak set"),
    *("weak key dictionary", "weak value dictionary"),
}
"""Kinds of objects of which a function may not be compiled that reads them."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [name for name in KINDS if name not in DENIED])
def test_what_is_known_of_objects_is_enough_to_compile(name: str) -> None:
    compiled = wg.compile(World("globally", name, CALL).function, backend="numpy")
    compiled(wg.ones(2))
    assert compiled.reason is None, str(compiled.reason)


def test_every_kind_that_the_walker_knows_is_among_those_that_are_tested() -> None:
    met: set[type] = set()

    def walk(thing: Any, depth: int = 0) -> None:
        met.update(type(thing).__mro__[:-1])
        met.add(type(thing))
        if depth < 6 and not isinstance(thing, wg.Tensor | float):
            try:
                parts = objects.read(thing).parts
            except objects.Unknown:
                return
            for part in parts:
                walk(part.value, depth + 1)

    for kind in KINDS.values():
        for n in range(3):
            walk(kind.make(n))
        walk(kind.read)
    known = {*objects._READERS, *(base for base in objects._BASES if base is not object)}
    assert sorted(kind.__name__ for kind in known - met) == []
