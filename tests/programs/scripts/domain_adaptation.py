"""Domain-adversarial training: a gradient reversal layer, focal loss, mixup."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Function


class Reverse(Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.alpha, None


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0, weight=None, reduction="mean"):
        super().__init__()
        self.gamma, self.reduction = gamma, reduction
        self.register_buffer("weight", weight)

    def forward(self, x, t):
        ce = F.cross_entropy(x, t, weight=self.weight, reduction="none")
        loss = (1 - torch.exp(-ce)) ** self.gamma * ce
        return getattr(loss, self.reduction)()


torch.manual_seed(0)
features, label, domain = (
    nn.Sequential(nn.Linear(4, 12), nn.SELU()),
    nn.Linear(12, 2),
    nn.Linear(12, 1),
)
criterion = FocalLoss(weight=torch.tensor([1.0, 2.0]))
params = nn.ModuleList([features, label, domain]).parameters()
optimizer = torch.optim.SGD(params, lr=0.1, momentum=0.9, dampening=0.1)
source, target = torch.randn(32, 4), torch.randn(32, 4) + 0.5
y = (source[:, 0] > 0).long()
for it in range(15):
    p = it / 15
    alpha = 2.0 / (1.0 + torch.exp(torch.tensor(-10.0 * p)).item()) - 1
    lam = torch.distributions.Beta(0.4, 0.4).sample().item()
    perm = torch.randperm(32)
    mixed = lam * source + (1 - lam) * source[perm]
    fs, ft = features(mixed), features(target)
    out = label(fs)
    loss = lam * criterion(out, y) + (1 - lam) * criterion(out, y[perm])
    d = domain(Reverse.apply(torch.cat([fs, ft]), alpha)).squeeze(1)
    loss = loss + F.binary_cross_entropy_with_logits(
        d, torch.cat([torch.zeros(32), torch.ones(32)]), pos_weight=torch.tensor(1.5)
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 5 == 4:
        print(it, f"{lam:.4f} {loss.item():.4f}")
