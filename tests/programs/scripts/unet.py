"""A small U-Net that segments discs, with a loss by Dice's coefficient."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, random_split


class Discs(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        y, x = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
        c = torch.rand(2, generator=g) * 8 + 4
        mask = ((x - c[0]) ** 2 + (y - c[1]) ** 2 < 9).float()
        return (mask + 0.3 * torch.randn(16, 16, generator=g)).unsqueeze(0), mask.unsqueeze(0)


def double(i, o):
    return nn.Sequential(
        *(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True)),
        *(nn.Conv2d(o, o, 3, padding=1, bias=False), nn.GroupNorm(2, o), nn.ReLU(inplace=True)),
    )


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = double(1, 4), double(4, 8), double(8, 16)
        self.up2, self.up1 = (
            nn.ConvTranspose2d(16, 8, 2, stride=2),
            nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
        )
        self.join2, self.join1, self.out = double(16, 8), double(12, 4), nn.Conv2d(4, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        c = self.bottom(F.avg_pool2d(b, 2))
        b = self.join2(torch.cat([b, self.up2(c)], 1))
        return self.out(self.join1(torch.cat([a, self.up1(b)], 1)))


torch.manual_seed(0)
train, val = random_split(Discs(), [16, 8], generator=torch.Generator().manual_seed(0))
model = UNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, factor=0.5)
for epoch in range(3):
    model.train()
    for image, mask in DataLoader(train, batch_size=4, shuffle=True, drop_last=True):
        logits = model(image)
        p = logits.sigmoid()
        dice = 1 - (2 * (p * mask).sum((1, 2, 3)) + 1) / (
            p.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + 1
        )
        loss = F.binary_cross_entropy_with_logits(logits, mask) + dice.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        losses = [
            F.binary_cross_entropy_with_logits(model(i), m)
            for i, m in DataLoader(val, batch_size=8)
        ]
    plateau.step(losses[0])
    print(epoch, f"{loss.item():.4f} {losses[0].item():.4f}", optimizer.param_groups[0]["lr"])
