"""Sine networks that represent an image, a radiance field along rays, and a deep equilibrium model."""

import math

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)


class SineLayer(nn.Module):
    def __init__(self, i, o, first=False, omega=30.0):
        super().__init__()
        self.omega, self.linear = omega, nn.Linear(i, o)
        with torch.no_grad():
            bound = 1 / i if first else math.sqrt(6 / i) / omega
            self.linear.weight.uniform_(-bound, bound)

    def forward(self, x):
        return torch.sin(self.omega * self.linear(x))


siren = nn.Sequential(SineLayer(2, 16, first=True), SineLayer(16, 16), nn.Linear(16, 1))
grid = torch.stack(
    torch.meshgrid(torch.linspace(-1, 1, 8), torch.linspace(-1, 1, 8), indexing="xy"), -1
).view(-1, 2)
image = (grid[:, :1] * grid[:, 1:]).cos()
optimizer = torch.optim.Adam(siren.parameters(), lr=1e-3)
for it in range(10):
    loss = (siren(grid) - image).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.5f}")


def encode(x, n=3):
    freqs = 2.0 ** torch.arange(n)
    angles = (x[..., None] * freqs).flatten(-2)
    return torch.cat([x, angles.sin(), angles.cos()], -1)


field = nn.Sequential(nn.Linear(21, 24), nn.ReLU(), nn.Linear(24, 4))
origin, direction = torch.zeros(5, 3), nn.functional.normalize(torch.randn(5, 3), dim=-1)
t = torch.linspace(0.5, 2, 9)
points = origin[:, None] + direction[:, None] * t[:, None]
out = checkpoint(field, encode(points), use_reentrant=False)
rgb, sigma = out[..., :3].sigmoid(), nn.functional.softplus(out[..., 3])
alpha = 1 - torch.exp(-sigma[:, :-1] * t.diff())
through = torch.cumprod(torch.cat([torch.ones(5, 1), 1 - alpha + 1e-10], 1), 1)[:, :-1]
colour = ((alpha * through)[..., None] * rgb[:, :-1]).sum(1)
colour.mean().backward()
print(colour.mean(), field[0].weight.grad.norm())


class DEQ(nn.Module):
    def __init__(self, n=6):
        super().__init__()
        self.a, self.b = nn.Linear(n, n, bias=False), nn.Linear(n, n)
        self.a.weight.data *= 0.3

    def forward(self, x):
        with torch.no_grad():
            z = torch.zeros_like(x)
            for _ in range(40):
                z = torch.tanh(self.a(z) + self.b(x))
        z = torch.tanh(self.a(z) + self.b(x))
        z0 = z.clone().detach().requires_grad_()
        f0 = torch.tanh(self.a(z0) + self.b(x))

        def backward_hook(grad):
            g = grad
            for _ in range(40):
                g = torch.autograd.grad(f0, z0, g, retain_graph=True)[0] + grad
            return g

        z.register_hook(backward_hook)
        return z


deq = DEQ()
deq(torch.randn(4, 6)).sum().backward()
print(deq.a.weight.grad.norm(), deq.b.bias.grad)
