"""PageRank and label propagation on sparse matrices, and arrays that go to NumPy and back."""

import numpy as np
import torch

torch.manual_seed(0)
edges = torch.tensor([[0, 1, 2, 2, 3, 4, 4], [1, 2, 0, 3, 4, 0, 2]])
weights = torch.ones(7).requires_grad_()
degree = torch.zeros(5).index_add(0, edges[0], weights)
A = torch.sparse_coo_tensor(edges.flip(0), weights / degree[edges[0]], (5, 5))
rank = torch.full((5, 1), 0.2)
for _ in range(30):
    rank = 0.85 * torch.sparse.mm(A, rank) + 0.03
rank[0, 0].backward()
print(rank.squeeze(1).detach(), weights.grad)
dense = A.detach().to_dense()
print(dense.sum(0), A.detach().coalesce().values()[:3], dense.to_sparse().indices().shape)
shared = np.arange(4.0)
x = torch.from_dlpack(shared)
x += 1
print(
    shared,
    np.from_dlpack(torch.ones(2)),
    torch.frombuffer(bytearray(b"\x01\x02"), dtype=torch.uint8),
)
