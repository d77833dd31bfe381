"""An image made by optimising its pixels: content, Gram matrices, total variation."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(0)
features = (
    nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Conv2d(6, 8, 3), nn.ReLU())
    .eval()
    .requires_grad_(False)
)


class Normalization(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = mean.clone().detach().view(-1, 1, 1)
        self.std = std.clone().detach().view(-1, 1, 1)

    def forward(self, img):
        return (img - self.mean) / self.std


def gram(x):
    a, b, c, d = x.size()
    f = x.view(a * b, c * d)
    return torch.mm(f, f.t()).div(a * b * c * d)


norm = Normalization(torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225]))
content, style = torch.rand(1, 3, 12, 12), torch.rand(1, 3, 12, 12)
want_content, want_style = features(norm(content)).detach(), gram(features(norm(style))).detach()
image = content.clone().requires_grad_(True)
optimizer = optim.LBFGS([image], max_iter=4)
run = [0]
while run[0] <= 10:

    def closure():
        with torch.no_grad():
            image.clamp_(0, 1)
        optimizer.zero_grad()
        f = features(norm(image))
        tv = (image[..., 1:] - image[..., :-1]).abs().mean()
        loss = 1e3 * F.mse_loss(gram(f), want_style) + F.mse_loss(f, want_content) + 0.01 * tv
        loss.backward()
        run[0] += 1
        if run[0] % 5 == 0:
            print(run[0], f"{loss.item():.4f}")
        return loss

    optimizer.step(closure)
