"""Save and load a model, and resume training."""

import io

import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(0)


def make():
    m = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
    o = optim.Adam(m.parameters(), lr=0.01, amsgrad=True)
    return m, o, optim.lr_scheduler.StepLR(o, step_size=3, gamma=0.5)


model, optimizer, scheduler = make()
data, target = torch.randn(16, 4), torch.randn(16, 1)


def train(model, optimizer, scheduler, n):
    for _ in range(n):
        optimizer.zero_grad()
        loss = nn.functional.smooth_l1_loss(model(data), target)
        loss.backward()
        optimizer.step()
        scheduler.step()
    return loss.item()


print(round(train(model, optimizer, scheduler, 5), 6))
buffer = io.BytesIO()
torch.save(
    {
        "epoch": 5,
        "model": model.state_dict(),
        "opt": optimizer.state_dict(),
        "sched": scheduler.state_dict(),
    },
    buffer,
)
first = train(model, optimizer, scheduler, 5)
buffer.seek(0)
checkpoint = torch.load(buffer, weights_only=True)
model2, optimizer2, scheduler2 = make()
print(model2.load_state_dict(checkpoint["model"]))
optimizer2.load_state_dict(checkpoint["opt"])
scheduler2.load_state_dict(checkpoint["sched"])
print(
    checkpoint["epoch"],
    round(train(model2, optimizer2, scheduler2, 5), 6) == round(first, 6),
    round(first, 6),
)
print(
    model2.load_state_dict(
        {k: v for k, v in checkpoint["model"].items() if "bias" in k}, strict=False
    )
)
try:
    model2.load_state_dict({"0.weight": torch.zeros(2, 2)})
except RuntimeError as e:
    print(str(e).splitlines()[0])
