"""Modules of modules: what they list, copy, print, move and share."""

import copy
import pickle

import torch
import torch.nn as nn


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)
        self.b = nn.Linear(3, 2)
        self.c = self.a
        self.params = nn.ParameterDict(
            {"w": nn.Parameter(torch.ones(2)), "v": nn.Parameter(torch.zeros(1))}
        )
        self.lists = nn.ModuleList([nn.ReLU(), nn.Sequential(nn.Identity(), nn.Dropout(0.3))])
        self.register_buffer("steps", torch.tensor(0), persistent=False)
        self.register_parameter("none", None)
        self.extra = {"k": 1}

    def forward(self, x):
        self.steps += 1
        return self.b(self.lists[0](self.a(x))) * self.params["w"] + self.params["v"]

    def extra_repr(self):
        return "tied=True"

    def get_extra_state(self):
        return self.extra

    def set_extra_state(self, state):
        self.extra = state


torch.manual_seed(0)
net = Tied()
print(net)
print(
    [n for n, _ in net.named_parameters()],
    [n for n, _ in net.named_parameters(remove_duplicate=False)],
)
print(
    list(net.state_dict()),
    [n for n, _ in net.named_buffers()],
    [n for n, _ in net.named_children()],
)
net(torch.ones(1, 2)).sum().backward()
other = copy.deepcopy(net)
print(
    other.a.weight is other.c.weight,
    other.a.weight.grad is not None,
    int(other.steps),
    other.a is not net.a,
)
again = pickle.loads(pickle.dumps(net))
print(
    torch.equal(again(torch.ones(1, 2)), net(torch.ones(1, 2))),
    again.training,
    net.eval().training,
    net.lists[1][1].training,
)
net.apply(lambda m: nn.init.ones_(m.weight) if isinstance(m, nn.Linear) else None)
print(
    net.a.weight.sum(),
    net.double().a.weight.dtype,
    net.half().params["w"].dtype,
    net.to(torch.float32).b.bias.dtype,
)
net.requires_grad_(False)
print(
    any(p.requires_grad for p in net.parameters()),
    net.get_submodule("lists.1.1"),
    net.get_parameter("a.bias").shape,
)
net.zero_grad()
seq = nn.Sequential(nn.Linear(1, 1), nn.Tanh())
seq.append(nn.Linear(1, 2)).insert(1, nn.Sigmoid())
del seq[2]
print(len(seq), seq[-1], seq[:2], seq + nn.Sequential(nn.Flatten()))
lazy = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d(), nn.LazyLinear(1))
print(lazy(torch.randn(3, 5)).shape, lazy[0], lazy.load_state_dict(lazy.state_dict()))
try:
    seq(torch.ones(2, 3))
except RuntimeError as e:
    print(e)
try:
    net.missing
except AttributeError as e:
    print(e)
