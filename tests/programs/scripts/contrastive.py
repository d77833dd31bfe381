"""Contrastive learning: NT-Xent, triplets, and cosine embeddings."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ELU(), nn.Linear(32, 8))
optimizer = torch.optim.RAdam(encoder.parameters(), lr=0.01)


def nt_xent(a, b, temperature=0.5):
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.T / temperature
    sim.fill_diagonal_(-1e9)
    n = len(a)
    target = torch.arange(2 * n).roll(n)
    return F.cross_entropy(sim, target)


x = torch.randn(16, 10)
for it in range(8):
    a, b = (encoder(x + 0.1 * torch.randn_like(x)) for _ in range(2))
    loss = nt_xent(a, b)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.5f}")
triplet = nn.TripletMarginLoss(margin=1.0, p=2)(a, b, b.roll(1, 0))
cosine = nn.CosineEmbeddingLoss()(a, b, torch.ones(16))
margin = nn.MarginRankingLoss(0.3)(a[:, 0], b[:, 0], torch.ones(16).neg())
hinge = nn.HingeEmbeddingLoss()(a[:, 0], torch.ones(16))
distances = F.pairwise_distance(a, b).mean()
print([f"{v.item():.5f}" for v in (triplet, cosine, margin, hinge, distances)])
