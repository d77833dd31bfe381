"""Denoising diffusion of a mixture of points, with sinusoidal embeddings of time."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
STEPS = 20
betas = torch.linspace(1e-4, 0.2, STEPS)
alphas = 1.0 - betas
bars = torch.cumprod(alphas, dim=0)


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        half = dim // 2
        self.register_buffer("rates", torch.exp(-math.log(1000) * torch.arange(half) / half))

    def forward(self, t):
        angles = t.float()[:, None] * self.rates[None]
        return torch.cat([angles.sin(), angles.cos()], dim=-1)


class Denoiser(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.time = TimeEmbedding(dim)
        self.inner = nn.Linear(2 + dim, 32)
        self.norm = nn.LayerNorm(32)
        self.out = nn.Linear(32, 2)

    def forward(self, x, t):
        h = self.inner(torch.cat([x, self.time(t)], dim=1))
        return self.out(F.gelu(self.norm(h)))


model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=30)
centres = torch.tensor([[2.0, 2.0], [-2.0, -2.0]])
for step in range(30):
    x0 = centres[torch.randint(0, 2, (64,))] + 0.1 * torch.randn(64, 2)
    t = torch.randint(0, STEPS, (64,))
    noise = torch.randn_like(x0)
    xt = bars[t].sqrt()[:, None] * x0 + (1 - bars[t]).sqrt()[:, None] * noise
    loss = F.mse_loss(model(xt, t), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 10 == 9:
        print(step, f"{loss.item():.5f}", scheduler.get_last_lr())


@torch.no_grad()
def sample(n):
    x = torch.randn(n, 2)
    for i in reversed(range(STEPS)):
        t = torch.full((n,), i, dtype=torch.long)
        eps = model(x, t)
        x = (x - betas[i] / (1 - bars[i]).sqrt() * eps) / alphas[i].sqrt()
        if i > 0:
            x += betas[i].sqrt() * torch.randn_like(x)
    return x


print(sample(3))
