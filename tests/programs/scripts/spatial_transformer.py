"""A spatial transformer: affine grids, sampling, resampling."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class STN(nn.Module):
    def __init__(self):
        super().__init__()
        self.loc = nn.Sequential(
            nn.Conv2d(1, 2, 3), nn.MaxPool2d(2, stride=2), nn.ReLU(True), nn.Flatten()
        )
        self.fc = nn.Linear(2 * 5 * 5, 6)
        self.fc.weight.data.zero_()
        self.fc.bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))

    def forward(self, x):
        theta = self.fc(self.loc(x)).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        return F.grid_sample(x, grid, mode="bilinear", padding_mode="border", align_corners=False)


model = STN()
image = torch.zeros(2, 1, 12, 12)
image[:, :, 3:8, 4:9] = 1
moved = image.roll((1, 1), (2, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for it in range(8):
    loss = F.mse_loss(model(image), moved)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.6f}")
x = torch.arange(16.0).view(1, 1, 4, 4).requires_grad_()
for mode in ("nearest", "bilinear", "bicubic", "area"):
    kw = {} if mode in ("nearest", "area") else {"align_corners": False}
    y = F.interpolate(x, size=(6, 6), mode=mode, **kw)
    print(mode, y.sum(), torch.autograd.grad(y.square().sum(), x)[0].sum())
print(
    F.pixel_shuffle(torch.arange(16.0).view(1, 4, 2, 2), 2)[0, 0, 0],
    F.unfold(x, 2).shape,
    F.fold(F.unfold(x, 2), (4, 4), 2)[0, 0, 1],
)
print(
    F.adaptive_max_pool2d(x, 3), F.lp_pool2d(x, 2, 2).detach(), F.local_response_norm(x, 2)[0, 0, 0]
)
