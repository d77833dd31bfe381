"""Regression by a Gaussian process, its hyperparameters found by L-BFGS."""

import math

import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
X = torch.linspace(0, 1, 12)
Y = torch.sin(X * (2 * math.pi)) + torch.randn(12) * 0.1
raw = torch.nn.Parameter(torch.tensor([0.0, -1.0, -2.0]))


def kernel(a, b, length, scale):
    return scale**2 * torch.exp(-0.5 * (a[:, None] - b[None, :]).pow(2) / length**2)


def nll():
    scale, length, noise = raw.exp()
    K = kernel(X, X, length, scale) + noise.square() * torch.eye(12)
    L = torch.linalg.cholesky(K)
    alpha = torch.cholesky_solve(Y.unsqueeze(1), L)
    return 0.5 * (Y @ alpha.squeeze(1)) + L.diagonal().log().sum() + 6 * math.log(2 * math.pi)


optimizer = torch.optim.LBFGS([raw], lr=0.5, max_iter=20, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = nll()
    loss.backward()
    return loss


print(f"{optimizer.step(closure).item():.8f} {nll().item():.8f}")
with torch.no_grad():
    scale, length, noise = raw.exp()
    test = torch.tensor([0.25, 0.6])
    K = kernel(X, X, length, scale) + noise**2 * torch.eye(12)
    k = kernel(X, test, length, scale)
    solved = torch.linalg.solve(K, k)
    mean = solved.T @ Y
    cov = kernel(test, test, length, scale) - k.T @ solved
    print(mean, cov.diag().sqrt())
    print(torch.linalg.slogdet(K).logabsdet, torch.logdet(K), torch.linalg.eigvalsh(K)[:2])
H = torch.autograd.functional.hessian(
    lambda r: (kernel(X, X, r[0].exp(), r[1].exp()) ** 2).sum(), torch.zeros(2)
)
print(H)
torch.set_default_dtype(torch.float32)
