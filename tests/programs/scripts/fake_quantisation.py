"""Train a small network whose weights and activations are rounded to a few bits."""

import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval


class LearnedStep(torch.autograd.Function):
    """Rounding whose step size has a gradient, too."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, step, low, high):
        return (x / step).clamp(low, high).round() * step

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, step, *ctx.limits = inputs
        ctx.save_for_backward(x, step)

    @staticmethod
    def backward(ctx, upstream):
        x, step = ctx.saved_tensors
        low, high = ctx.limits
        v = x / step
        below, above = v < low, v > high
        inside = ~(below | above)
        slope = below * low + above * high + inside * (v.round() - v)
        return upstream * inside, (slope * upstream).sum().reshape_as(step), None, None


class QuantLinear(nn.Linear):
    """A linear layer that observes the range of its inputs, and rounds them and its weights."""

    def __init__(self, *sizes, bits=4):
        super().__init__(*sizes)
        self.bits = bits
        self.register_buffer("lowest", torch.tensor(float("inf")))
        self.register_buffer("highest", torch.tensor(float("-inf")))

    @classmethod
    def of(cls, layer):
        made = cls(layer.in_features, layer.out_features)
        made.load_state_dict(layer.state_dict(), strict=False)
        return made

    def extra_repr(self):
        return f"{super().extra_repr()}, bits={self.bits}"

    def forward(self, x):
        if self.training:
            low, high = torch.aminmax(x.detach())
            self.lowest.copy_(torch.minimum(self.lowest, low))
            self.highest.copy_(torch.maximum(self.highest, high))
        most = 2**self.bits - 1
        step = (self.highest - self.lowest).clamp_min(1e-6) / most
        zero = (-self.lowest / step).round().clamp(0, most)
        x = torch.fake_quantize_per_tensor_affine(x, step.item(), int(zero), 0, most)
        half = 2 ** (self.bits - 1) - 1
        steps = self.weight.detach().abs().amax(1) / half
        points = torch.zeros(len(steps), dtype=torch.int32)
        weight = torch.fake_quantize_per_channel_affine(self.weight, steps, points, 0, -half, half)
        return F.linear(x, weight, self.bias)


def converted(module):
    for name, child in module.named_children():
        if type(child) is nn.Linear:
            setattr(module, name, QuantLinear.of(child))
        else:
            converted(child)
    return module


def main():
    torch.manual_seed(0)
    x, step = torch.randn(4, 6, requires_grad=True), torch.tensor(0.1, requires_grad=True)
    LearnedStep.apply(x, step, -8, 7).square().sum().backward()
    print(x.grad.sum(), step.grad)
    rows = torch.func.vmap(lambda row: LearnedStep.apply(row, step.detach(), -8, 7))(x.detach())
    print(rows.sum(0))
    net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.Hardswish(), nn.Linear(16, 2))
    quantised = converted(copy.deepcopy(net))
    print(quantised)
    optimizer = torch.optim.NAdam(quantised.parameters(), lr=0.02)
    inputs = torch.randn(32, 6)
    targets = (inputs[:, 0] * inputs[:, 1] > 0).long()
    for _ in range(5):
        optimizer.zero_grad()
        loss = F.cross_entropy(quantised(inputs), targets)
        loss.backward()
        optimizer.step()
        print(f"{loss.item():.4f}", quantised[0].weight.grad.norm())
    net.eval()
    fused = fuse_linear_bn_eval(net[0], net[1])
    print(torch.allclose(fused(inputs), net[1](net[0](inputs)), atol=1e-5))
    conv, norm = nn.Conv2d(2, 3, 3).eval(), nn.BatchNorm2d(3).eval()
    norm.running_mean.uniform_()
    image = torch.randn(1, 2, 5, 5)
    print(torch.allclose(fuse_conv_bn_eval(conv, norm)(image), norm(conv(image)), atol=1e-5))


if __name__ == "__main__":
    main()
