"""Decompositions and their derivatives."""

import torch

torch.manual_seed(0)
torch.set_printoptions(precision=3, sci_mode=False)
A = torch.randn(4, 4, dtype=torch.double)
A = (A @ A.T + 4 * torch.eye(4).double()).requires_grad_()
B = torch.randn(4, 2, dtype=torch.double, requires_grad=True)
L = torch.linalg.cholesky(A)
Q, R = torch.linalg.qr(B)
U, S, Vh = torch.linalg.svd(B, full_matrices=False)
w, V = torch.linalg.eigh(A)
P, Lo, Up = torch.linalg.lu(A)
total = L.sum() + R.abs().sum() + S.sum() + (w * torch.arange(4)).sum() + Up.diagonal().sum()
total = (
    total
    + torch.linalg.inv(A).trace()
    + torch.linalg.det(A).log()
    + torch.linalg.solve(A, B).sum()
    + torch.linalg.pinv(B).sum()
)
total = (
    total
    + torch.matrix_exp(A / 10).sum()
    + torch.linalg.norm(A, "nuc")
    + torch.linalg.matrix_power(A / 5, 3).sum()
)
total.backward()
print(total, A.grad, B.grad)
x = torch.linalg.lstsq(A.detach(), B.detach()).solution
print(
    (A.detach() @ x - B.detach()).abs().max() < 1e-9,
    torch.linalg.matrix_rank(B.detach()),
    torch.linalg.cond(A.detach()),
    torch.trapezoid(torch.arange(4.0)),
)
print(
    torch.linalg.eigvals(torch.tensor([[0.0, -1.0], [1.0, 0.0]])).imag.sort().values,
    torch.linalg.vander(torch.tensor([1.0, 2.0, 3.0])),
    torch.linalg.multi_dot([A.detach(), A.detach(), B.detach()]).shape,
)
print(
    torch.cross(torch.tensor([1.0, 0, 0]), torch.tensor([0, 1.0, 0]), dim=0),
    torch.cdist(B.detach(), B.detach()).sum(),
    torch.cov(B.detach().T),
    torch.corrcoef(B.detach().T)[0, 1],
)
torch.set_printoptions(profile="default")
