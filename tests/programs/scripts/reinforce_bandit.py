"""Policy gradients on a bandit with four arms."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
payoffs = torch.tensor([0.1, 0.4, 0.8, 0.3])
policy = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 4))
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
baseline = 0.0
for step in range(60):
    choice = Categorical(logits=policy(torch.ones(1)))
    arm = choice.sample()
    reward = float(torch.rand(()) < payoffs[arm])
    loss = -choice.log_prob(arm) * (reward - baseline)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline += 0.1 * (reward - baseline)
    if step % 20 == 19:
        print(step, arm.item(), f"{loss.item():.5f}", f"{choice.entropy().item():.5f}")
print(policy(torch.ones(1)).softmax(-1).detach())
