"""Indexing, shapes, sorting and searching, as in a course."""

import torch

torch.manual_seed(0)
x = torch.arange(24).reshape(2, 3, 4)
print(x[..., -1], x[:, [0, 2]], x[x % 5 == 0], x[0, :, None].shape, x[1, 1:, ::2])
print(
    x.permute(2, 0, 1).contiguous().stride(),
    x.transpose(0, 2).reshape(-1)[:5],
    x.movedim(0, -1).shape,
    x.swapaxes(0, 1).size(),
)
y = x.clone().float()
y[:, 1] = -1.0
y[0, y[0] > 5] = 0
y[..., 0].fill_(7)
print(y)
v, i = torch.sort(torch.tensor([3.0, 1.0, 2.0, 1.0]), descending=True, stable=True)
print(
    v,
    i,
    torch.argsort(torch.tensor([2, 0, 1])),
    torch.unique(torch.tensor([3, 1, 3, 2]), return_inverse=True, return_counts=True),
)
print(
    torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([0, 3, 6]), right=True),
    torch.bucketize(torch.tensor([0.5, 4.0]), torch.tensor([1.0, 3.0])),
)
print(
    torch.gather(x, 2, torch.tensor([[[0], [1], [2]], [[3], [2], [1]]])).squeeze(),
    torch.take_along_dim(x, x.argmax(2, keepdim=True), 2).flatten(),
)
print(torch.zeros(3, 5, dtype=torch.long).scatter_(1, torch.tensor([[1], [0], [4]]), 9))
print(
    torch.nonzero(torch.tensor([[0, 1], [2, 0]])),
    torch.where(torch.tensor([True, False]), 1.0, torch.tensor([2.0, 3.0])),
)
print(
    torch.cat([x, x], -1).shape,
    torch.stack([x, x], 1).shape,
    torch.hstack([torch.ones(2), torch.zeros(1)]),
    torch.dstack([torch.ones(2)] * 2).shape,
)
print(
    [c.shape for c in torch.chunk(torch.arange(10), 4)],
    [c.tolist() for c in torch.tensor_split(torch.arange(7), 3)],
    torch.arange(6).unflatten(0, (2, 3)),
)
print(
    torch.triu(torch.ones(3, 3), 1),
    torch.tril_indices(3, 3, -1),
    torch.block_diag(torch.eye(1), torch.ones(2, 2)),
    torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4])),
)
print(
    torch.kthvalue(torch.tensor([4, 2, 9]), 2),
    torch.median(torch.tensor([4.0, 2, 9, 1])),
    torch.mode(torch.tensor([1, 2, 2])),
    torch.quantile(torch.arange(5.0), torch.tensor([0.1, 0.5])),
)
print(
    torch.cummax(torch.tensor([1, 3, 2]), 0),
    torch.diff(torch.tensor([1, 4, 9])),
    torch.logcumsumexp(torch.zeros(3), 0),
    torch.histc(torch.tensor([1.0, 2, 1]), 4, 0, 3),
)
print(
    torch.as_strided(torch.arange(9), (2, 2), (3, 1), 1),
    torch.arange(8).view(2, 4).unfold(1, 2, 2),
    torch.arange(4).repeat(2, 1),
    torch.arange(2).repeat_interleave(torch.tensor([1, 3])),
)
print(
    torch.einsum("bij,bjk->ik", x.float(), x.float().mT),
    torch.tensordot(x.float(), x.float(), dims=([0, 2], [0, 2])),
    torch.kron(torch.eye(2), torch.ones(1, 2)),
)
print(
    torch.tensor([1, 2]) / 2,
    torch.tensor(7) // -2,
    torch.tensor(-7) % 3,
    torch.fmod(torch.tensor(-7), 3),
    torch.tensor(5) >> 1,
    ~torch.tensor([True]),
    2 ** torch.arange(3),
)
print(
    torch.result_type(torch.tensor(1), 1.0),
    torch.promote_types(torch.int8, torch.float16),
    torch.can_cast(torch.float, torch.int),
    torch.tensor([1.5]).to(torch.int),
    torch.tensor(300).to(torch.uint8),
)
print(
    repr(torch.randn(3, 3).tolist()[0][0])[:6],
    torch.tensor([[1e-8, 1.0]]),
    torch.tensor([1e10, 1.0]),
    torch.full((2,), float("inf")),
    torch.empty(0),
    torch.tensor(True),
    torch.tensor([1 + 2j]),
)
