"""A neural differential equation with the adjoint method in a custom Function."""

import torch
import torch.nn as nn


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, t, y):
        return self.net(y**3)


def rk4(f, y, t0, t1, n):
    h = (t1 - t0) / n
    t = t0
    for _ in range(n):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t = t + h
    return y


class Adjoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, y0, t1, *params):
        ctx.f, ctx.t1 = f, t1
        with torch.no_grad():
            y = rk4(f, y0, 0.0, t1, 8)
        ctx.save_for_backward(y, *params)
        return y

    @staticmethod
    def backward(ctx, grad):
        y, *params = ctx.saved_tensors
        f = ctx.f

        def augmented(t, state):
            y, a = state[0], state[1]
            with torch.enable_grad():
                y = y.detach().requires_grad_(True)
                out = f(t, y)
                grads = torch.autograd.grad(out, (y, *params), -a, allow_unused=True)
            augmented.grads = grads[1:]
            return torch.stack([out.detach(), grads[0]])

        h = ctx.t1 / 8
        state = torch.stack([y, grad])
        total = [torch.zeros_like(p) for p in params]
        for _ in range(8):
            state = state - h * augmented(0.0, state)
            total = [s - h * g for s, g in zip(total, augmented.grads)]
        return (None, state[1], None, *total)


torch.manual_seed(0)
field = Field()
optimizer = torch.optim.SGD(field.parameters(), lr=0.05, momentum=0.9, nesterov=True)
y0 = torch.randn(16, 2) * 0.5
target = y0 @ torch.tensor([[0.8, 0.3], [-0.3, 0.8]])
for it in range(10):
    optimizer.zero_grad()
    made = Adjoint.apply(field, y0, 1.0, *field.parameters())
    loss = (made - target).abs().mean()
    loss.backward()
    optimizer.step()
    if it % 3 == 0:
        print(it, f"{loss.item():.5f}")
exact = (rk4(field, y0, 0.0, 1.0, 8) - target).pow(2).sum()
exact.backward()
print(field.net[0].weight.grad.norm())
