"""User-defined optimisers and schedulers, groups, closures, and per-parameter state."""

import math

import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR, OneCycleLR, _LRScheduler


class Lion(Optimizer):
    def __init__(self, params, lr=1e-2, betas=(0.9, 0.99), weight_decay=0.0):
        if lr < 0:
            raise ValueError("Invalid learning rate")
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.mul_(1 - group["lr"] * group["weight_decay"])
                state = self.state[p]
                if len(state) == 0:
                    state["m"] = torch.zeros_like(p, memory_format=torch.preserve_format)
                m, (b1, b2) = state["m"], group["betas"]
                p.add_(torch.sign(m * b1 + p.grad * (1 - b1)), alpha=-group["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)
        return loss


class Warmup(_LRScheduler):
    def __init__(self, optimizer, steps, last_epoch=-1):
        self.steps = steps
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * min(1.0, (self.last_epoch + 1) / self.steps) for base in self.base_lrs]


torch.manual_seed(0)
a, b = torch.nn.Parameter(torch.randn(3)), torch.nn.Parameter(torch.randn(()))
optimizer = Lion([{"params": [a], "lr": 0.1}, {"params": b}], weight_decay=0.01)
scheduler = Warmup(optimizer, 4)
print(optimizer)
for it in range(6):
    loss = optimizer.step(
        lambda: (
            optimizer.zero_grad(),
            l := ((a - 1) ** 2).sum() + (b * a).sum() ** 2,
            l.backward(),
            l,
        )[-1]
    )
    scheduler.step()
    print(it, f"{loss.item():.5f}", [round(v, 5) for v in scheduler.get_last_lr()])
state = optimizer.state_dict()
print(state["param_groups"][0]["params"], sorted(state["state"]), state["state"][0]["m"])
sgd = torch.optim.SGD([a], lr=1.0, momentum=0.9)
one = OneCycleLR(sgd, max_lr=0.5, total_steps=5)
for _ in range(4):
    sgd.step()
    one.step()
    print([round(one.get_last_lr()[0], 5), round(sgd.param_groups[0]["momentum"], 5)])
lam = LambdaLR(torch.optim.ASGD([b], lr=0.3), lambda e: math.cos(e / 3))
lam.step()
print(lam.get_last_lr(), lam.state_dict()["last_epoch"])
