"""Bayesian regression: conjugate updates, variational inference, and importance sampling."""

import torch
from torch.distributions import (
    Gamma,
    Independent,
    MultivariateNormal,
    Normal,
    StudentT,
    kl_divergence,
)

torch.manual_seed(0)
X = torch.cat([torch.ones(30, 1), torch.linspace(-1, 1, 30).unsqueeze(1)], 1)
w = torch.tensor([0.5, -1.5])
y = X @ w + 0.2 * torch.randn(30)
precision = X.T @ X / 0.04 + torch.eye(2)
posterior = MultivariateNormal(
    torch.linalg.solve(precision, X.T @ y / 0.04), precision_matrix=precision
)
print(posterior.mean, posterior.covariance_matrix.diagonal())
loc, log_scale = torch.zeros(2, requires_grad=True), torch.zeros(2, requires_grad=True)
optimizer = torch.optim.Adam([loc, log_scale], lr=0.1)
prior = Independent(Normal(torch.zeros(2), 1.0), 1)
for _ in range(60):
    q = Independent(Normal(loc, log_scale.exp()), 1)
    sample = q.rsample((8,))
    elbo = Normal(sample @ X.T, 0.2).log_prob(y).sum(1).mean() - kl_divergence(q, prior)
    optimizer.zero_grad()
    (-elbo).backward()
    optimizer.step()
print(f"{elbo.item():.3f}", loc.data, log_scale.data.exp())
draws = q.sample((200,))
weight = (
    Normal(draws @ X.T, 0.2).log_prob(y).sum(1) + prior.log_prob(draws) - q.log_prob(draws)
).softmax(0)
print(weight @ draws, 1 / weight.square().sum())
print(StudentT(3.0).log_prob(torch.tensor([0.0, 1.0])), Gamma(2.0, 3.0).rsample((2,)))
