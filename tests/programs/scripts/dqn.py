"""Deep Q-learning on a corridor, with a replay memory and a target network."""

import math
import random
from collections import deque, namedtuple
from itertools import count

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

device = torch.device(
    "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
)
Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))
random.seed(0)
torch.manual_seed(0)


class Corridor:
    def reset(self):
        self.at = 2
        return [self.at / 5]

    def step(self, action):
        self.at += 1 if action else -1
        done = self.at in (0, 5)
        return [self.at / 5], float(self.at == 5), done


class DQN(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1, self.layer2 = nn.Linear(1, 16), nn.Linear(16, 2)

    def forward(self, x):
        return self.layer2(F.relu(self.layer1(x)))


policy, target = DQN().to(device), DQN().to(device)
target.load_state_dict(policy.state_dict())
optimizer = optim.AdamW(policy.parameters(), lr=1e-2, amsgrad=True)
memory = deque([], maxlen=200)
env, steps, lengths = Corridor(), 0, []


def optimise():
    if len(memory) < 16:
        return
    batch = Transition(*zip(*random.sample(memory, 16)))
    mask = torch.tensor(
        tuple(map(lambda s: s is not None, batch.next_state)), device=device, dtype=torch.bool
    )
    state, action, reward = torch.cat(batch.state), torch.cat(batch.action), torch.cat(batch.reward)
    values = policy(state).gather(1, action)
    following = torch.zeros(16, device=device)
    if any(s is not None for s in batch.next_state):
        with torch.no_grad():
            following[mask] = (
                target(torch.cat([s for s in batch.next_state if s is not None])).max(1).values
            )
    loss = nn.SmoothL1Loss()(values, (following * 0.9 + reward).unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy.parameters(), 100)
    optimizer.step()


for episode in range(15):
    state = torch.tensor(env.reset(), dtype=torch.float32, device=device).unsqueeze(0)
    for t in count():
        eps = 0.05 + 0.85 * math.exp(-steps / 50)
        steps += 1
        if random.random() > eps:
            with torch.no_grad():
                action = policy(state).max(1).indices.view(1, 1)
        else:
            action = torch.tensor([[random.randrange(2)]], device=device, dtype=torch.long)
        observed, reward, done = env.step(action.item())
        following = (
            None
            if done
            else torch.tensor(observed, dtype=torch.float32, device=device).unsqueeze(0)
        )
        memory.append(Transition(state, action, following, torch.tensor([reward], device=device)))
        state = following
        optimise()
        weights, wanted = policy.state_dict(), target.state_dict()
        for key in weights:
            wanted[key] = weights[key] * 0.1 + wanted[key] * 0.9
        target.load_state_dict(wanted)
        if done:
            lengths.append(t + 1)
            break
print(lengths, policy(torch.tensor([[0.2], [0.8]])))
