"""Gradients of each sample by vmap, Jacobians, Hessians, and an ensemble of models."""

import copy

import torch
from torch import nn
from torch.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
    vmap,
)

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
params = {k: v.detach() for k, v in model.named_parameters()}
x, y = torch.randn(5, 3), torch.randint(0, 2, (5,))


def loss(params, sample, target):
    out = functional_call(model, params, (sample.unsqueeze(0),))
    return nn.functional.cross_entropy(out, target.unsqueeze(0))


per = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
print({k: v.shape for k, v in per.items()})
whole = nn.functional.cross_entropy(model(x), y, reduction="sum")
whole.backward()
print(all(torch.allclose(per[k].sum(0), p.grad, atol=1e-6) for k, p in model.named_parameters()))
g, value = grad_and_value(loss)(params, x[0], y[0])
print(value, g["2.bias"])
f = lambda z: functional_call(model, params, (z,)).sin()  # noqa: E731
print(
    torch.allclose(jacrev(f)(x[0]), jacfwd(f)(x[0]), atol=1e-6), hessian(lambda z: f(z).sum())(x[0])
)
out, pull = vjp(f, x[0])
print(pull(torch.ones_like(out))[0], jvp(f, (x[0],), (torch.ones(3),))[1])
models = [nn.Linear(3, 1) for _ in range(4)]
stacked, buffers = stack_module_state(models)
base = copy.deepcopy(models[0])
print(vmap(lambda p, b: functional_call(base, (p, b), (x,)))(stacked, buffers).shape)
print(vmap(vmap(torch.dot))(torch.ones(2, 3, 4), torch.ones(2, 3, 4)))
kernel = torch.einsum(
    "nop,mqp->nmoq",
    *[jacrev(lambda p: functional_call(model, p, (x,)))(params)["0.weight"].flatten(2)] * 2,
)
print(kernel.shape, kernel.diagonal(dim1=0, dim2=1).sum())
