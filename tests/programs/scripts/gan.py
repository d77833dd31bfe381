"""Two networks against each other: samples of a normal distribution."""

import torch
from torch import nn

torch.manual_seed(1)
generator = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
critic = nn.Sequential(nn.Linear(1, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
loss_of = nn.BCELoss()
make = torch.optim.Adam
d_opt = make(critic.parameters(), lr=2e-3, betas=(0.5, 0.999))
g_opt = make(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
for step in range(40):
    real = torch.randn(32, 1) * 0.5 + 3
    fake = generator(torch.randn(32, 4))
    d_loss = loss_of(critic(real), torch.ones(32, 1)) + loss_of(
        critic(fake.detach()), torch.zeros(32, 1)
    )
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()
    g_loss = loss_of(critic(fake), torch.ones(32, 1))
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    if step % 10 == 0:
        print(
            "[%d] D %.4f G %.4f mean %.3f"
            % (step, d_loss.item(), g_loss.item(), fake.mean().item())
        )
