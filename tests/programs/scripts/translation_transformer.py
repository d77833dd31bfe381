"""nn.Transformer as a translator of numbers, with masks of all kinds."""

import math

import torch
import torch.nn as nn
from torch import Tensor
from torch.nn import Transformer


class Positions(nn.Module):
    def __init__(self, size: int, dropout: float, maxlen: int = 50):
        super().__init__()
        den = torch.exp(-torch.arange(0, size, 2) * math.log(10000) / size)
        pos = torch.arange(0, maxlen).reshape(maxlen, 1)
        table = torch.zeros((maxlen, size))
        table[:, 0::2] = torch.sin(pos * den)
        table[:, 1::2] = torch.cos(pos * den)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("table", table.unsqueeze(-2))

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(x + self.table[: x.size(0), :])


class Seq2Seq(nn.Module):
    def __init__(self, vocab=12, size=16):
        super().__init__()
        self.transformer = Transformer(
            d_model=size,
            nhead=2,
            num_encoder_layers=1,
            num_decoder_layers=1,
            dim_feedforward=32,
            dropout=0.0,
        )
        self.out, self.embed, self.size = nn.Linear(size, vocab), nn.Embedding(vocab, size), size
        self.positions = Positions(size, 0.0)

    def forward(self, src, tgt, src_pad, tgt_pad):
        causal = Transformer.generate_square_subsequent_mask(tgt.size(0))
        scale = math.sqrt(self.size)
        s, t = (self.positions(self.embed(z) * scale) for z in (src, tgt))
        out = self.transformer(
            s,
            t,
            tgt_mask=causal,
            src_key_padding_mask=src_pad,
            tgt_key_padding_mask=tgt_pad,
            memory_key_padding_mask=src_pad,
        )
        return self.out(out)


torch.manual_seed(0)
model = Seq2Seq()
for p in model.parameters():
    if p.dim() > 1:
        nn.init.xavier_uniform_(p)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.98), eps=1e-9)
criterion = nn.CrossEntropyLoss(ignore_index=0)
src = torch.randint(3, 12, (6, 4))
src[4:, 0] = 0
tgt = torch.cat([torch.ones(1, 4, dtype=torch.long), src.flip(0)])
for it in range(8):
    inp, out = tgt[:-1], tgt[1:]
    pads = (src == 0).transpose(0, 1), torch.zeros(4, 6, dtype=torch.bool)
    logits = model(src, inp, *pads)
    loss = criterion(logits.reshape(-1, logits.shape[-1]), out.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(it, f"{loss.item():.4f}")
attention = nn.MultiheadAttention(16, 4, batch_first=True, kdim=8, vdim=8)
o, w = attention(
    torch.randn(2, 3, 16), torch.randn(2, 5, 8), torch.randn(2, 5, 8), average_attn_weights=False
)
print(o.shape, w.shape, w.sum(-1).mean())
