"""Layer 0 · base: `device`, where tensors live: the CPU, or a device of a backend.

Devices that are not present can be named, since programs do so before they check for them. Putting
a tensor on one raises an error.
"""

from __future__ import annotations

from typing import Any

from wengert.base.backends import backend_of
from wengert.base.ports import PORTS

_TYPES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, "
    "mps, meta, hpu, mtia, privateuseone"
)


class device:
    """The device on which a tensor is stored and computed.

    Parameters
    ----------
    type: ``"cpu"``, or ``"cpu:0"`` with the index in the string; another `device` is copied.
    index: The number of the device among those of its type; None is the current one.

    Attributes
    ----------
    type: The kind of device, ``"cpu"``.
    index: Its number, or None.

    Raises
    ------
    RuntimeError: If the string does not name a kind of device. A device that is not present can be
        named; putting anything on it raises.

    Examples
    --------
    >>> wg.device("cpu")
    device(type='cpu')
    >>> str(wg.device("cpu:0")), wg.device("cpu") == wg.device("cpu")
    ('cpu:0', True)

    As a context, a device is where new tensors are made:

    >>> with wg.device("cpu"):
    ...     x = wg.ones(2)
    >>> x.device
    device(type='cpu')
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: str | int | device = "cpu", index: int | None = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        if isinstance(type, int) and not isinstance(type, bool):
            # a bare number is the index of an accelerator, as in PyTorch
            if type < 0:
                raise RuntimeError("Device index must not be negative")
            self.type, self.index = "cuda", type
            return
        if not isinstance(type, str):
            raise TypeError(
                f"device(): argument 'type' (position 1) must be str, not {type.__class__.__name__}"
            )
        name, number = _parse(type)
        if number is not None and index is not None:
            raise RuntimeError(
                f"type (string) must not include an index because index was passed explicitly: "
                f"{type}"
            )
        if index is not None and index < 0:
            raise RuntimeError(f"Device index must not be negative: {index}")
        self.type = name
        self.index = number if index is None else int(index)

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return self.type == other.type and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (str(self),)

    def __enter__(self) -> device:
        if not is_meta(self):
            check_device(self)
        PORTS.made_on(self, True)
        return self

    def __exit__(self, *exc: object) -> None:
        PORTS.made_on(None, True)


def _parse(text: str) -> tuple[str, int | None]:
    """Parse ``"cpu:0"`` into its type and index."""
    if not text:
        raise RuntimeError("Device string must not be empty")
    name, colon, number = text.partition(":")
    if name not in _TYPES.split(", "):
        raise RuntimeError(
            f"Expected one of {_TYPES} device type at start of device string: {name}"
        )
    if not colon:
        return name, None
    if not (number.isascii() and number.isdigit()) or number != str(int(number)):
        raise RuntimeError(f"Invalid device string: '{text}'")
    return name, int(number)


def _unavailable(name: str) -> RuntimeError:
    if name == "meta":
        return RuntimeError(
            "device 'meta' is not available here: it has shapes and no values. Make tensors on it "
            "by their shapes, or by x.to('meta')"
        )
    return RuntimeError(
        f"device '{name}' is not available: no GPU backend is installed, wengert computes on the "
        "CPU through NumPy. Use device='cpu', or leave the argument out; CuPy (pip install "
        "'wengert[cuda]') is the backend for 'cuda', where there is a GPU."
    )


CPU = device("cpu")
"""The device of every tensor that has values."""
META = device("meta")
"""The device of tensors that have shapes alone (see `wengert.tensor.meta`)."""


def is_meta(value: Any) -> bool:
    """Return whether ``device=value`` means tensors without values."""
    return value is META or (
        value is not None and (value if isinstance(value, device) else device(value)).type == "meta"
    )


def as_device(value: Any) -> device:
    """Return the device that `value` names, with its number unless it is the CPU; None is the CPU.

    Raises
    ------
    RuntimeError: If there is no such device.
    """
    if value is None or value is CPU:
        return CPU
    found = value if isinstance(value, device) else device(value)
    if found.type == "cpu":
        return found
    backend = backend_of(found.type)
    if backend is None:
        raise _unavailable(str(found))
    index = backend.current() if found.index is None else found.index
    if index >= backend.count():
        raise RuntimeError(
            f"CUDA error: invalid device ordinal: '{found}' was asked for, and there are "
            f"{backend.count()} devices of this type"
        )
    return device(found.type, index)


def check_device(value: Any) -> None:
    """Raise unless ``device=value`` means the CPU, for functions that support only the CPU."""
    if value is not None and value is not CPU and as_device(value).type != "cpu":
        raise RuntimeError(
            f"this is made on the CPU only, and device={str(value)!r} was asked for: make it "
            f"there, and send it by .to({str(value)!r})"
        )


def different_devices(*found: device) -> RuntimeError:
    """Return the error about arguments on several devices."""
    first, second = sorted(map(str, found), key=lambda name: name == "cpu")
    return RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{first} and {second}! Send one to the other's by .to(device)."
    )


def set_default_device(device: device | str | int | None, /) -> None:
    """Set where new tensors are made: the CPU, which None also means, or ``"meta"``.

    Raises
    ------
    RuntimeError: If it is another device.

    Examples
    --------
    >>> wg.set_default_device("cpu")
    """
    if not is_meta(device):
        check_device(device)
    PORTS.made_on(META if is_meta(device) else CPU, False)


def get_default_device() -> device:
    """Return the device on which new tensors are made.

    Examples
    --------
    >>> wg.get_default_device()
    device(type='cpu')
    """
    return META if PORTS.full_mode().meta else CPU
