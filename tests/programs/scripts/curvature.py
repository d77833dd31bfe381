"""Products with Hessians, Gauss-Newton, influence of samples, and a natural gradient."""

import torch
from torch import nn
from torch.autograd.functional import hessian, hvp, jacobian, vhp
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
model = nn.Linear(3, 1)
x, y = torch.randn(20, 3), torch.randn(20, 1)


def loss_of(params, rows=slice(None)):
    w, b = params[:3].view(1, 3), params[3:]
    return (x[rows] @ w.T + b - y[rows]).pow(2).mean()


p = parameters_to_vector(model.parameters()).detach()
H = hessian(loss_of, p)
v = torch.randn(4)
print(torch.allclose(hvp(loss_of, p, v)[1], H @ v), torch.allclose(vhp(loss_of, p, v)[1], v @ H))
best = p - torch.linalg.solve(H, jacobian(loss_of, p))
vector_to_parameters(best, model.parameters())
print(loss_of(best), model.weight.data)


def cg(A, b, n=10):
    s, r = torch.zeros_like(b), b.clone()
    d, old = r.clone(), r @ r
    for _ in range(n):
        Ad = A(d)
        a = old / (d @ Ad)
        s, r = s + a * d, r - a * Ad
        new = r @ r
        if new < 1e-12:
            break
        d, old = r + new / old * d, new
    return s


g = jacobian(lambda q: loss_of(q, slice(0, 1)), best)
influence = -cg(lambda d: hvp(loss_of, best, d)[1], g)
print(influence)
logits = nn.Linear(3, 4)
for p in logits.parameters():
    p.requires_grad_()
out = logits(x).log_softmax(1)
label = torch.multinomial(out.exp(), 1)
fisher = [0.0 for _ in logits.parameters()]
for i in range(5):
    grads = torch.autograd.grad(out[i, label[i, 0]], list(logits.parameters()), retain_graph=True)
    fisher = [f + g.pow(2) / 5 for f, g in zip(fisher, grads)]
print([f.sum() for f in fisher])
torch.set_default_dtype(torch.float32)
