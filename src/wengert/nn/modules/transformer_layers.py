"""Layer 8 · nn: single layers of encoders and decoders with attention."""

# the classes and arguments have PyTorch's names

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.base.dtypes import dtype
from wengert.nn import functional as F
from wengert.nn.modules.attention import MultiheadAttention
from wengert.nn.modules.dropout import Dropout
from wengert.nn.modules.linear import Linear
from wengert.nn.modules.module import Module
from wengert.nn.modules.normalisation import LayerNorm
from wengert.ops.multihead import canonical_mask
from wengert.types import Device, Tensor

Activation = str | Callable[[Any], Any]


def _function(activation: Activation) -> Callable[[Any], Any]:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return F.relu if activation == "relu" else F.gelu


class _Layer(Module):
    """The common base of encoder and decoder layers: all but the choice of keys."""

    # the attentions in order; each has the normalisation and the dropout of the same number
    _attentions: tuple[str, ...]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        of: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        for name in self._attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout=dropout, batch_first=batch_first, **of
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, **of)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **of)
        self.norm_first = norm_first
        numbers = range(1, len(self._attentions) + 2)
        for i in numbers:
            setattr(self, f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, **of))
        for i in numbers:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _function(activation)

    def _attended(
        self, at: int, x: Any, others: Any, mask: Any, padding: Any, is_causal: bool
    ) -> Any:
        """Return the result of attention number `at` for queries `x` and keys `others`."""
        attention = getattr(self, self._attentions[at])
        result, _ = attention(
            x,
            others,
            others,
            attn_mask=mask,
            key_padding_mask=padding,
            need_weights=False,
            is_causal=is_causal,
        )
        return getattr(self, f"dropout{at + 1}")(result)

    def _fed_forward(self, x: Any) -> Any:
        inner = self.dropout(self.activation(self.linear1(x)))
        return getattr(self, f"dropout{len(self._attentions) + 1}")(self.linear2(inner))

    def _added(self, at: int, x: Any, block: Callable[[Any], Any]) -> Any:
        """Return `x` plus ``block(x)``, normalised before the block or after the sum."""
        norm = getattr(self, f"norm{at + 1}")
        return x + block(norm(x)) if self.norm_first else norm(x + block(x))


class TransformerEncoderLayer(_Layer):
    """An encoder layer: self-attention and a feed-forward block, both with residual connections.

    Call it with a tensor of shape (steps, batch, d_model), or (batch, steps, d_model) with
    `batch_first`, or (steps, d_model). It returns a tensor of the same shape.

    Parameters
    ----------
    d_model : int. The number of features.
    nhead : int. The number of heads.
    dim_feedforward : int. The number of features between the linear layers.
    dropout : float. The probability that an element becomes 0 during training.
    activation : str or callable. ``"relu"``, ``"gelu"``, or a function of a tensor.
    layer_norm_eps : float. Added to the variances in normalisations.
    batch_first : bool. Whether the batch is the first dimension.
    norm_first : bool. Whether to normalise before attention and linear layers, rather than after
        the sums.
    bias : bool. Whether the layers have biases.
    %(of_the_parameters)s

    Raises
    ------
    RuntimeError: If `activation` is an unknown string.

    Examples
    --------
    >>> wg.nn.TransformerEncoderLayer(6, 2, 8)(wg.ones(5, 3, 6)).shape
    torch.Size([5, 3, 6])
    """

    _attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Apply the layer to a sequence.

        Parameters
        ----------
        src : Tensor. The sequence.
        src_mask, src_key_padding_mask : Tensor, optional. See
            `functional.multi_head_attention_forward`.
        is_causal : bool. A promise that `src_mask` is causal.
        """
        padding = canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", src, src_mask, "src_mask"
        )
        mask = canonical_mask(src_mask, "src_mask", src)
        x = self._added(0, src, lambda y: self._attended(0, y, y, mask, padding, is_causal))
        return self._added(1, x, self._fed_forward)


class TransformerDecoderLayer(_Layer):
    """A decoder layer: self-attention, attention to the encoder, and a feed-forward block.

    Call it with a sequence and the encoder's result, the memory. It returns a tensor of the shape
    of the sequence (see `TransformerEncoderLayer` for shapes and parameters).

    Examples
    --------
    >>> layer = wg.nn.TransformerDecoderLayer(6, 2, 8, batch_first=True)
    >>> layer(wg.ones(3, 4, 6), wg.ones(3, 5, 6)).shape
    torch.Size([3, 4, 6])
    """

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Apply the layer to a sequence and the memory.

        Parameters
        ----------
        %(decoder_masks)s
        tgt_is_causal, memory_is_causal : bool. Promises that `tgt_mask` and `memory_mask` are
            causal.
        """

        def to_itself(x: Any) -> Any:
            return self._attended(0, x, x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)

        def to_memory(x: Any) -> Any:
            return self._attended(
                1, x, memory, memory_mask, memory_key_padding_mask, memory_is_causal
            )

        x = self._added(0, tgt, to_itself)
        x = self._added(1, x, to_memory)
        return self._added(2, x, self._fed_forward)
