"""Adversarial examples: one step, many steps, and training against them."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.rand(64, 8)
y = (x.sum(1) > 4).long()
model = nn.Sequential(nn.Linear(8, 16), nn.PReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)


def fgsm(x, y, eps):
    x = x.clone().detach()
    x.requires_grad = True
    F.cross_entropy(model(x), y).backward()
    return torch.clamp(x + eps * x.grad.sign(), 0, 1).detach()


def pgd(x, y, eps, alpha, steps):
    delta = torch.zeros_like(x).uniform_(-eps, eps).requires_grad_(True)
    for _ in range(steps):
        loss = F.cross_entropy(model(x + delta), y)
        loss.backward()
        delta.data = (delta + alpha * delta.grad.detach().sign()).clamp(-eps, eps)
        delta.grad.zero_()
    return (x + delta).detach()


for it in range(12):
    model.eval()
    bad = pgd(x, y, 0.05, 0.02, 3) if it % 2 else fgsm(x, y, 0.05)
    model.train()
    optimizer.zero_grad()
    loss = 0.5 * (F.cross_entropy(model(x), y) + F.cross_entropy(model(bad), y))
    loss.backward()
    optimizer.step()
    if it % 4 == 3:
        right = (model(bad).argmax(1) == y).float().mean()
        print(it, f"{loss.item():.4f} {right.item():.3f}")
