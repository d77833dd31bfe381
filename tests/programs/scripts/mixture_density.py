"""Mixture density and quantile regression, ordinal losses, and calibrated temperatures."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.linspace(-1, 1, 40).unsqueeze(1)
y = torch.where(torch.rand(40, 1) < 0.5, x.sin(), -x.sin()) + 0.05 * torch.randn(40, 1)
body = nn.Sequential(nn.Linear(1, 12), nn.Softsign(), nn.Linear(12, 9))
quantiles = torch.tensor([0.1, 0.5, 0.9])
line = nn.Sequential(nn.Linear(1, 8), nn.Hardtanh(), nn.Linear(8, 3))
optimizer = torch.optim.Adam(
    [{"params": body.parameters()}, {"params": line.parameters(), "lr": 0.02}], lr=0.01
)
for it in range(20):
    logits, mean, log_scale = body(x).chunk(3, dim=1)
    logp = F.log_softmax(logits, 1) - 0.5 * ((y - mean) / log_scale.exp()) ** 2 - log_scale
    nll = -torch.logsumexp(logp, 1).mean()
    error = y - line(x)
    pinball = torch.maximum(quantiles * error, (quantiles - 1) * error).mean()
    optimizer.zero_grad()
    (nll + pinball).backward()
    optimizer.step()
print(f"{nll.item():.4f} {pinball.item():.5f}")
logits, target = torch.randn(6, 4), torch.tensor([0, 1, 2, 3, 0, 1])
temperature = nn.Parameter(torch.ones(1) * 1.5)
best = torch.optim.LBFGS([temperature], lr=0.1, max_iter=10)


def closure():
    best.zero_grad()
    loss = F.cross_entropy(logits / temperature, target)
    loss.backward()
    return loss


best.step(closure)
print(temperature.data)
p = torch.rand(6, 4)
losses = dict(
    poisson=F.poisson_nll_loss(p.log(), p * 3),
    gaussian=F.gaussian_nll_loss(p, p.roll(1, 0), p + 0.1),
    multilabel=F.multilabel_margin_loss(p, torch.tensor([[0, 1, -1, 0]] * 6)),
    soft=F.multilabel_soft_margin_loss(p, (p > 0.5).float()),
    multi=F.multi_margin_loss(p, target, p=2),
    soft_margin=F.soft_margin_loss(p, p.sign()),
    bce=F.binary_cross_entropy(p, (p > 0.4).float(), weight=p),
)
print({k: round(v.item(), 5) for k, v in losses.items()})
