"""A network that obeys the heat equation, with second derivatives."""

import torch
import torch.nn as nn

torch.manual_seed(0)


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(x)


net = nn.Sequential(
    nn.Linear(2, 16), Sine(), nn.Linear(16, 16), nn.Softplus(beta=2), nn.Linear(16, 1)
).double()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


def d(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


for it in range(10):
    xt = torch.rand(32, 2, dtype=torch.double, requires_grad=True)
    u = net(xt)
    du = d(u, xt)
    u_xx = d(du[:, :1], xt)[:, :1]
    residual = du[:, 1:] - 0.1 * u_xx
    x0 = torch.rand(16, 1).double()
    start = net(torch.cat([x0, torch.zeros_like(x0)], 1)) - torch.sin(torch.pi * x0)
    loss = residual.square().mean() + start.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 3 == 0:
        print(it, f"{loss.item():.8f}")
