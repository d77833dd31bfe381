"""Layer 8 · nn: embedding tables."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from typing import Any

from wengert.base.dtypes import dtype
from wengert.nn import functional as F
from wengert.nn import init
from wengert.nn.modules.making import new_parameter
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter
from wengert.tape.modes import no_grad
from wengert.types import Device, Tensor

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """The common base of `Embedding` and `EmbeddingBag`: the table itself."""

    weight: Parameter

    def _make_table(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None,
        weight: Any,
        device: Any,
        dtype: Any,
        freeze: bool = False,
    ) -> None:
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < max(num_embeddings, 1):
                raise AssertionError(
                    f"{self._padding_name} must be within num_embeddings, {num_embeddings}, but "
                    f"is {padding_idx}"
                )
            padding_idx %= max(num_embeddings, 1)
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        if weight is None:
            self.weight = new_parameter((num_embeddings, embedding_dim), device, dtype)
            self.reset_parameters()
            self.weight.requires_grad_(not freeze)
            return
        if tuple(weight.shape) != (num_embeddings, embedding_dim):
            raise AssertionError(
                "Shape of weight does not match num_embeddings and embedding_dim: it is "
                f"{tuple(weight.shape)}, not {(num_embeddings, embedding_dim)}"
            )
        self.weight = Parameter(weight, not freeze)  # a fixed table may hold integers

    _padding_name = "padding_idx"

    def reset_parameters(self) -> None:
        """Draw the table again from the standard normal distribution; the padding's row is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def _shown(self, *, mode: bool) -> str:
        shown = f"{self.num_embeddings}, {self.embedding_dim}"
        padding = f", padding_idx={self.padding_idx}" if self.padding_idx is not None else ""
        shown += "" if mode else padding
        if self.max_norm is not None:
            shown += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            shown += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            shown += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return shown + f", mode={self.mode!r}{padding}" if mode else shown


def _sizes(embeddings: Any) -> tuple[int, int]:
    if embeddings.dim() != 2:
        raise AssertionError(
            "Embeddings parameter is expected to be 2-dimensional, but its shape is "
            f"{tuple(embeddings.shape)}"
        )
    rows, columns = embeddings.shape
    return rows, columns


class Embedding(_Table):
    """A learned table of vectors, which are looked up by index (see `functional.embedding`).

    Parameters
    ----------
    num_embeddings, embedding_dim : int. The number of vectors, and their size.
    padding_idx : int, optional. The index of a vector that is initially 0 and gets no gradient.
    %(max_norm)s
    sparse : bool. Whether the gradient of `weight` is a sparse tensor.
    device, dtype : optional. The device and dtype of the table.

    Attributes
    ----------
    weight : Parameter. Of shape (num_embeddings, embedding_dim), initially drawn from the standard
        normal distribution.

    Raises
    ------
    AssertionError: If `padding_idx` is out of range.

    Examples
    --------
    >>> table = wg.nn.Embedding(10, 3, padding_idx=0)
    >>> table(wg.tensor([[1, 0], [9, 0]])).shape
    torch.Size([2, 2, 3])
    >>> table(wg.tensor(0))
    tensor([0., 0., 0.], grad_fn=<EmbeddingBackward0>)
    """

    _padding_name = "Padding_idx"

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        table = (num_embeddings, embedding_dim, padding_idx, _weight, device, dtype, _freeze)
        self._make_table(*table)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """Return a module over an existing table.

        Parameters
        ----------
        embeddings : Tensor. The table, of two dimensions.
        freeze : bool. Whether to keep the table fixed, without a gradient.
        padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse: As for the class.

        Raises
        ------
        AssertionError: If the table does not have two dimensions.

        Examples
        --------
        >>> table = wg.nn.Embedding.from_pretrained(wg.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> table(wg.tensor([1]))
        tensor([[3., 4.]])
        """
        rows, columns = _sizes(embeddings)
        return cls(
            num_embeddings=rows,
            embedding_dim=columns,
            _weight=embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )

    def forward(self, input: Tensor) -> Tensor:
        """Return the vectors at the indices in the input, along one more dimension."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        return self._shown(mode=False) + (", sparse=True" if self.sparse is not False else "")


class EmbeddingBag(_Table):
    """Sums, means or maxima over bags of vectors from a learned table.

    See `functional.embedding_bag`.

    Parameters
    ----------
    num_embeddings, embedding_dim : int. The number of vectors, and their size.
    %(max_norm)s
    mode : {"mean", "sum", "max"}. How to reduce a bag.
    sparse : bool. Whether the gradient of `weight` is a sparse tensor.
    include_last_offset : bool. Whether the offsets end with the number of all indices.
    padding_idx : int, optional. The index of a vector that is left out of bags.
    device, dtype : optional. The device and dtype of the table.

    Raises
    ------
    AssertionError: If `padding_idx` is out of range.

    Examples
    --------
    >>> table = wg.nn.EmbeddingBag.from_pretrained(wg.eye(3), mode="sum")
    >>> table(wg.tensor([0, 2, 1, 1]), wg.tensor([0, 2]))
    tensor([[1., 0., 1.],
            [0., 2., 0.]])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset
        self._make_table(num_embeddings, embedding_dim, padding_idx, _weight, device, dtype)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """Return a module over an existing table, like `Embedding.from_pretrained`.

        Examples
        --------
        >>> table = wg.nn.EmbeddingBag.from_pretrained(wg.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> table(wg.tensor([[0, 1]]))
        tensor([[2., 3.]])
        """
        rows, columns = _sizes(embeddings)
        made = cls(
            num_embeddings=rows,
            embedding_dim=columns,
            _weight=embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        made.weight.requires_grad_(not freeze)
        return made

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """Return one vector per bag: per row of the input, or per range between two offsets."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        """Return the text that `repr` shows: the sizes, the mode, and non-default options."""
        return self._shown(mode=True)
