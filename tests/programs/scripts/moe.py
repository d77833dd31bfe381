"""A mixture of experts with routing to the best two."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class MoE(nn.Module):
    def __init__(self, dim, experts=4, k=2):
        super().__init__()
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 2 * dim), nn.Mish(), nn.Linear(2 * dim, dim))
            for _ in range(experts)
        )
        self.k = k

    def forward(self, x):
        flat = x.view(-1, x.shape[-1])
        scores = F.softmax(self.gate(flat), dim=-1)
        weights, chosen = torch.topk(scores, self.k)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            rows, nth = torch.where(chosen == i)
            if rows.numel():
                out.index_add_(0, rows, weights[rows, nth, None] * expert(flat[rows]))
        load = F.one_hot(chosen, len(self.experts)).float().mean((0, 1))
        return out.view_as(x), (load * scores.mean(0)).sum() * len(self.experts)


torch.manual_seed(0)
layer = MoE(8)
optimizer = torch.optim.NAdam(layer.parameters(), lr=0.01)
x = torch.randn(3, 5, 8)
for it in range(10):
    y, balance = layer(x)
    loss = (y - x.roll(1, -1)).square().mean() + 0.01 * balance
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(
    f"{loss.item():.6f} {balance.item():.6f}",
    [round(p.grad.norm().item(), 5) for p in layer.gate.parameters()],
)
