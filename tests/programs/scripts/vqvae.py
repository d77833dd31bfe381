"""Vector quantisation with straight-through gradients, and Gumbel's relaxation."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Quantiser(nn.Module):
    def __init__(self, n=8, dim=4, decay=0.9):
        super().__init__()
        self.register_buffer("codes", torch.randn(n, dim))
        self.register_buffer("counts", torch.ones(n))
        self.register_buffer("sums", self.codes.clone())
        self.decay = decay

    def forward(self, z):
        distances = torch.cdist(z, self.codes)
        index = distances.argmin(dim=1)
        q = F.embedding(index, self.codes)
        if self.training:
            with torch.no_grad():
                hot = F.one_hot(index, len(self.codes)).type(z.dtype)
                self.counts.mul_(self.decay).add_(hot.sum(0), alpha=1 - self.decay)
                self.sums.mul_(self.decay).add_(hot.t() @ z, alpha=1 - self.decay)
                self.codes.copy_(self.sums / self.counts.clamp(min=1e-5).unsqueeze(1))
        commitment = F.mse_loss(z, q.detach())
        return z + (q - z).detach(), commitment, index


torch.manual_seed(0)
encoder, quantiser, decoder = nn.Linear(6, 4), Quantiser(), nn.Linear(4, 6)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
x = torch.randn(32, 6)
for it in range(10):
    q, commitment, index = quantiser(encoder(x))
    loss = F.mse_loss(decoder(q), x) + 0.25 * commitment
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.5f}", torch.bincount(index, minlength=8).tolist())
logits = torch.randn(4, 3, requires_grad=True)
soft = F.gumbel_softmax(logits, tau=0.7)
hard = F.gumbel_softmax(logits, tau=0.7, hard=True)
(hard * torch.arange(3.0)).sum().backward()
print(soft, hard, logits.grad)
