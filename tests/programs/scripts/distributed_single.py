"""Data-parallel training as it runs on one process."""

import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29531", RANK="0", WORLD_SIZE="1")
dist.init_process_group("gloo", rank=0, world_size=1)
torch.manual_seed(0)
model = DDP(nn.Linear(4, 2))
data = TensorDataset(torch.randn(12, 4), torch.randn(12, 2))
sampler = DistributedSampler(
    data, num_replicas=dist.get_world_size(), rank=dist.get_rank(), shuffle=True
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for x, y in DataLoader(data, batch_size=4, sampler=sampler):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    total = loss.detach().clone()
    dist.all_reduce(total, op=dist.ReduceOp.SUM)
    dist.barrier()
    print(epoch, f"{total.item() / dist.get_world_size():.5f}", sorted(model.state_dict()))
dist.destroy_process_group()
print(dist.is_available(), dist.is_initialized())
