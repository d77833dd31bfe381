"""A model with methods and functions that are scripted or traced."""

from typing import Dict, List, Optional, Tuple

import torch
from torch import Tensor, nn


@torch.jit.script
def smooth(x: Tensor, times: int = 2) -> Tensor:
    for _ in range(times):
        x = (x + x.roll(1, 0)) / 2
    return x


class Net(nn.Module):
    scale: torch.jit.Final[float]

    def __init__(self):
        super().__init__()
        self.scale = 2.0
        self.lin = nn.Linear(3, 2)

    def forward(self, x: Tensor, mask: Optional[Tensor] = None) -> Tuple[Tensor, Dict[str, Tensor]]:
        y = self.lin(x) * self.scale
        if mask is not None:
            y = y * mask
        return y, {"sum": y.sum()}

    @torch.jit.export
    def twice(self, xs: List[Tensor]) -> List[Tensor]:
        return [x * 2 for x in xs]

    @torch.jit.ignore
    def log(self, x):
        return float(x.sum())


torch.manual_seed(0)
net = Net()
scripted = torch.jit.script(net)
x = torch.randn(4, 3)
y, parts = scripted(x, torch.ones(4, 1))
print(smooth(x), y, parts["sum"], torch.jit.is_scripting())
traced = torch.jit.trace(net.lin, x)
print(torch.equal(traced(x), net.lin(x)), scripted.twice([x])[0].sum())
y.sum().backward()
print(net.lin.weight.grad)
