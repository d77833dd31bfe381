"""A residual network with bottlenecks, squeeze and excitation, and initialisation by hand."""

import torch
import torch.nn as nn


class SE(nn.Module):
    def __init__(self, c, r=4):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Sequential(
            nn.Conv2d(c, c // r, 1), nn.ReLU(), nn.Conv2d(c // r, c, 1), nn.Hardsigmoid()
        )

    def forward(self, x):
        return x * self.fc(self.pool(x))


class Bottleneck(nn.Module):
    expansion = 2

    def __init__(self, inplanes, planes, stride=1, groups=1):
        super().__init__()
        out = planes * self.expansion
        self.body = nn.Sequential(
            *(nn.Conv2d(inplanes, planes, 1, bias=False), nn.BatchNorm2d(planes), nn.ReLU6()),
            *(
                nn.Conv2d(planes, planes, 3, stride, 1, groups=groups, bias=False),
                nn.BatchNorm2d(planes),
                nn.Hardswish(),
            ),
            *(nn.Conv2d(planes, out, 1, bias=False), nn.BatchNorm2d(out), SE(out)),
        )
        self.skip = nn.Identity()
        if stride != 1 or inplanes != out:
            self.skip = nn.Sequential(
                nn.Conv2d(inplanes, out, 1, stride, bias=False), nn.BatchNorm2d(out)
            )

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


torch.manual_seed(0)
model = nn.Sequential(
    *(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1)),
    *(Bottleneck(8, 8), Bottleneck(16, 8, 2, groups=8)),
    *(nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Dropout(0.0), nn.Linear(16, 5)),
)
for m in model.modules():
    if isinstance(m, nn.Conv2d):
        nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
    elif isinstance(m, nn.BatchNorm2d):
        nn.init.constant_(m.weight, 1)
        nn.init.constant_(m.bias, 0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
x, y = torch.randn(6, 3, 32, 32), torch.randint(0, 5, (6,))
for it in range(4):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(it, f"{loss.item():.4f}")
print(
    sum(p.numel() for p in model.parameters() if p.requires_grad),
    model[1].num_batches_tracked,
    model[1].running_mean[:3],
)
