"""What a network looks at: saliency, integrated gradients, Grad-CAM, guided backpropagation."""

import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(1, 4, 3, padding=1),
    nn.ReLU(),
    nn.Conv2d(4, 6, 3, padding=1),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(6, 3),
)
net.eval()
image = torch.randn(1, 1, 8, 8)


def saliency(x):
    x = x.clone().requires_grad_()
    net(x)[0, 1].backward()
    return x.grad.abs().amax(dim=1)


def integrated(x, steps=16):
    baseline = torch.zeros_like(x)
    total = torch.zeros_like(x)
    for a in torch.linspace(0, 1, steps):
        p = (baseline + a * (x - baseline)).detach().requires_grad_()
        total += torch.autograd.grad(net(p)[0, 1], p)[0]
    return (x - baseline) * total / steps


acts, grads = [], []
layer = net[2]
h1 = layer.register_forward_hook(lambda m, i, o: acts.append(o))
h2 = layer.register_full_backward_hook(lambda m, gi, go: grads.append(go[0]))
net(image)[0, 1].backward()
cam = torch.relu((grads[0].mean((2, 3), keepdim=True) * acts[0]).sum(1))
h1.remove()
h2.remove()


def guided(module, grad_input, grad_output):
    return (grad_input[0].clamp(min=0.0),)


handles = [m.register_full_backward_hook(guided) for m in net if isinstance(m, nn.ReLU)]
g = saliency(image)
for h in handles:
    h.remove()
print(
    saliency(image).sum(),
    integrated(image).sum(),
    net(image)[0, 1] - net(torch.zeros_like(image))[0, 1],
)
print(cam.shape, cam.max(), g.sum())
