"""Layer 9 · compat: `TensorArray`, a list of tensors written by a loop."""

from __future__ import annotations

from typing import Any

from wengert.compat.kit.namespaces import defined
from wengert.compat.tensorflow.conversion import convert_to_tensor
from wengert.compat.tensorflow.dtypes import DType, as_dtype, numpy_dtype
from wengert.compat.tensorflow.errors import OutOfRangeError
from wengert.compat.tensorflow.tensor import converted, made, same_dtype
from wengert.compat.tensorflow.words import refusal
from wengert.tape.base import new_tensor
from wengert.tape.record import T


class TensorArray:
    """An array of tensors to write, then read, stack and differentiate.

    Parameters
    ----------
    dtype : DType. The dtype of the tensors.
    size : int. The number of tensors.
    dynamic_size : bool. Whether writing past the end extends the array.
    clear_after_read, tensor_array_name, handle, flow, infer_shape, element_shape,
    colocate_with_first_write_call, name: Accepted, without effect.

    Examples
    --------
    >>> array = tf.TensorArray(tf.float32, size=2)
    >>> array = array.write(0, 1.0).write(1, 2.0)
    >>> array.stack()
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """

    def __init__(
        self,
        dtype,
        size=None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name=None,
        handle=None,
        flow=None,
        infer_shape=True,
        element_shape=None,
        colocate_with_first_write_call=True,
        name=None,
    ) -> None:
        self._dtype = as_dtype(dtype)
        self._items: list[Any] = [None] * (0 if size is None else int(size))
        self._grows = bool(dynamic_size)

    @property
    def dtype(self) -> DType:
        """The type of the tensors."""
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        """Whether writing past the end extends the array."""
        return self._grows

    def size(self, name=None) -> Any:
        """Return the number of tensors, as a tensor."""
        return convert_to_tensor(len(self._items))

    def write(self, index, value, name=None) -> TensorArray:
        """Write a tensor at an index; return the array.

        Raises
        ------
        OutOfRangeError: If the index is out of range, and the size is not dynamic.
        """
        place = int(index)
        if place < 0 or (place >= len(self._items) and not self._grows):
            raise refusal(OutOfRangeError, "Tried to write", place, len(self._items))
        while place >= len(self._items):
            self._items.append(None)
        self._items[place] = converted(value, numpy_dtype(self._dtype))
        return self

    def read(self, index, name=None) -> Any:
        """Return the tensor at an index.

        Raises
        ------
        OutOfRangeError: If the index is out of range.
        """
        place = int(index)
        if not 0 <= place < len(self._items):
            raise refusal(OutOfRangeError, "Tried to read", place, len(self._items))
        return self._found(place)

    def _found(self, place: int) -> Any:
        item = self._items[place]
        if item is not None:
            return item
        shapes = [known._payload.shape for known in self._items if known is not None]
        if not shapes:
            raise ValueError(f"Could not read index {place}: nothing has been written")
        zeros = new_tensor(self._dtype.as_numpy_dtype(0))
        return made(T.expand(zeros, shape=tuple(shapes[0])))

    def stack(self, name=None) -> Any:
        """Stack all tensors along a new first dimension."""
        if not self._items:
            return converted([], numpy_dtype(self._dtype))
        items = [self._found(i) for i in range(len(self._items))]
        return made(T.stack(*same_dtype("TensorListStack", *items), dim=0))

    def concat(self, name=None) -> Any:
        """Concatenate all tensors along their first dimension."""
        items = [self._found(i) for i in range(len(self._items))]
        return made(T.cat(*same_dtype("TensorListConcat", *items), dim=0))

    def gather(self, indices, name=None) -> Any:
        """Stack the tensors at some indices along a new first dimension."""
        places = convert_to_tensor(indices)._payload.tolist()
        return made(T.stack(*same_dtype("Pack", *[self.read(i) for i in places]), dim=0))

    def unstack(self, value, name=None) -> TensorArray:
        """Fill the array with the slices of a tensor along its first dimension."""
        self._items = list(converted(value, numpy_dtype(self._dtype)))
        return self

    def __len__(self) -> int:
        return len(self._items)


__all__ = defined(globals())
