"""Parametrised weights: symmetric, orthogonal, of spectral norm one."""

import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize
from torch.nn.utils import parametrizations


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)

    def right_inverse(self, A):
        return A.triu()


torch.manual_seed(0)
layer = nn.Linear(3, 3)
parametrize.register_parametrization(layer, "weight", Symmetric())
A = layer.weight
assert torch.allclose(A, A.T)
print(layer)
with parametrize.cached():
    print(layer(torch.ones(2, 3)))
orthogonal = parametrizations.orthogonal(nn.Linear(4, 4))
Q = orthogonal.weight
print((Q @ Q.mT - torch.eye(4)).abs().max() < 1e-5)
spectral = parametrizations.spectral_norm(nn.Linear(5, 3))
print(torch.linalg.matrix_norm(spectral.weight, 2) < 1.2)
weighted = parametrizations.weight_norm(nn.Linear(5, 3), name="weight")
weighted(torch.ones(1, 5)).sum().backward()
print(sorted(n for n, p in weighted.named_parameters() if p.grad is not None))
layer.weight = torch.arange(9.0).reshape(3, 3)
print(layer.parametrizations.weight.original)
parametrize.remove_parametrizations(layer, "weight", leave_parametrized=True)
print(layer.weight, parametrize.is_parametrized(layer))
