"""Layer 8 · nn: multi-head attention."""

# the classes and arguments have PyTorch's names

from __future__ import annotations

from wengert.base.dtypes import dtype
from wengert.nn import init
from wengert.nn.modules.linear import NonDynamicallyQuantizableLinear
from wengert.nn.modules.making import new_parameter
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter
from wengert.ops.multihead import multi_head_attention_forward
from wengert.ops.permute import transpose
from wengert.types import Device, Tensor


class MultiheadAttention(Module):
    """Multi-head attention over learned projections (A. Vaswani et al., 2017).

    Called with query, key and value, of shapes (l, batch, embed_dim), (s, batch, kdim) and
    (s, batch, vdim), it returns the result, of the shape of the query, and the weights.

    Parameters
    ----------
    embed_dim : int. The number of features of the query and of the result.
    num_heads : int. The number of heads, among which the features are divided.
    dropout : float. The probability that a weight becomes 0 during training.
    bias : bool. Whether the projections have biases.
    add_bias_kv : bool. Whether a row of parameters is appended to key and value.
    add_zero_attn : bool. Whether a row of zeros is appended to key and value.
    kdim, vdim : int, optional. The number of features of key and value; default: `embed_dim`.
    batch_first : bool. Whether the batch is the first dimension of query, key, value and result.
    %(of_the_parameters)s

    Raises
    ------
    ValueError: If `embed_dim` or `num_heads` is not positive.
    AssertionError: If `num_heads` does not divide `embed_dim`.

    Examples
    --------
    >>> attention = wg.nn.MultiheadAttention(6, 2, batch_first=True)
    >>> x = wg.ones(3, 5, 6)
    >>> result, weights = attention(x, x, x)
    >>> result.shape, weights.shape
    (torch.Size([3, 5, 6]), torch.Size([3, 5, 5]))
    """

    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError(
                f"embed_dim must be divisible by num_heads, but got embed_dim={embed_dim} and "
                f"num_heads={num_heads}"
            )
        apart = not self._qkv_same_embed_dim
        shapes: dict[str, tuple[int, ...] | None] = {
            "q_proj_weight": (embed_dim, embed_dim) if apart else None,
            "k_proj_weight": (embed_dim, self.kdim) if apart else None,
            "v_proj_weight": (embed_dim, self.vdim) if apart else None,
            "in_proj_weight": None if apart else (3 * embed_dim, embed_dim),
            "in_proj_bias": (3 * embed_dim,) if bias else None,
            "bias_k": (1, 1, embed_dim) if add_bias_kv else None,
            "bias_v": (1, 1, embed_dim) if add_bias_kv else None,
        }
        for name, shape in shapes.items():
            made = None if shape is None else new_parameter(shape, device, dtype)
            self.register_parameter(name, made)
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, device=device, dtype=dtype
        )
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            weight = getattr(self, name)
            if weight is not None:
                init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)
        for row in (self.bias_k, self.bias_v):
            if row is not None:
                init.xavier_normal_(row)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return result and weights, or None; see `functional.multi_head_attention_forward`."""
        turned = self.batch_first and query.dim() == 3
        if turned:
            # the same tensor stays one tensor, so that one product projects it
            by_id = {id(t): t for t in (query, key, value)}
            swapped = {at: transpose(t, 0, 1) if t.dim() == 3 else t for at, t in by_id.items()}
            query, key, value = (swapped[id(t)] for t in (query, key, value))
        result, weights = multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (transpose(result, 0, 1) if turned else result), weights
