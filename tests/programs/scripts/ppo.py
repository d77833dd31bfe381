"""Proximal policy optimisation with continuous actions, on a point that seeks the origin."""

import torch
import torch.nn as nn
from torch.distributions import Normal
from torch.utils.data import BatchSampler, SubsetRandomSampler

torch.manual_seed(0)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        self.critic = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
        self.log_std = nn.Parameter(torch.zeros(2))
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.orthogonal_(m.weight, 2**0.5)
                m.bias.data.zero_()

    def act(self, s):
        return Normal(self.actor(s), self.log_std.exp().expand_as(s))


ac = ActorCritic()
optimizer = torch.optim.Adam(ac.parameters(), lr=3e-3, eps=1e-5)
for update in range(3):
    states, actions, logps, rewards, values = [], [], [], [], []
    s = torch.randn(2)
    for t in range(32):
        with torch.no_grad():
            pi = ac.act(s)
            a = pi.sample()
            values.append(ac.critic(s).squeeze())
        states.append(s)
        actions.append(a)
        logps.append(pi.log_prob(a).sum())
        s = s + 0.1 * a.clamp(-1, 1)
        rewards.append(-s.norm())
    advantages = torch.zeros(32)
    last = 0.0
    for t in reversed(range(32)):
        following = values[t + 1] if t < 31 else 0.0
        last = rewards[t] + 0.99 * following - values[t] + 0.95 * 0.99 * last
        advantages[t] = last
    returns = advantages + torch.stack(values)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    S, A, LP = map(torch.stack, (states, actions, logps))
    for _ in range(2):
        for index in BatchSampler(SubsetRandomSampler(range(32)), 16, False):
            pi = ac.act(S[index])
            ratio = (pi.log_prob(A[index]).sum(-1) - LP[index]).exp()
            surrogate = torch.min(
                ratio * advantages[index], ratio.clamp(0.8, 1.2) * advantages[index]
            ).mean()
            value_loss = (ac.critic(S[index]).squeeze(-1) - returns[index]).pow(2).mean()
            loss = -surrogate + 0.5 * value_loss - 0.01 * pi.entropy().sum(-1).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(ac.parameters(), 0.5)
            optimizer.step()
    print(update, f"{loss.item():.5f}", torch.stack(rewards).mean())
