"""Hooks of all kinds, to inspect a network."""

from collections import OrderedDict

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    OrderedDict([("a", nn.Linear(3, 4)), ("act", nn.ReLU()), ("b", nn.Linear(4, 2))])
)
seen = {}


def keep(name):
    def hook(module, args, output):
        seen[name] = output.detach()

    return hook


handles = [m.register_forward_hook(keep(n)) for n, m in model.named_children()]
model.a.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
model.b.register_full_backward_hook(lambda m, gi, go: print("b", gi[0].shape, go[0].norm()))
x = torch.randn(5, 3, requires_grad=True)
x.register_hook(lambda g: g.clamp(-0.5, 0.5))
y = model(x)
y.register_hook(lambda g: print("y", g.sum()))
y.pow(2).sum().backward()
print({k: tuple(v.shape) for k, v in seen.items()}, x.grad.abs().max())
for h in handles:
    h.remove()
p = model.a.weight
p.register_post_accumulate_grad_hook(lambda p: print("accumulated", p.grad.shape))
model(x).sum().backward()
with torch.autograd.graph.saved_tensors_hooks(
    lambda t: t.to(torch.float64), lambda t: t.to(torch.float32)
):
    z = (x.exp() * x).sum()
z.backward()
print(x.grad.norm())
print(y.grad_fn.name(), [f[0].name() for f in y.grad_fn.next_functions])
