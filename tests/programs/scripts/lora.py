"""Low-rank adapters on a frozen network, a replaced module, and merged weights."""

import math

import torch
import torch.nn as nn


class LoRA(nn.Module):
    def __init__(self, base: nn.Linear, r: int = 2, alpha: float = 4.0):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Parameter(base.weight.new_empty(r, base.in_features))
        self.b = nn.Parameter(base.weight.new_zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))
        self.scale = alpha / r

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.a.T @ self.b.T)

    @torch.no_grad()
    def merge(self):
        self.base.weight += self.scale * self.b @ self.a
        return self.base


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))
net.requires_grad_(False)
for name, module in list(net.named_modules()):
    if isinstance(module, nn.Linear):
        setattr(net, name, LoRA(module))
trainable = [p for p in net.parameters() if p.requires_grad]
print(len(trainable), sum(p.numel() for p in trainable))
optimizer = torch.optim.Adam(trainable, lr=0.05)
x, y = torch.randn(16, 5), torch.randn(16, 3)
for _ in range(15):
    loss = (net(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.6f}", net[0].base.weight.grad)
before = net(x)
for i in (0, 2):
    net[i] = net[i].merge()
print(torch.allclose(before, net(x), atol=1e-5), net)
