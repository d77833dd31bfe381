"""Graph convolutions on the karate club's smaller cousin, dense and by index_add."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
n = 12
edges = torch.tensor(
    [(i, (i + 1) % 6) for i in range(6)] + [(6 + i, 6 + (i + 1) % 6) for i in range(6)] + [(0, 6)]
).t()
edges = torch.cat([edges, edges.flip(0), torch.arange(n).repeat(2, 1)], dim=1)
degree = torch.zeros(n).scatter_add_(0, edges[0], torch.ones(edges.shape[1]))
norm = degree.pow(-0.5)[edges].prod(0)


class GCN(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o, bias=False)
        self.bias = nn.Parameter(torch.zeros(o))

    def forward(self, x):
        h = self.lin(x)
        return (
            torch.zeros(n, h.shape[1]).index_add(0, edges[1], h[edges[0]] * norm[:, None])
            + self.bias
        )


class GAT(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o, bias=False)
        self.a = nn.Parameter(torch.empty(1, 2 * o))
        nn.init.xavier_uniform_(self.a, gain=1.414)

    def forward(self, x):
        h = self.lin(x)
        score = F.leaky_relu((torch.cat([h[edges[0]], h[edges[1]]], 1) * self.a).sum(1), 0.2)
        top = torch.full((n,), float("-inf")).scatter_reduce(0, edges[1], score, reduce="amax")
        weight = (score - top[edges[1]].detach()).exp()
        total = torch.zeros(n).index_add_(0, edges[1], weight)
        return torch.zeros_like(h).index_add_(
            0, edges[1], (weight / total[edges[1]])[:, None] * h[edges[0]]
        )


model = nn.ModuleList([GCN(n, 8), GAT(8, 2)])
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
labels, known = torch.arange(n).div(6, rounding_mode="floor"), torch.tensor([0, 8])
for it in range(20):
    out = model[1](F.dropout(F.relu(model[0](torch.eye(n))), p=0.0))
    loss = F.cross_entropy(out[known], labels[known])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.5f}", (out.argmax(1) == labels).float().mean().item())
