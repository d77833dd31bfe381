"""A variational autoencoder of points on a ring."""

import math

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class VAE(nn.Module):
    def __init__(self, hidden: int = 32, latent: int = 2):
        super().__init__()
        self.encoder = nn.Linear(2, hidden)
        self.mean = nn.Linear(hidden, latent)
        self.log_variance = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.SiLU(), nn.Linear(hidden, 2))

    def forward(self, x):
        h = F.silu(self.encoder(x))
        mean, log_variance = self.mean(h), self.log_variance(h)
        noise = torch.randn_like(mean)
        return self.decoder(mean + noise * (0.5 * log_variance).exp()), mean, log_variance


torch.manual_seed(3)
angles = torch.rand(256) * 2 * math.pi
points = torch.stack([angles.cos(), angles.sin()], dim=1) + 0.05 * torch.randn(256, 2)
loader = DataLoader(TensorDataset(points), batch_size=64, shuffle=True)
model = VAE()
optimizer = optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-3)
for epoch in range(5):
    total = 0.0
    for (batch,) in loader:
        optimizer.zero_grad(set_to_none=True)
        made, mean, log_variance = model(batch)
        kl = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(1).mean()
        loss = F.mse_loss(made, batch, reduction="sum") / len(batch) + 0.1 * kl
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(batch)
    print(epoch, round(total / len(points), 4))
model.eval()
with torch.no_grad():
    print(model.decoder(torch.zeros(1, 2)))
