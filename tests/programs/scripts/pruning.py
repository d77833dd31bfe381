"""Pruning a network by magnitude, globally and in structure."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils.prune as prune

torch.manual_seed(0)


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3)
        self.conv2 = nn.Conv2d(6, 16, 3)
        self.fc1 = nn.Linear(16 * 5 * 5, 20)
        self.fc2 = nn.Linear(20, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), (2, 2))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.view(-1, int(x.nelement() / x.shape[0]))
        return self.fc2(F.relu(self.fc1(x)))


model = LeNet()
x = torch.randn(2, 1, 28, 28)
print(model(x).sum())
module = model.conv1
prune.l1_unstructured(module, name="bias", amount=3)
print(list(n for n, _ in module.named_parameters()), list(n for n, _ in module.named_buffers()))
prune.ln_structured(module, name="weight", amount=0.5, n=2, dim=0)
print(module.weight.abs().sum(dim=(1, 2, 3)))
parameters_to_prune = ((model.conv2, "weight"), (model.fc1, "weight"), (model.fc2, "weight"))
prune.global_unstructured(parameters_to_prune, pruning_method=prune.L1Unstructured, amount=0.2)
for name, m in model.named_modules():
    if isinstance(m, (nn.Conv2d, nn.Linear)):
        print(name, f"{100.0 * float(torch.sum(m.weight == 0)) / float(m.weight.nelement()):.2f}%")
model(x).sum().backward()
print(model.fc1.weight_orig.grad.abs().sum())
prune.remove(module, "weight")
print(prune.is_pruned(module), sorted(model.state_dict().keys()))
