"""A small character-level transformer that learns a nursery rhyme."""

import math
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.nn import functional as F

TEXT = "hickory dickory dock the mouse ran up the clock " * 4
chars = sorted(set(TEXT))
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
data = torch.tensor([stoi[c] for c in TEXT], dtype=torch.long)


@dataclass
class Config:
    vocab: int = len(chars)
    block: int = 16
    width: int = 32
    heads: int = 4
    layers: int = 2
    dropout: float = 0.0


class Attention(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.qkv = nn.Linear(c.width, 3 * c.width, bias=False)
        self.proj = nn.Linear(c.width, c.width, bias=False)
        self.heads = c.heads
        self.register_buffer(
            "mask", torch.tril(torch.ones(c.block, c.block)).view(1, 1, c.block, c.block)
        )

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (z.view(B, T, self.heads, C // self.heads).transpose(1, 2) for z in (q, k, v))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Block(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(c.width), nn.LayerNorm(c.width)
        self.attn = Attention(c)
        self.mlp = nn.ModuleDict(
            dict(
                fc=nn.Linear(c.width, 4 * c.width),
                act=nn.GELU(approximate="tanh"),
                out=nn.Linear(4 * c.width, c.width),
            )
        )

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        m = self.mlp
        return x + m.out(m.act(m.fc(self.ln2(x))))


class GPT(nn.Module):
    def __init__(self, c: Config):
        super().__init__()
        self.c = c
        self.wte = nn.Embedding(c.vocab, c.width)
        self.wpe = nn.Embedding(c.block, c.width)
        self.blocks = nn.ModuleList([Block(c) for _ in range(c.layers)])
        self.ln = nn.LayerNorm(c.width)
        self.head = nn.Linear(c.width, c.vocab, bias=False)
        self.wte.weight = self.head.weight
        self.apply(self._init)

    @staticmethod
    def _init(m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            torch.nn.init.normal_(m.weight, mean=0.0, std=0.02)
        if isinstance(m, nn.Linear) and m.bias is not None:
            torch.nn.init.zeros_(m.bias)

    def forward(self, idx, targets=None):
        T = idx.size(1)
        x = self.wte(idx) + self.wpe(
            torch.arange(0, T, dtype=torch.long, device=idx.device).unsqueeze(0)
        )
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.ln(x))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(
                logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1
            )
        return logits, loss

    @torch.no_grad()
    def generate(self, idx, n, temperature=1.0, top_k=None):
        for _ in range(n):
            logits, _ = self(idx[:, -self.c.block :])
            logits = logits[:, -1, :] / temperature
            if top_k is not None:
                v, _ = torch.topk(logits, top_k)
                logits[logits < v[:, [-1]]] = -float("Inf")
            probs = F.softmax(logits, dim=-1)
            idx = torch.cat((idx, torch.multinomial(probs, num_samples=1)), dim=1)
        return idx


torch.manual_seed(1337)
c = Config()
model = GPT(c)
decay = [p for p in model.parameters() if p.dim() >= 2]
rest = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW(
    [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}],
    lr=3e-3,
    betas=(0.9, 0.95),
)
print(sum(p.numel() for p in model.parameters()))
for it in range(12):
    ix = torch.randint(len(data) - c.block, (8,))
    x = torch.stack([data[i : i + c.block] for i in ix])
    y = torch.stack([data[i + 1 : i + 1 + c.block] for i in ix])
    _, loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if it % 4 == 3:
        print(it, f"{loss.item():.4f}", f"{norm:.4f}")
out = model.generate(torch.zeros((1, 1), dtype=torch.long), 30, top_k=5)[0].tolist()
print("".join(itos[i] for i in out))
