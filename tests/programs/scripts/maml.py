"""Model-agnostic meta-learning of sine waves, with functional_call and second derivatives."""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(2)
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
meta = torch.optim.Adam(net.parameters(), lr=1e-2)


def task():
    phase, size = torch.rand(1) * 3.14, torch.rand(1) * 2 + 0.5
    return lambda x: size * torch.sin(x + phase)


for it in range(8):
    meta.zero_grad()
    total = 0.0
    for _ in range(3):
        f = task()
        xs, xq = torch.rand(10, 1) * 4 - 2, torch.rand(10, 1) * 4 - 2
        params = dict(net.named_parameters())
        for _ in range(2):
            loss = ((functional_call(net, params, (xs,)) - f(xs)) ** 2).mean()
            grads = torch.autograd.grad(loss, params.values(), create_graph=True)
            params = {k: p - 0.1 * g for (k, p), g in zip(params.items(), grads)}
        total = total + ((functional_call(net, params, (xq,)) - f(xq)) ** 2).mean()
    total.backward()
    meta.step()
    print(it, f"{total.item():.5f}")
