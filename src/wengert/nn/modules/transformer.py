"""Layer 8 · nn: encoders and decoders with attention."""

# the classes and arguments have PyTorch's names

from __future__ import annotations

import copy
import math
from typing import Any

from wengert.base.dtypes import dtype
from wengert.base.elsewhere import elsewhere
from wengert.interp.levels import Lifted
from wengert.nn import functional as F
from wengert.nn import init
from wengert.nn.modules.container import ModuleList
from wengert.nn.modules.module import Module
from wengert.nn.modules.normalisation import LayerNorm
from wengert.nn.modules.transformer_layers import (
    Activation,
    TransformerDecoderLayer,
    TransformerEncoderLayer,
)
from wengert.ops.arrange import triu
from wengert.ops.create import full
from wengert.ops.multihead import canonical_mask
from wengert.types import Device, Tensor

__all__ = ["Transformer", "TransformerDecoder", "TransformerEncoder"]

__getattr__ = elsewhere(__name__)  # PyTorch has more here


def _causal_mask(size: int, device: Device = None, dtype: dtype | None = None) -> Any:
    """Return a mask: minus infinity, or True for bools, above the diagonal, and 0 elsewhere."""
    return triu(full((size, size), -math.inf, dtype=dtype, device=device), 1)


def _is_causal(mask: Any, promised: bool | None, sequence: Any, batch_first: bool) -> bool:
    """Return whether a mask is causal: as promised, or according to its values.

    The answer only affects how the result is computed. So a mask of a transform or a program, which
    has no values to look at, counts as not causal.
    """
    if promised is not None or mask is None:
        return promised is True
    if isinstance(mask._payload, Lifted):
        return False
    steps = sequence.shape[1 if batch_first and sequence.dim() == 3 else 0]
    if tuple(mask.shape) != (steps, steps):
        return False
    return bool((mask == _causal_mask(steps, dtype=mask.dtype)).all())


def _copies(layer: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


class TransformerEncoder(Module):
    """A stack of encoder layers.

    Parameters
    ----------
    encoder_layer : TransformerEncoderLayer. Copied for each layer, including its parameters.
    num_layers : int. The number of layers.
    norm : Module, optional. Applied to the result.
    enable_nested_tensor, mask_check : bool. Have no effect: there are no nested tensors.

    Examples
    --------
    >>> layer = wg.nn.TransformerEncoderLayer(6, 2, 8)
    >>> wg.nn.TransformerEncoder(layer, 2)(wg.ones(5, 3, 6)).shape
    torch.Size([5, 3, 6])
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Apply the layers to a sequence.

        Parameters
        ----------
        src : Tensor. The sequence.
        mask, src_key_padding_mask : Tensor, optional. See
            `functional.multi_head_attention_forward`.
        is_causal : bool, optional. Whether `mask` is causal; by default, its values are checked.
        """
        padding = canonical_mask(src_key_padding_mask, "src_key_padding_mask", src, mask, "mask")
        mask = canonical_mask(mask, "mask", src)
        first: Any = self.layers[0]
        causal = _is_causal(mask, is_causal, src, first.self_attn.batch_first)
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        return output if self.norm is None else self.norm(output)


class TransformerDecoder(Module):
    """A stack of decoder layers.

    Parameters
    ----------
    decoder_layer : TransformerDecoderLayer. Copied for each layer, including its parameters.
    num_layers : int. The number of layers.
    norm : Module, optional. Applied to the result.

    Examples
    --------
    >>> decoder = wg.nn.TransformerDecoder(wg.nn.TransformerDecoderLayer(6, 2, 8), 2)
    >>> decoder(wg.ones(4, 3, 6), wg.ones(5, 3, 6)).shape
    torch.Size([4, 3, 6])
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Apply the layers to a sequence and the encoder's result.

        Parameters
        ----------
        %(decoder_masks)s
        tgt_is_causal : bool, optional. Whether `tgt_mask` is causal; by default, its values are
            checked.
        memory_is_causal : bool. A promise that `memory_mask` is causal.
        """
        first: Any = self.layers[0]
        causal = _is_causal(tgt_mask, tgt_is_causal, tgt, first.self_attn.batch_first)
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """An encoder and a decoder with attention (A. Vaswani et al., 2017).

    Call it with two sequences, of shapes (s, batch, d_model) and (t, batch, d_model). It returns a
    tensor of the shape of the second.

    Parameters
    ----------
    d_model, nhead : int. The numbers of features and of heads.
    num_encoder_layers, num_decoder_layers : int. The number of layers.
    dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias: See
        `TransformerEncoderLayer`.
    custom_encoder, custom_decoder : Module, optional. Used instead of modules made from the other
        arguments.
    %(of_the_parameters)s

    Examples
    --------
    >>> model = wg.nn.Transformer(6, 2, 1, 1, 8)
    >>> mask = model.generate_square_subsequent_mask(4)
    >>> model(wg.ones(5, 3, 6), wg.ones(4, 3, 6), tgt_mask=mask).shape
    torch.Size([4, 3, 6])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        of: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        settings = d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps
        order = batch_first, norm_first
        if custom_encoder is None:
            layer: Module = TransformerEncoderLayer(*settings, *order, **of)
            norm = LayerNorm(d_model, eps=layer_norm_eps, **of)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*settings, *order, **of)
            norm = LayerNorm(d_model, eps=layer_norm_eps, **of)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, norm)
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Apply the decoder to `tgt` and the encoder's result for `src`.

        Parameters
        ----------
        src, tgt : Tensor. The sequences for encoder and decoder.
        src_mask, tgt_mask, memory_mask : Tensor, optional. The masks of the two self-attentions,
            and of the attention from decoder to encoder.
        src_key_padding_mask, tgt_key_padding_mask, memory_key_padding_mask : Tensor, optional. See
            `functional.multi_head_attention_forward`.
        src_is_causal, tgt_is_causal, memory_is_causal : bool, optional. Whether the masks are
            causal; by default, the values of the first two are checked.

        Raises
        ------
        RuntimeError: If the batches or features do not fit.
        """
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError(
                "the batch number of src and tgt must be equal, not "
                f"{src.shape[batch]} and {tgt.shape[batch]}"
            )
        if not src.shape[-1] == tgt.shape[-1] == self.d_model:
            raise RuntimeError(
                "the feature number of src and tgt must be equal to d_model, which is "
                f"{self.d_model}, not {src.shape[-1]} and {tgt.shape[-1]}"
            )
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: Device = None, dtype: dtype | None = None
    ) -> Any:
        """Return a causal mask: minus infinity where a query would see later keys.

        Examples
        --------
        >>> wg.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        return _causal_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
