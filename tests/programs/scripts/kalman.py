"""A Kalman filter learned by its likelihood, a hidden Markov model, and optimal transport."""

import torch

torch.manual_seed(0)
F_ = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
H = torch.tensor([[1.0, 0.0]])
noise = torch.nn.Parameter(torch.tensor([-1.0, 0.0]))
z = torch.cumsum(torch.ones(15) * 0.5 + 0.1 * torch.randn(15), 0) + 0.5 * torch.randn(15)


def likelihood(noise):
    q, r = noise.exp()
    m, P, total = torch.zeros(2), torch.eye(2) * 5, 0.0
    for obs in z:
        m, P = F_ @ m, F_ @ P @ F_.T + q * torch.eye(2)
        S = H @ P @ H.T + r
        innovation = obs - H @ m
        K = P @ H.T / S
        m, P = m + (K * innovation).squeeze(-1), (torch.eye(2) - K @ H) @ P
        total = total - 0.5 * (innovation**2 / S + S.log()).sum()
    return total, m


optimizer = torch.optim.Adam([noise], lr=0.1, maximize=True)
for it in range(10):
    value, m = likelihood(noise)
    optimizer.zero_grad()
    value.backward()
    optimizer.step()
print(f"{value.item():.5f}", m.detach(), noise.data)
A = torch.randn(3, 3).log_softmax(1).requires_grad_()
B = torch.randn(3, 4).log_softmax(1)
alpha = torch.full((3,), 1 / 3).log()
for symbol in [0, 2, 1, 3]:
    alpha = torch.logsumexp(alpha[:, None] + A, 0) + B[:, symbol]
alpha.logsumexp(0).backward()
print(alpha.detach(), A.grad.sum(1))
a, b = torch.rand(5, 2), torch.rand(6, 2) + 0.5
cost = torch.cdist(a, b).pow(2).requires_grad_()
f, g, eps = torch.zeros(5), torch.zeros(6), 0.1
for _ in range(50):
    f = -eps * torch.logsumexp((g[None] - cost) / eps - torch.tensor(6.0).log(), 1)
    g = -eps * torch.logsumexp((f[:, None] - cost) / eps - torch.tensor(5.0).log(), 0)
plan = ((f[:, None] + g[None] - cost) / eps).exp() / 30
(plan * cost).sum().backward()
print((plan * cost).sum(), plan.sum(0), cost.grad.sum())
