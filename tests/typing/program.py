"""Typical lines of a typed program, which type checkers must accept."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import wengert as torch
import wengert.nn.functional as F
from wengert import Tensor, nn, optim
from wengert.autograd import Function
from wengert.autograd.function import FunctionCtx
from wengert.func import functional_call, grad, jacrev, vmap
from wengert.nn.parameter import Parameter
from wengert.optim.lr_scheduler import StepLR
from wengert.utils.data import DataLoader, Dataset, TensorDataset, random_split


def creation() -> list[Tensor]:
    device = torch.device("cpu")
    made = [
        torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, device=device),
        torch.zeros(2, 3),
        torch.ones((2, 3), dtype=torch.float32),
        torch.full((2,), 0.5),
        torch.arange(10),
        torch.arange(0.0, 1.0, 0.1),
        torch.linspace(0, 1, steps=5),
        torch.eye(3, requires_grad=True),
        torch.randn(4, 5),
        torch.rand(4, generator=torch.Generator()),
        torch.randint(0, 10, (3,)),
        torch.randint(10, size=(3,), dtype=torch.int64),
        torch.from_numpy(np.ones(3)),
        torch.as_tensor([1, 2, 3]),
        torch.empty(0),
        torch.normal(0.0, 1.0, size=(2, 2)),
        torch.randperm(5),
    ]
    made.append(torch.zeros_like(made[0]))
    made.append(made[0].new_zeros(3, 4))
    return made


def attributes(x: Tensor) -> tuple[int, ...]:
    shape: torch.Size = x.shape
    rows, columns = x.shape[0], x.size(1)
    kind: torch.dtype = x.dtype
    where: torch.device = x.device
    total: int = x.numel() + x.dim() + x.ndim + rows + columns
    flags: list[bool] = [x.requires_grad, x.is_leaf, x.is_contiguous(), kind.is_floating_point]
    print(total, flags, where, len(shape), x.stride(), x.element_size())
    number = x.sum().item() + 1
    as_float: float = float(x.mean())
    array: np.ndarray[Any, Any] = x.detach().cpu().numpy()
    print(number, as_float, array.shape, x.tolist())
    return tuple(x.size())


def indexing(x: Tensor) -> Tensor:
    y = x[0] + x[:, 0] + x[..., None].squeeze(-1) + x[1:, ::2].sum()
    mask = x > 0
    y = y + x[mask].mean() + x[[0, 1]].sum() + x[torch.tensor([0, 1]), 0].sum()
    x = x.clone()
    x[0, 1] = 3.0
    x[mask] = 0
    x[:, None] = torch.ones(1)
    for row in x:
        y = y.sum() + row.sum()
    first, second = x.chunk(2)
    parts = x.split(1, dim=0) + x.unbind(0)
    first, second = torch.cat([first, second]), torch.stack([y, *(part.sum() for part in parts)])
    return first.sum() + second if bool(mask.any()) else y


def reductions(x: Tensor) -> Tensor:
    values, indices = x.max(dim=1)
    best = x.max(dim=1).values + x.min(1, keepdim=True).values.squeeze(1)
    largest: Tensor = x.max()
    either: Tensor = torch.max(x, torch.zeros_like(x))
    ordered, order = torch.sort(x, dim=-1, descending=True)
    top = x.topk(2, dim=1)
    std, mean = torch.std_mean(x, dim=0)
    rows, columns = torch.where(x > 0)
    chosen = torch.where(x > 0, x, 0.0)
    places: Tensor = x.nonzero()
    pair: tuple[Tensor, ...] = x.nonzero(as_tuple=True)
    distinct, counts = torch.unique(x, return_counts=True)
    total = x.sum(dim=(0, 1)) + x.mean(dim=0, keepdim=True).prod() + x.var(dim=0, unbiased=False)
    total = total + x.norm() + x.logsumexp(dim=1).sum() + x.argmax(dim=1).sum() + x.cumsum(0).sum()
    print(values, indices, best, largest, either, ordered, order, top.indices, std, mean)
    print(rows, columns, chosen, places, pair, distinct, counts, x.all(), x.any().item())
    return total


def arithmetic(x: Tensor, y: Tensor) -> Tensor:
    z = 2 * x + y / 3 - x**2 + (1 - y) @ x.T + x.matmul(y) - (-x).abs()
    z += x.exp().clamp(min=0.0, max=10) * math.pi
    z = torch.sin(z).add(y, alpha=2).mul_(0.5) + torch.pow(x, 2) + torch.einsum("ij,kj->ik", x, y)
    z = z.view(-1).reshape(2, -1).permute(1, 0).transpose(0, 1).contiguous().unsqueeze(0)
    z = z.expand(3, -1, -1).flatten(1).to(torch.float64).float().type(torch.float32)
    z = torch.stack([z, z], dim=0).masked_fill(z > 1, 0.0).gather(0, torch.zeros(1, 1, 1).long())
    same: bool = torch.allclose(x, y, atol=1e-6) and torch.equal(x, y)
    less: Tensor = (x < y) & (x == y) | ~(x >= 1)
    return z if same else less.float()


def linear_algebra(a: Tensor, b: Tensor) -> Tensor:
    u, s, vh = torch.linalg.svd(a, full_matrices=False)
    eigenvalues, eigenvectors = torch.linalg.eigh(a)
    solution = torch.linalg.solve(a, b) + torch.linalg.inv(a) @ b
    size = torch.linalg.norm(a, ord="fro") + torch.linalg.vector_norm(b) + torch.linalg.det(a)
    spectrum = torch.fft.fft(a).abs() + torch.fft.ifft(torch.fft.fft(b)).real
    special = torch.special.expit(a) + torch.special.gammaln(b)
    q = torch.linalg.qr(a).Q
    return solution * size + u @ vh + s + eigenvalues + eigenvectors + spectrum + special + q


class Block(nn.Module):
    mean: Tensor

    def __init__(self, features: int, hidden: int = 16, dropout: float = 0.1) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(features, hidden),
            nn.ReLU(inplace=True),
            nn.Dropout(dropout),
            nn.Linear(hidden, features, bias=False),
        )
        self.norm = nn.LayerNorm(features)
        self.scale = nn.Parameter(torch.ones(features))
        self.register_buffer("mean", torch.zeros(features))

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x + self.net(x - self.mean) * self.scale)


class Net(nn.Module):
    def __init__(self, classes: int, depth: int = 2) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, kernel_size=3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.bn = nn.BatchNorm2d(8)
        self.blocks = nn.ModuleList([Block(8) for _ in range(depth)])
        self.heads = nn.ModuleDict({"class": nn.Linear(8, classes)})
        self.lstm = nn.LSTM(8, 8, num_layers=1, batch_first=True)
        self.embedding = nn.Embedding(10, 8)
        self.apply(self._reset)

    @staticmethod
    def _reset(module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor, labels: Tensor | None = None) -> Tensor:
        x = self.pool(F.relu(self.bn(self.conv(x))))
        x = x.mean(dim=(2, 3))
        for block in self.blocks:
            x = block(x)
        out, (hidden, cell) = self.lstm(x.unsqueeze(1))
        if labels is not None:
            x = x + self.embedding(labels) + hidden[-1] + cell[-1]
        x = F.dropout(out.squeeze(1) + x, p=0.1, training=self.training)
        logits: Tensor = self.heads["class"](x)
        return logits


class Squares(Dataset[tuple[Tensor, Tensor]]):
    def __init__(self, count: int) -> None:
        self.x = torch.randn(count, 1, 4, 4)
        self.y = torch.randint(0, 3, (count,))

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.x[index], self.y[index]


def evaluate(model: nn.Module, loader: DataLoader[tuple[Tensor, Tensor]]) -> float:
    model.eval()
    correct, total = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            guess = model(x).argmax(dim=1)
            correct += (guess == y).sum().item()
            total += y.size(0)
    return correct / total


@torch.no_grad()
def sharpness(x: Tensor) -> Tensor:
    return x.softmax(dim=-1).max(dim=-1).values


def train(epochs: int = 2, lr: float = 1e-3) -> dict[str, Any]:
    torch.manual_seed(0)
    data, held = random_split(Squares(8), [6, 2])
    loader = DataLoader(data, batch_size=2, shuffle=True)
    model = Net(3).to("cpu")
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.5)
    for epoch in range(epochs):
        model.train()
        running = 0.0
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(x, labels=y), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            optimizer.step()
            running += loss.item() * x.size(0)
        scheduler.step()
        print(epoch, running, optimizer.param_groups[0]["lr"])
    print(evaluate(model, DataLoader(held)), sum(p.numel() for p in model.parameters()))
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            print(name, parameter.grad.norm().item(), parameter.requires_grad)
    model.load_state_dict(model.state_dict())
    state: dict[str, Any] = model.state_dict()
    return state


class Cube(Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        result: Tensor = 3 * x**2 * grad_output
        return result


def derivatives(x: Tensor) -> Tensor:
    def energy(v: Tensor) -> Tensor:
        return (v**2).sum() + Cube.apply(v).sum()

    x = x.requires_grad_()
    (slope,) = torch.autograd.grad(energy(x), [x], create_graph=True)
    handle = slope.register_hook(lambda g: 2 * g)
    slope.sum().backward()
    handle.remove()
    assert x.grad is not None
    second = x.grad.clone()
    x.grad = None
    force: Callable[[Tensor], Tensor] = grad(energy)
    each = vmap(force)(torch.stack([x, x])) + jacrev(force)(x).sum()
    with torch.enable_grad(), torch.set_grad_enabled(True):
        hessian = torch.autograd.functional.hessian(energy, x)
    print(hessian)
    return second + each


def lines(model: Net, x: Tensor) -> Iterator[Tensor]:
    values = {name: p.detach() for name, p in model.named_parameters()}
    yield functional_call(model, values, (x,))
    small = nn.Sequential(OrderedDict([("first", nn.Linear(2, 2)), ("act", nn.Tanh())]))
    yield small(x)
    weight: Parameter = model.conv.weight
    yield F.mse_loss(weight, torch.zeros_like(weight), reduction="sum")
    yield sharpness(F.log_softmax(x, dim=-1)) + F.cross_entropy(x, x.argmax(1))
    lbfgs = optim.LBFGS(model.parameters(), lr=0.1)

    def closure() -> Tensor:
        lbfgs.zero_grad()
        loss = model(x).sum()
        loss.backward()
        return loss

    lbfgs.step(closure)
    dataset = TensorDataset(x, x)
    for a, b in DataLoader(dataset, batch_size=4):
        yield a * b
    optimizers: list[optim.Optimizer] = [optim.SGD([weight], lr=0.1, momentum=0.9), lbfgs]
    torch.save({"model": model.state_dict(), "optim": optimizers[0].state_dict()}, "model.pt")
    model.load_state_dict(torch.load("model.pt")["model"])
    if torch.is_tensor(x) and torch.is_grad_enabled() and x.dtype in (torch.float32, torch.float):
        yield x
