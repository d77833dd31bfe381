"""A vision transformer on synthetic stripes."""

import torch
from torch import nn


class ViT(nn.Module):
    def __init__(self, size=16, patch=4, dim=32, depth=2, classes=2):
        super().__init__()
        self.patches = nn.Conv2d(1, dim, kernel_size=patch, stride=patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.positions = nn.Parameter(torch.empty(1, (size // patch) ** 2 + 1, dim))
        nn.init.trunc_normal_(self.positions, std=0.02)
        layer = nn.TransformerEncoderLayer(
            dim, 4, 64, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, classes))

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1) + self.positions
        return self.head(self.encoder(x)[:, 0])


torch.manual_seed(0)
model = ViT()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=3)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [warmup, cosine], milestones=[3])
for it in range(8):
    y = torch.randint(0, 2, (16,))
    stripes = torch.sin(torch.arange(16.0)).sign()
    images = torch.where(
        y.view(-1, 1, 1, 1).bool(), stripes.view(1, 1, 1, -1), stripes.view(1, 1, -1, 1)
    ).expand(-1, 1, 16, 16)
    images = images + 0.1 * torch.randn(16, 1, 16, 16)
    loss = nn.CrossEntropyLoss(label_smoothing=0.1)(model(images), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(it, f"{loss.item():.4f} {scheduler.get_last_lr()[0]:.6f}")
