"""Layer 6 · tensor: the metadata of a tensor: shape, dtype, memory."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from wengert.base.device import device
from wengert.base.dtypes import dtype as DType
from wengert.base.dtypes import from_numpy_dtype
from wengert.base.layout import layout, strided
from wengert.base.memory_format import (
    check_memory_format,
    contiguous_format,
    is_in_format,
    memory_format,
    steps_of,
)
from wengert.base.shapes import normal_dim
from wengert.base.size import Size
from wengert.interp.levels import device_of, memory_of
from wengert.kernels.strided import shares_owner
from wengert.tape.modes import untraced
from wengert.tape.views import root_of
from wengert.tensor.storage import StorageMethods


def _address_of(array: Any) -> int:
    # CuPy's arrays have it as an attribute
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)


class TensorMetadata(StorageMethods):
    """Methods and attributes that depend on the payload alone."""

    __slots__ = ()
    _payload: Any
    _array: Any
    _base: Any
    _extra: Any

    @property
    def shape(self) -> Size:
        """The sizes of the dimensions.

        Examples
        --------
        >>> wg.zeros(2, 3).shape
        torch.Size([2, 3])
        """
        return tuple.__new__(Size, self._payload.shape)

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or the size of one dimension.

        Examples
        --------
        >>> wg.zeros(2, 3).size(), wg.zeros(2, 3).size(-1)
        (torch.Size([2, 3]), 3)
        """
        return self.shape if dim is None else self._payload.shape[normal_dim(dim, self.ndim)]

    @property
    def dtype(self) -> DType:
        """The element type.

        Examples
        --------
        >>> wg.tensor([1.0, 2.0]).dtype, wg.tensor([1, 2]).dtype
        (torch.float32, torch.int64)
        """
        return from_numpy_dtype(self._payload.dtype)

    @property
    def device(self) -> device:
        """The device of the memory.

        Examples
        --------
        >>> wg.zeros(2).device
        device(type='cpu')
        """
        return device_of(self._payload)

    @property
    def ndim(self) -> int:
        """The number of dimensions.

        Examples
        --------
        >>> wg.zeros(2, 3).ndim, wg.tensor(1.0).ndim
        (2, 0)
        """
        return self._payload.ndim

    def dim(self) -> int:
        """Return the number of dimensions.

        Examples
        --------
        >>> wg.zeros(2, 3).dim()
        2
        """
        return self.ndim

    ndimension = dim

    def numel(self) -> int:
        """Return the number of elements.

        Examples
        --------
        >>> wg.zeros(2, 3).numel()
        6
        """
        return int(self._payload.size)

    nelement = numel

    @property
    def itemsize(self) -> int:
        """The number of bytes per element.

        Examples
        --------
        >>> wg.zeros(2).itemsize, wg.zeros(2, dtype=wg.complex128).itemsize
        (4, 16)
        """
        return int(self._payload.dtype.itemsize)

    def element_size(self) -> int:
        """Return the number of bytes per element.

        Examples
        --------
        >>> wg.zeros(2, dtype=wg.float64).element_size()
        8
        """
        return self.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements.

        Examples
        --------
        >>> wg.zeros(2, 3).nbytes
        24
        """
        return int(self._payload.nbytes)

    def stride(self, dim: int | None = None) -> Any:
        """Return the strides, in elements, or the stride of one dimension.

        Examples
        --------
        >>> wg.zeros(2, 3).stride(), wg.zeros(2, 3).stride(0)
        ((3, 1), 3)
        """
        steps = steps_of(self._payload)
        return steps if dim is None else steps[normal_dim(dim, self.ndim)]

    def dim_order(self, *, ambiguity_check: Any = False) -> tuple[int, ...]:
        """Return the dimensions from the one with the largest stride to the one with the least.

        Parameters
        ----------
        ambiguity_check : bool or list of memory_format. Whether to raise if the order is
            ambiguous: if a size is 1 or two strides are equal; given formats, unless exactly one
            fits.

        Examples
        --------
        >>> wg.zeros(2, 3).dim_order(), wg.zeros(2, 3).t().dim_order()
        ((0, 1), (1, 0))
        """
        steps, formats = self.stride(), ambiguity_check
        if not isinstance(formats, bool):
            if not (
                isinstance(formats, list) and all(isinstance(f, memory_format) for f in formats)
            ):
                raise TypeError(
                    "The ambiguity_check argument must be a bool or a list of memory formats."
                )
            unclear = sum(is_in_format(self._payload, one) for one in formats) != 1
        else:
            unclear = formats
        if unclear and (1 in self._payload.shape or any(a == b for a, b in pairwise(steps))):
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the "
                "given memory formats."
            )
        return tuple(sorted(range(self.ndim), key=lambda dim: -steps[dim]))

    def sparse_dim(self) -> int:
        """Return the number of sparse dimensions: 0."""
        return 0

    def dense_dim(self) -> int:
        """Return the number of dense dimensions: all of them."""
        return self.ndim

    def is_contiguous(self, memory_format: Any = contiguous_format) -> bool:
        """Return whether the elements are contiguous in memory.

        Parameters
        ----------
        memory_format : memory_format. The order of the elements; default: the last dimension varies
            fastest.

        Examples
        --------
        >>> [t.is_contiguous() for t in (wg.zeros(2, 3), wg.zeros(2, 3).t())]
        [True, False]
        """
        order = check_memory_format(memory_format, "is_contiguous")
        return is_in_format(self._payload, order)

    def data_ptr(self) -> int:
        """Return the address of the first element; 0 if there are none.

        Examples
        --------
        >>> x = wg.arange(4)
        >>> x[2:].data_ptr() - x.data_ptr()  # two elements of eight bytes
        16
        """
        return self._address() if self._payload.size else 0

    def _address(self) -> int:
        untraced("it reads the address of a tensor")
        return _address_of(memory_of(self._array()))

    def storage_offset(self) -> int:
        """Return the position of the first element in the storage.

        Examples
        --------
        >>> wg.arange(20)[11:].storage_offset()
        11
        """
        root = memory_of(root_of(self))
        if root is None or not shares_owner(memory_of(self._payload), root):
            return 0
        return (self._address() - _address_of(root)) // int(self.itemsize)

    def is_floating_point(self) -> bool:
        """Return whether the dtype is a real floating type.

        Examples
        --------
        >>> wg.ones(2).is_floating_point(), wg.ones(2, dtype=wg.int64).is_floating_point()
        (True, False)
        """
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Return whether the dtype is complex.

        Examples
        --------
        >>> wg.tensor([1j]).is_complex(), wg.ones(2).is_complex()
        (True, False)
        """
        return bool(self._payload.dtype.kind == "c")

    def is_signed(self) -> bool:
        """Return whether the dtype has negative numbers.

        Examples
        --------
        >>> wg.tensor([1, 2]).is_signed(), wg.tensor([True]).is_signed()
        (True, False)
        """
        return self.dtype.is_signed

    @property
    def layout(self) -> layout:
        """The memory layout: always strided."""
        return strided

    def get_device(self) -> int:
        """Return the number of the device; -1 for the CPU.

        Examples
        --------
        >>> wg.zeros(2).get_device()
        -1
        """
        index = self.device.index
        return -1 if index is None else index

    def is_pinned(self) -> bool:
        """Return False: no memory is pinned for a GPU."""
        return False

    def is_same_size(self, other: Any) -> bool:
        """Return whether another tensor has the same shape.

        Examples
        --------
        >>> wg.zeros(2, 3).is_same_size(wg.ones(2, 3)), wg.zeros(2, 3).is_same_size(wg.ones(3, 2))
        (True, False)
        """
        return bool(self._payload.shape == other._payload.shape)

    def is_set_to(self, tensor: Any) -> bool:
        """Return whether another tensor shows the same memory, in the same shape and strides.

        Examples
        --------
        >>> x = wg.zeros(2, 3)
        >>> x.is_set_to(x.detach()), x.is_set_to(x.clone())
        (True, False)
        """
        one, two = self._array(), tensor._array()
        same = one.shape == two.shape and one.strides == two.strides
        return bool(same and one.size and self._address() == tensor._address())

    @property
    def is_cpu(self) -> bool:
        """Whether the memory is on the CPU.

        Examples
        --------
        >>> wg.zeros(2).is_cpu
        True
        """
        return self.device.type == "cpu"

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is on a GPU.

        Examples
        --------
        >>> wg.zeros(2).is_cuda
        False
        """
        return self.device.type == "cuda"

    is_sparse = is_sparse_csr = is_quantized = is_nested = is_meta = False
    is_ipu = is_maia = is_mkldnn = is_mps = is_mtia = is_vulkan = is_xla = is_xpu = False

    @property
    def _cdata(self) -> int:
        """PyTorch's address of what a tensor refers to, which `utils.swap_tensors` exchanges."""
        untraced("it reads the address of a tensor")
        return id(self._extra())
