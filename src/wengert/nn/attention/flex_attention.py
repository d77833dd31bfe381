"""Layer 8 · nn: attention whose scores and mask are functions of batch, head, query and key.

The functions receive tensors of no dimensions, and `vmap` calls them for all positions at once. All
scores are computed, whatever the mask hides: its blocks only describe the mask.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypedDict

from wengert.base.dtypes import as_dtype
from wengert.base.elsewhere import elsewhere
from wengert.base.names import defined
from wengert.func.batch import vmap
from wengert.ops.arrange import repeat_interleave
from wengert.ops.create import zeros
from wengert.ops.matmul import matmul
from wengert.ops.neural import softmax
from wengert.ops.padding import pad
from wengert.ops.ranges import arange
from wengert.ops.select import masked_fill, where
from wengert.ops.sorting import argsort

__getattr__ = elsewhere(__name__)

_DEFAULT_SPARSE_BLOCK_SIZE = 128


class FlexKernelOptions(TypedDict, total=False):
    """Options of PyTorch's kernels; they have no effect."""


class AuxRequest(NamedTuple):
    """What `flex_attention` returns beside its result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """The logarithm of the sum of exponentials, and the maximum, of each query's scores."""

    lse: Any = None
    max_scores: Any = None


def noop_mask(batch: Any, head: Any, token_q: Any, token_kv: Any) -> Any:
    """Return True: every query sees every key."""
    return batch.new_ones((), dtype=bool)


def _sliced(batch: Any, head: Any, token_q: Any, token_kv: Any) -> Any:
    raise RuntimeError(
        "Cannot use mask_mod from a sliced BlockMask. Positions have changed, so set mask_mod to a "
        "function that adds the offset and calls the mask_mod of the mask that was sliced"
    )


def and_masks(*mask_mods: Callable[..., Any]) -> Callable[..., Any]:
    """Return the mask that shows a position if all of these masks do."""
    return _joined(mask_mods, True)


def or_masks(*mask_mods: Callable[..., Any]) -> Callable[..., Any]:
    """Return the mask that shows a position if any of these masks does."""
    return _joined(mask_mods, False)


def _joined(mask_mods: tuple[Any, ...], every: bool) -> Callable[..., Any]:
    if not all(callable(one) for one in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def mask(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        result = b.new_full((), every, dtype=bool)
        for one in mask_mods:
            shown = one(b, h, q_idx, kv_idx)
            result = result & shown if every else result | shown
        return result

    return mask


def _everywhere(function: Callable[..., Any], sizes: tuple[int, ...], *scores: Any) -> Any:
    """Call a function of positions, and of scores if given, for all positions."""
    given = (0,) * len(scores)
    for place in (3, 2, 1, 0):
        function = vmap(function, in_dims=(*given, *(0 if k == place else None for k in range(4))))
    return function(*scores, *(arange(size) for size in sizes))


def _takes_scores(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    count = len([one for one in parameters if one.default is one.empty])
    if count not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {count}")
    return count == 5


def create_mask(
    mod_fn: Callable[..., Any],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
) -> Any:
    """Return the mask that a function of positions, or of scores and positions, describes.

    Parameters
    ----------
    mod_fn : callable. A ``mask_mod(b, h, q, kv)``, or a ``score_mod(score, b, h, q, kv)``, whose
        result -inf hides a position.
    B, H : int or None. The sizes of batch and heads; None is 1.
    Q_LEN, KV_LEN : int. The numbers of queries and keys.
    device : Device, optional. Has no effect.

    Returns
    -------
    Tensor: Of dtype bool and shape (B, H, Q_LEN, KV_LEN).

    Examples
    --------
    >>> from wengert.nn.attention.flex_attention import create_mask
    >>> create_mask(lambda b, h, q, kv: q >= kv, 1, 1, 2, 2)[0, 0]
    tensor([[ True, False],
            [ True,  True]])
    """
    sizes = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    if _takes_scores(mod_fn):
        return _everywhere(mod_fn, sizes, zeros(sizes)) != -math.inf
    return _everywhere(mod_fn, sizes)


def _ordered(blocks: Any) -> tuple[Any, Any]:
    """Return how many blocks each row has, and their columns before all others."""
    blocks = blocks.int()
    columns = argsort(blocks, dim=-1, descending=True, stable=True)
    return blocks.sum(-1).int(), columns.int()


def _dense(counts: Any, columns: Any) -> Any:
    """Return 1 for each block of a row: the inverse of `_ordered`."""
    present = arange(columns.shape[-1]) < counts[..., None]
    return zeros(tuple(columns.shape)).int().scatter(-1, columns.long(), present.int())


class BlockMask:
    """A mask for `flex_attention`: a function of positions, and the blocks with what it shows.

    Make one with `create_block_mask`, or with `from_kv_blocks` from the numbers of blocks in each
    row and their columns.

    Examples
    --------
    >>> from wengert.nn.attention.flex_attention import create_block_mask
    >>> mask = create_block_mask(lambda b, h, q, kv: q >= kv, 1, 1, 4, 4, BLOCK_SIZE=2)
    >>> mask.sparsity(), mask.to_dense()[0, 0].tolist()
    (25.0, [[1, 0], [1, 1]])
    """

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Any,
        kv_indices: Any,
        full_kv_num_blocks: Any,
        full_kv_indices: Any,
        q_num_blocks: Any,
        q_indices: Any,
        full_q_num_blocks: Any,
        full_q_indices: Any,
        BLOCK_SIZE: tuple[int, int] = (_DEFAULT_SPARSE_BLOCK_SIZE, _DEFAULT_SPARSE_BLOCK_SIZE),
        mask_mod: Callable[..., Any] = noop_mask,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        for side, counts, columns in (
            ("kv", full_kv_num_blocks, full_kv_indices),
            ("q", full_q_num_blocks, full_q_indices),
        ):
            if (counts is None) != (columns is None):
                raise AssertionError(
                    f"full_{side}_num_blocks and full_{side}_indices must be both provided or "
                    "omitted"
                )
        self.seq_lengths = seq_lengths
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Any,
        kv_indices: Any,
        full_kv_num_blocks: Any = None,
        full_kv_indices: Any = None,
        BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: Callable[..., Any] | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """Return the mask whose rows of blocks have these columns.

        Parameters
        ----------
        kv_num_blocks, kv_indices : Tensor. How many blocks each row has, and their columns,
            before any others.
        full_kv_num_blocks, full_kv_indices : Tensor, optional. The same for blocks
            that are shown whole.
        BLOCK_SIZE : int or tuple of int. The numbers of queries and keys in a block.
        mask_mod : callable, optional. What is shown inside the blocks; default: all.
        seq_lengths : tuple of int, optional. The numbers of queries and keys.
        compute_q_blocks : bool. Whether to list the rows of each column of blocks, too.
        """
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        kv = (kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices)
        q: list[tuple[Any, Any]] = []
        for counts, columns in (kv[:2], kv[2:]):
            listed = compute_q_blocks and counts is not None and columns is not None
            dense = _dense(counts, columns).transpose(-2, -1) if listed else None
            q.append((None, None) if dense is None else _ordered(dense))
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        lengths = seq_lengths or (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        return cls(lengths, *kv, *q[0], *q[1], size, mask_mod or noop_mask)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of batch and heads, and the numbers of queries and keys."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """Return how many positions there are."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """Return the percentage of positions that lie in blocks without any shown position."""
        count = self.kv_num_blocks.sum().item()
        if self.full_kv_num_blocks is not None:
            count += self.full_kv_num_blocks.sum().item()
        return 100 * (1 - count * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to_dense(self) -> Any:
        """Return 1 for each block that shows something, and 0 for the others."""
        blocks = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is None:
            return blocks
        return blocks | _dense(self.full_kv_num_blocks, self.full_kv_indices)

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """Draw the blocks of the first batches and heads, in at most so many rows and columns."""
        blocks = self.to_dense()
        *outer, rows, columns = blocks.shape
        if isinstance(grid_size, int):
            grid_size = (rows, columns) if grid_size == -1 else (grid_size, grid_size)
        down, right = max(1, -(-rows // grid_size[0])), max(1, -(-columns // grid_size[1]))
        drawn = []
        for index in itertools.islice(itertools.product(*map(range, outer)), limit):
            drawn.append(f"{index}\n")
            for r in range(0, rows, down):
                for c in range(0, columns, right):
                    part = blocks[index][r : r + down, c : c + right].float().mean().item()
                    drawn[-1] += ("█" if part == 1 else "░" if part else " ") * 2
                drawn[-1] += "\n"
        if math.prod(outer) > limit:
            drawn.append("...\nTo print out more, set BlockMask.to_string(limit=N)")
        return "\n".join(drawn)

    def __str__(self) -> str:
        drawn = self.to_string().strip()
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{drawn}\n)"

    def __getitem__(self, index: Any) -> BlockMask:
        """Return the mask of some batches, heads and rows of blocks; its mask_mod must be set."""
        given = index if isinstance(index, tuple) else (index,)
        sizes = self.kv_num_blocks.shape[:3]
        padded = (*given, slice(None), slice(None), slice(None))[:3]
        place = tuple(
            slice(i % n, i % n + 1) if isinstance(i, int) and -n <= i < n else i
            for i, n in zip(padded, sizes, strict=False)
        )
        kv = (self.kv_num_blocks, self.kv_indices, self.full_kv_num_blocks, self.full_kv_indices)
        parts = [None if one is None else one[place] for one in kv]
        return self._like(parts, _sliced, self.seq_lengths)

    def _like(self, kv: Any, mask_mod: Any, lengths: tuple[int, int]) -> BlockMask:
        listed = self.q_indices is not None
        return BlockMask.from_kv_blocks(
            kv[0], kv[1], kv[2], kv[3], self.BLOCK_SIZE, mask_mod, lengths, listed
        )

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """Return the mask of the first queries and keys."""
        rows, columns = (
            -(-length // size)
            for length, size in zip((new_q_len, new_kv_len), self.BLOCK_SIZE, strict=True)
        )
        kv: list[Any] = []
        for counts, order in (
            (self.kv_num_blocks, self.kv_indices),
            (self.full_kv_num_blocks, self.full_kv_indices),
        ):
            kv += (
                (None, None)
                if counts is None
                else _ordered(_dense(counts, order)[..., :rows, :columns])
            )
        return self._like(kv, self.mask_mod, (new_q_len, new_kv_len))

    def to(self, device: Any) -> BlockMask:
        """Return the mask itself: there is one device."""
        return self


def create_block_mask(
    mask_mod: Callable[..., Any],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
    separate_full_blocks: bool = True,
) -> BlockMask:
    """Return the mask that a function of positions describes, with its blocks.

    Parameters
    ----------
    mask_mod : callable. ``mask_mod(b, h, q, kv)`` is True where a query sees a key.
    B, H : int or None. The sizes of batch and heads; None if they do not matter.
    Q_LEN, KV_LEN : int. The numbers of queries and keys.
    device : Device, optional. Has no effect.
    BLOCK_SIZE : int or tuple of int. The numbers of queries and keys in a block.
    _compile : bool. Has no effect.
    separate_full_blocks : bool. Whether blocks that are shown whole are listed apart.
    """
    if _takes_scores(mask_mod):
        raise AssertionError(f"create-block_mask requires a mask_mod function! Got {mask_mod}")
    down, right = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN)
    batch, heads = mask.shape[:2]
    mask = pad(mask, (0, -KV_LEN % right, 0, -Q_LEN % down))
    parts = mask.reshape(batch, heads, mask.shape[2] // down, down, mask.shape[3] // right, right)
    shown = parts.sum((3, 5))
    full = (shown == down * right) & separate_full_blocks
    whole: tuple[Any, Any] = _ordered(full) if separate_full_blocks else (None, None)
    return BlockMask.from_kv_blocks(
        *_ordered((shown > 0) & ~full), *whole, (down, right), mask_mod, (Q_LEN, KV_LEN)
    )


def flex_attention(
    query: Any,
    key: Any,
    value: Any,
    score_mod: Callable[..., Any] | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Scaled dot-product attention with a function that changes scores, and one that hides keys.

    Parameters
    ----------
    query : Tensor. Of shape (batch, heads, queries, size).
    key, value : Tensor. Of shape (batch, heads, keys, size).
    score_mod : callable, optional. ``score_mod(score, b, h, q, kv)`` returns the score to use.
    block_mask : BlockMask, optional. The keys that each query sees; see `create_block_mask`.
    scale : float, optional. Multiplies the products; default: 1 / sqrt(size).
    enable_gqa : bool. Whether key and value may have fewer heads, each for a group of queries'.
    return_lse : bool. Whether to return the log of each query's sum of exponentials, too.
    kernel_options : dict, optional. Has no effect.
    return_aux : AuxRequest, optional. What to return beside the result, as an `AuxOutput`.

    Returns
    -------
    Tensor: Of shape (batch, heads, queries, size); 0 for queries that see no key. Differentiable,
        also with respect to tensors that `score_mod` closes over.

    Examples
    --------
    >>> from wengert.nn.attention.flex_attention import create_block_mask, flex_attention
    >>> q = wg.ones(1, 1, 2, 2)
    >>> v = wg.tensor([[[[0.0, 2.0], [4.0, 6.0]]]])
    >>> mask = create_block_mask(lambda b, h, q, kv: q >= kv, None, None, 2, 2)
    >>> flex_attention(q, q, v, block_mask=mask)
    tensor([[[[0., 2.],
              [2., 4.]]]])
    """
    _check(query, key, value, block_mask, enable_gqa)
    if return_lse and return_aux is not None:
        raise ValueError(
            "Cannot specify both return_lse and return_aux. return_lse is deprecated, please use "
            "return_aux=AuxRequest(lse=True) instead."
        )
    group = query.shape[1] // key.shape[1]
    if group > 1:
        key, value = (repeat_interleave(one, group, dim=1) for one in (key, value))
    wide = as_dtype("float64" if query.dtype.itemsize == 8 else "float32")
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = matmul(query.to(wide), key.to(wide).transpose(-2, -1)) * scale
    sizes = tuple(scores.shape)
    if score_mod is not None:
        scores = _everywhere(score_mod, sizes, scores).to(wide)
    if block_mask is not None and block_mask.mask_mod is not noop_mask:
        shown = _everywhere(block_mask.mask_mod, sizes)
        scores = where(shown, scores, scores.new_full((), -math.inf))
    hidden = (scores == -math.inf).all(-1, keepdim=True)
    # a row without a score would give NaN, in derivatives too
    safe = masked_fill(scores, hidden, 0.0)
    weights = masked_fill(softmax(safe, dim=-1), hidden, 0.0)
    out = matmul(weights, value.to(wide)).to(query.dtype)
    if not return_lse and return_aux is None:
        return out
    wanted = return_aux or AuxRequest(lse=True)
    flat = hidden.squeeze(-1)
    lse = masked_fill(safe.logsumexp(-1), flat, -math.inf) if wanted.lse else None
    most = scores.amax(-1) if wanted.max_scores else None
    return (out, lse) if return_lse else (out, AuxOutput(lse, most))


def _check(query: Any, key: Any, value: Any, block_mask: Any, enable_gqa: bool) -> None:
    """Refuse shapes that do not fit, as PyTorch does."""
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension but got "
            f"E={query.shape[-1]} and E={key.shape[-1]}."
        )
    heads = f"but got Hq={query.shape[1]} and Hkv={key.shape[1]}."
    if not enable_gqa and query.shape[1] != key.shape[1]:
        raise ValueError(
            f"Expect query and key/value to have the same number of heads {heads} Try setting "
            "enable_gqa=True for GQA."
        )
    if query.shape[1] % key.shape[1]:
        raise ValueError(
            f"Expect number of query heads to be a multiple of kv heads for GQA {heads}"
        )
    if query.shape[0] != key.shape[0] and (
        block_mask is None or block_mask.kv_num_blocks.shape[0] != query.shape[0]
    ):
        raise ValueError(
            "Expect query and key/value to have the same batch size, or a block_mask of the "
            f"query's, but got Bq={query.shape[0]} and Bkv={key.shape[0]}."
        )
    if block_mask is None:
        return
    if block_mask.mask_mod is _sliced:
        raise RuntimeError("Cannot use mask_mod from a sliced BlockMask")
    if tuple(block_mask.shape[-2:]) != (query.shape[-2], key.shape[-2]):
        raise ValueError(
            f"block_mask was created for block_mask.shape={block_mask.shape} but got "
            f"q_len={query.shape[-2]} and kv_len={key.shape[-2]}. Create a new one, or crop a "
            "larger one with block_mask._adjust(q_len, kv_len)."
        )


__all__ = defined(globals())
