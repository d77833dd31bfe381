"""Layer 5 · ops: `Generator`, a stream of random numbers, and the one that functions draw from by
default."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np

from wengert.base.device import as_device, device
from wengert.base.errors import wrong_type
from wengert.base.export import export
from wengert.kernels.random import STATE, Stream
from wengert.ops.randomness import check_randomness
from wengert.tape.base import TensorBase, new_tensor
from wengert.tape.inference import made_in_inference
from wengert.tape.modes import current_mode, untraced

_DEFAULT_SEED = 67280421310721
"""The seed of a new generator, as in PyTorch."""


_SETS = "it sets the state of a generator of random numbers"
_READS = "it reads the state of a generator of random numbers"


@export("wengert")
class Generator:
    """A stream of random numbers with its own state.

    The same seed gives the numbers that PyTorch draws on a CPU, and states can be exchanged with
    it. Several threads may share a generator; which numbers each of them gets depends on their
    timing.

    Parameters
    ----------
    device : device or str. Only the CPU.

    Examples
    --------
    >>> g = wg.Generator().manual_seed(0)
    >>> wg.rand(2, generator=g)
    tensor([0.4963, 0.7682])
    """

    __slots__ = ("_stream", "device")

    device: device

    def __init__(self, device: Any = "cpu") -> None:
        self.device = as_device(device)
        self._stream: Stream | None = None

    @property
    def stream(self) -> Stream:
        """The stream itself, made on first use."""
        stream = self._stream
        if stream is None:
            stream = self._stream = Stream(self._first_seed())
        return stream

    def _first_seed(self) -> int:
        return _DEFAULT_SEED

    def manual_seed(self, seed: int) -> Generator:
        """Start again from `seed`, an integer of 64 bits, and return the generator.

        Raises
        ------
        ValueError: If `seed` has more than 64 bits.

        Examples
        --------
        >>> wg.Generator().manual_seed(3).initial_seed()
        3
        """
        untraced(_SETS)
        seed = int(seed)
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError(f"Overflow when unpacking long long: the seed {seed} exceeds 64 bits")
        if self._stream is None and type(self)._first_seed is Generator._first_seed:
            self._stream = Stream(seed % (1 << 64))
        else:
            self.stream.reseed(seed % (1 << 64))
        return self

    def seed(self) -> int:
        """Start again from an unpredictable seed, and return it.

        Examples
        --------
        >>> g = wg.Generator()
        >>> g.seed() == g.initial_seed()
        True
        """
        untraced(_SETS)
        drawn = _unforeseen()
        self.stream.reseed(drawn)
        return drawn

    def initial_seed(self) -> int:
        """The seed that the generator last started from.

        Examples
        --------
        >>> wg.Generator().initial_seed()
        67280421310721
        """
        untraced(_READS)
        return self.stream.seed

    def get_state(self) -> Any:
        """The state as a uint8 tensor, byte for byte PyTorch's.

        Examples
        --------
        >>> wg.Generator().get_state().shape
        torch.Size([5056])
        """
        untraced(_READS)
        return made_in_inference(new_tensor(self.stream.pack()))

    def set_state(self, new_state: Any) -> Generator:
        """Set the state to what `get_state` gave, and return the generator.

        Raises
        ------
        TypeError, RuntimeError: If `new_state` is not such a tensor.

        Examples
        --------
        >>> g = wg.Generator().manual_seed(5)
        >>> h = wg.Generator().set_state(g.get_state())
        >>> bool((wg.rand(3, generator=g) == wg.rand(3, generator=h)).all())
        True
        """
        untraced(_SETS)
        if not isinstance(new_state, TensorBase):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        packed = new_state._payload
        if packed.dtype != np.uint8:
            raise TypeError(
                f"RNG state must be a torch.ByteTensor, but its dtype is {packed.dtype}"
            )
        if packed.size != STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE.itemsize} but found the input "
                f"RNG state size to be {packed.size}"
            )
        try:
            self.stream.unpack(packed)
        except ValueError as error:
            raise RuntimeError(str(error)) from None
        return self

    def clone_state(self) -> Generator:
        """Return a new generator in the same state.

        Examples
        --------
        >>> wg.Generator().manual_seed(7).clone_state().initial_seed()
        7
        """
        return Generator(self.device).set_state(self.get_state())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (str(self.device), self.stream.pack())


_OWN: ContextVar[Stream | None] = ContextVar("own_stream", default=None)
"""The stream of the default generator in this context, or None for the process's stream."""


class _DefaultGenerator(Generator):
    """The generator of the process, whose first seed differs between runs."""

    __slots__ = ()

    @property
    def stream(self) -> Stream:
        """The stream of the context, if it has one of its own, or else of the process."""
        own = _OWN.get() or self._stream
        return super().stream if own is None else own

    def _first_seed(self) -> int:
        return _unforeseen()


def _unforeseen() -> int:
    # PyTorch keeps such seeds below 2**53, so that floating-point numbers represent them
    return int.from_bytes(os.urandom(8), "little") & ((1 << 53) - 1)


def _restored(device: str, packed: Any) -> Generator:
    generator = Generator(device)
    generator.stream.unpack(packed)
    return generator


default_generator: Generator = _DefaultGenerator()
"""The generator that functions draw from if they are given none."""


@contextlib.contextmanager
def drawing_from(stream: Stream) -> Iterator[None]:
    """Make the default generator draw from `stream` in this context, apart from other threads."""
    token = _OWN.set(stream)
    try:
        yield
    finally:
        _OWN.reset(token)


def stream_of(function: str, generator: Any) -> Stream:
    """Return the stream of the argument ``generator``; None stands for `default_generator`."""
    if current_mode() is not None:
        check_randomness()
        untraced("it draws random numbers", "draw")
    if generator is None:
        return default_generator.stream
    if not isinstance(generator, Generator):
        raise wrong_type(function, "generator", "Generator", generator)
    return generator.stream


@export("wengert")
def manual_seed(seed: int) -> Generator:
    """Start the default generator from `seed`, and return it.

    Parameters
    ----------
    seed : int. Of at most 64 bits; negative ones count from 2**64 down.

    Returns
    -------
    Generator: The default one.

    Raises
    ------
    ValueError: If `seed` has more than 64 bits.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> wg.rand(2)
    tensor([0.4963, 0.7682])
    """
    return default_generator.manual_seed(seed)


@export("wengert")
def seed() -> int:
    """Start the default generator from a random seed, and return the seed.

    Examples
    --------
    >>> wg.seed() == wg.initial_seed()
    True
    """
    return default_generator.seed()


@export("wengert")
def initial_seed() -> int:
    """Return the seed that the default generator last started from.

    Examples
    --------
    >>> _ = wg.manual_seed(4)
    >>> wg.initial_seed()
    4
    """
    return default_generator.initial_seed()


@export("wengert")
def get_rng_state() -> Any:
    """Return the state of the default generator, a uint8 tensor.

    Examples
    --------
    >>> state = wg.get_rng_state()
    >>> a = wg.rand(3)
    >>> wg.set_rng_state(state)
    >>> bool((wg.rand(3) == a).all())
    True
    """
    return default_generator.get_state()


@export("wengert")
def set_rng_state(new_state: Any) -> None:
    """Restore a state of the default generator that `get_rng_state` returned.

    Raises
    ------
    TypeError, RuntimeError: If `new_state` is not such a tensor.

    Examples
    --------
    >>> wg.set_rng_state(wg.get_rng_state())
    """
    default_generator.set_state(new_state)


@export("wengert")
@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """Return a context that restores the state of the default generator at its end.

    Parameters
    ----------
    devices: Has no effect: there is one device.
    enabled : bool. Whether to do anything at all.

    Examples
    --------
    >>> _ = wg.manual_seed(0)
    >>> with wg.fork_rng():
    ...     a = wg.rand(2)
    >>> bool((wg.rand(2) == a).all())
    True
    """
    if not enabled:
        yield
        return
    untraced(_SETS)
    state = default_generator.stream.pack()
    try:
        yield
    finally:
        default_generator.stream.unpack(state)
