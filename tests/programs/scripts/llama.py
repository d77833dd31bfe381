"""A decoder with rotary positions, RMS norm, SwiGLU, grouped queries and a cache of keys and values."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float = 1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        return (
            x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)
        ).type_as(x) * self.weight


def rotations(dim: int, end: int, theta: float = 10000.0) -> Tensor:
    rates = 1.0 / (theta ** (torch.arange(0, dim, 2)[: dim // 2].float() / dim))
    angles = torch.outer(torch.arange(end), rates)
    return torch.polar(torch.ones_like(angles), angles)


def rotate(x: Tensor, by: Tensor) -> Tensor:
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(z * by[None, :, None, :]).flatten(3).type_as(x)


class Attention(nn.Module):
    def __init__(self, dim=32, heads=4, kv_heads=2):
        super().__init__()
        self.heads, self.kv, self.size = heads, kv_heads, dim // heads
        self.wq = nn.Linear(dim, heads * self.size, bias=False)
        self.wk = nn.Linear(dim, kv_heads * self.size, bias=False)
        self.wv = nn.Linear(dim, kv_heads * self.size, bias=False)
        self.wo = nn.Linear(heads * self.size, dim, bias=False)

    def forward(self, x, by, cache=None):
        b, t, _ = x.shape
        q = rotate(self.wq(x).view(b, t, self.heads, self.size), by)
        k = rotate(self.wk(x).view(b, t, self.kv, self.size), by)
        v = self.wv(x).view(b, t, self.kv, self.size)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 1), torch.cat([cache[1], v], 1)
        kept = (k.detach(), v.detach())
        k, v = (z.repeat_interleave(self.heads // self.kv, dim=2).transpose(1, 2) for z in (k, v))
        out = F.scaled_dot_product_attention(q.transpose(1, 2), k, v, is_causal=cache is None)
        return self.wo(out.transpose(1, 2).reshape(b, t, -1)), kept


class Layer(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.attention, self.n1, self.n2 = Attention(dim), RMSNorm(dim), RMSNorm(dim)
        self.w1, self.w3 = nn.Linear(dim, 64, bias=False), nn.Linear(dim, 64, bias=False)
        self.w2 = nn.Linear(64, dim, bias=False)

    def forward(self, x, by, cache=None):
        h, kept = self.attention(self.n1(x), by, cache)
        x = x + h
        n = self.n2(x)
        return x + self.w2(F.silu(self.w1(n)) * self.w3(n)), kept


torch.manual_seed(0)
embed, layer, norm, head = nn.Embedding(20, 32), Layer(), RMSNorm(32), nn.Linear(32, 20, bias=False)
by = rotations(8, 32)
params = [p for m in (embed, layer, norm, head) for p in m.parameters()]
optimizer = torch.optim.AdamW(params, lr=1e-2, betas=(0.9, 0.95), eps=1e-5)
tokens = torch.arange(17).remainder(7).repeat(4, 1) + torch.arange(4)[:, None]
for it in range(10):
    logits = head(norm(layer(embed(tokens[:, :-1]), by[:16])[0]))
    loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.5f}")
with torch.inference_mode():
    whole = head(norm(layer(embed(tokens[:, :6]), by[:6])[0]))
    out, cache = layer(embed(tokens[:, :5]), by[:5])
    last, cache = layer(embed(tokens[:, 5:6]), by[5:6], cache)
    print(torch.allclose(head(norm(last))[:, 0], whole[:, -1], atol=1e-5), cache[0].shape)
