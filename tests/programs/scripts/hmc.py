"""Hamiltonian Monte Carlo on Neal's funnel, and Langevin dynamics."""

import torch
from torch import distributions as dist

torch.manual_seed(0)


def log_density(q):
    v, x = q[0], q[1:]
    return dist.Normal(0.0, 3.0).log_prob(v) + dist.Normal(0.0, (v / 2).exp()).log_prob(x).sum()


def grad(q):
    q = q.detach().requires_grad_()
    return torch.autograd.grad(log_density(q), q)[0]


q = torch.zeros(3)
accepted, kept = 0, []
for it in range(30):
    p = torch.randn_like(q)
    new, momentum = q.clone(), p.clone()
    for _ in range(8):
        momentum += 0.05 * grad(new)
        new += 0.1 * momentum
        momentum += 0.05 * grad(new)
    ratio = log_density(new) - momentum.dot(momentum) / 2 - log_density(q) + p.dot(p) / 2
    if torch.rand(()).log() < ratio:
        q, accepted = new, accepted + 1
    kept.append(q)
samples = torch.stack(kept)
print(accepted, samples.mean(0), samples.std(0))
mixture = dist.MixtureSameFamily(
    dist.Categorical(torch.ones(3)), dist.Normal(torch.tensor([-2.0, 0.0, 3.0]), 0.5)
)
x = torch.randn(4)
for _ in range(20):
    x = x.detach().requires_grad_()
    mixture.log_prob(x).sum().backward()
    x = x + 0.01 * x.grad + 0.02**0.5 * torch.randn(4)
print(x.detach(), mixture.mean, mixture.variance)
