"""Profiling a model, and timing it."""

import torch
import torch.nn as nn
import torch.utils.benchmark as benchmark
from torch.profiler import ProfilerActivity, profile, record_function

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 1))
x = torch.randn(8, 20)
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    with record_function("model_inference"):
        y = model(x)
    y.sum().backward()
names = {e.key for e in prof.key_averages()}
print("model_inference" in names, any("addmm" in n or "linear" in n for n in names))
table = prof.key_averages().table(sort_by="cpu_time_total", row_limit=5)
print("Self CPU" in table)
timer = benchmark.Timer(stmt="model(x)", globals={"model": model, "x": x})
print(timer.timeit(10).mean > 0)
