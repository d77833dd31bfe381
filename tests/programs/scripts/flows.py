"""Real NVP: coupling layers under a normal distribution."""

import torch
import torch.distributions as D
from torch import nn


class Coupling(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.s = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 2), nn.Tanh())
        self.t = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 2))

    def forward(self, x):
        kept = x * self.mask
        s, t = self.s(kept) * (1 - self.mask), self.t(kept) * (1 - self.mask)
        return kept + (1 - self.mask) * (x * s.exp() + t), s.sum(1)


torch.manual_seed(0)
prior = D.MultivariateNormal(torch.zeros(2), torch.eye(2))
layers = nn.ModuleList(Coupling(torch.tensor(m)) for m in ([0.0, 1.0], [1.0, 0.0]) * 2)
optimizer = torch.optim.Adam(layers.parameters(), lr=5e-3)
x = torch.randn(128, 2)
x = torch.stack([x[:, 0] * 0.5, x[:, 0] ** 2 + 0.3 * x[:, 1]], 1)
for it in range(15):
    z, log_det = x, torch.zeros(len(x))
    for layer in layers:
        z, d = layer(z)
        log_det = log_det + d
    loss = -(prior.log_prob(z) + log_det).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 5 == 4:
        print(it, f"{loss.item():.4f}")
base = D.Normal(torch.zeros(3), torch.ones(3))
flow = D.TransformedDistribution(
    base, [D.transforms.AffineTransform(1.0, 2.0), D.transforms.SigmoidTransform()]
)
y = flow.rsample((2,))
print(y, flow.log_prob(y))
print(D.kl_divergence(D.Gamma(2.0, 1.0), D.Gamma(3.0, 2.0)), D.Dirichlet(torch.ones(3)).entropy())
