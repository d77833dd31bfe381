"""Autocast, a scaler of gradients, accumulation, and an average of the weights."""

import torch
import torch.nn as nn
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.GELU(), nn.Linear(12, 3))
ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
swa = AveragedModel(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
swa_scheduler = SWALR(optimizer, swa_lr=5e-3, anneal_epochs=2)
scaler = torch.amp.GradScaler("cpu", enabled=False)
x, y = torch.randn(24, 6), torch.randint(0, 3, (24,))
for epoch in range(4):
    for i, (a, b) in enumerate(zip(x.split(6), y.split(6))):
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16, enabled=True):
            out = model(a)
            loss = nn.functional.cross_entropy(out.float(), b) / 2
        scaler.scale(loss).backward()
        if (i + 1) % 2 == 0:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            ema.update_parameters(model)
    swa.update_parameters(model)
    swa_scheduler.step()
    print(epoch, out.dtype, f"{loss.item():.2f}")
update_bn([(x,)], swa)
print(swa(x).shape, ema.n_averaged, int(swa.n_averaged), optimizer.param_groups[0]["lr"])
