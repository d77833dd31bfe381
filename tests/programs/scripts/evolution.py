"""Evolution strategies, the cross-entropy method, and annealing, without gradients."""

import torch

torch.manual_seed(0)


def rastrigin(x):
    return 10 * x.shape[-1] + (x**2 - 10 * torch.cos(2 * torch.pi * x)).sum(-1)


with torch.inference_mode():
    theta, sigma, lr = torch.full((4,), 2.0), 0.3, 0.05
    for it in range(20):
        noise = torch.randn(32, 4)
        f = rastrigin(torch.cat([theta + sigma * noise, theta - sigma * noise]))
        ranks = f.argsort().argsort().float() / (len(f) - 1) - 0.5
        theta -= lr / (32 * sigma) * (ranks[:32] - ranks[32:]) @ noise
    print(theta, rastrigin(theta))
    mean, std = torch.zeros(4) + 1.5, torch.ones(4) * 2
    for it in range(10):
        x = torch.normal(mean.expand(64, 4), std.expand(64, 4))
        elite = x[rastrigin(x).topk(8, largest=False).indices]
        mean, std = elite.mean(0), elite.std(0, unbiased=False) + 1e-3
    print(mean, std)
    at, best = torch.tensor([3.0]), float("inf")
    for it in range(50):
        new = at + torch.randn(1) * 0.5
        drop = (rastrigin(new) - rastrigin(at)).item()
        if (
            drop < 0
            or torch.rand(1).item() < torch.exp(torch.tensor(-drop / (5 / (it + 1)))).item()
        ):
            at = new
        best = min(best, rastrigin(at).item())
    print(round(best, 4), torch.randperm(6), torch.bernoulli(torch.tensor([0.2, 0.9, 0.5])))
    print(
        torch.randint_like(mean, 5),
        torch.empty(3).exponential_(2.0),
        torch.empty(2).cauchy_(),
        torch.empty(2).log_normal_(),
        torch.empty(2).geometric_(0.3),
    )
