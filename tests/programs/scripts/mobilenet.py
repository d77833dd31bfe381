"""Depthwise separable convolutions, dense connections, transposed ones, and a distilled student."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class InvertedResidual(nn.Module):
    def __init__(self, inp, oup, stride, expand):
        super().__init__()
        hidden = round(inp * expand)
        self.use = stride == 1 and inp == oup
        self.conv = nn.Sequential(
            *(
                nn.Conv2d(inp, hidden, 1, 1, 0, bias=False),
                nn.BatchNorm2d(hidden),
                nn.ReLU6(inplace=True),
            ),
            *(
                nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False),
                nn.BatchNorm2d(hidden),
                nn.ReLU6(inplace=True),
            ),
            *(nn.Conv2d(hidden, oup, 1, 1, 0, bias=False), nn.BatchNorm2d(oup)),
        )

    def forward(self, x):
        return x + self.conv(x) if self.use else self.conv(x)


class Dense(nn.Module):
    def __init__(self, c, growth, n):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(
                nn.BatchNorm2d(c + i * growth),
                nn.ReLU(),
                nn.Conv2d(c + i * growth, growth, 3, padding=1),
            )
            for i in range(n)
        )

    def forward(self, x):
        parts = [x]
        for layer in self.layers:
            parts.append(layer(torch.cat(parts, 1)))
        return torch.cat(parts, 1)


teacher = nn.Sequential(
    nn.Conv2d(3, 8, 3, 2, 1),
    InvertedResidual(8, 8, 1, 2),
    Dense(8, 4, 2),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(16, 4),
)
student = nn.Sequential(
    nn.Conv2d(3, 4, 3, 2),
    nn.CELU(),
    nn.Dropout2d(0.0),
    nn.AvgPool2d(3),
    nn.Flatten(),
    nn.Linear(16, 4),
)
optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
x, y = torch.randn(8, 3, 16, 16), torch.randint(4, (8,))
teacher.eval()
for it in range(6):
    with torch.no_grad():
        wanted = teacher(x)
    out = student(x)
    soft = F.kl_div(F.log_softmax(out / 2, 1), F.softmax(wanted / 2, 1), reduction="batchmean") * 4
    loss = 0.7 * soft + 0.3 * F.cross_entropy(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.5f}", teacher(x).softmax(1)[0])
up = nn.ConvTranspose2d(4, 2, 4, stride=2, padding=1, output_padding=1, groups=2, dilation=1)
print(
    up(torch.randn(1, 4, 5, 5)).shape,
    nn.ConvTranspose1d(3, 2, 3, 2)(torch.randn(1, 3, 4)).shape,
    nn.Conv3d(1, 2, 2)(torch.randn(1, 1, 3, 3, 3)).sum(),
)
print(
    nn.Fold((4, 4), 2, stride=2)(nn.Unfold(2, stride=2)(torch.arange(16.0).view(1, 1, 4, 4))),
    nn.Bilinear(2, 3, 1)(torch.ones(1, 2), torch.ones(1, 3)),
)
