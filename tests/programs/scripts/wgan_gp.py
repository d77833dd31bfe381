"""A Wasserstein critic with a gradient penalty."""

import torch
import torch.autograd as autograd
import torch.nn as nn

torch.manual_seed(5)
G = nn.Sequential(nn.Linear(2, 16), nn.ReLU(True), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.ReLU(inplace=True), nn.Linear(16, 1))
opt_g = torch.optim.RMSprop(G.parameters(), lr=1e-3)
opt_d = torch.optim.RMSprop(D.parameters(), lr=1e-3)


def gradient_penalty(real, fake):
    alpha = torch.rand(real.size(0), 1).expand_as(real)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    out = D(mixed)
    (grad,) = autograd.grad(
        outputs=out,
        inputs=mixed,
        grad_outputs=torch.ones_like(out),
        create_graph=True,
        retain_graph=True,
    )
    return ((grad.view(grad.size(0), -1).norm(2, dim=1) - 1) ** 2).mean()


for it in range(20):
    for _ in range(3):
        real = torch.randn(16, 2) + torch.tensor([2.0, -1.0])
        fake = G(torch.randn(16, 2)).detach()
        opt_d.zero_grad()
        loss = D(fake).mean() - D(real).mean() + 10 * gradient_penalty(real, fake)
        loss.backward()
        opt_d.step()
    opt_g.zero_grad()
    g_loss = -D(G(torch.randn(16, 2))).mean()
    g_loss.backward()
    opt_g.step()
    if it % 5 == 0:
        print(it, "%.4f %.4f" % (loss, g_loss))
