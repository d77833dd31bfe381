"""Signals: Fourier transforms, filters, and optimisation of complex numbers."""

import torch

torch.manual_seed(0)
t = torch.arange(64) / 64
x = torch.sin(2 * torch.pi * 5 * t) + 0.5 * torch.cos(2 * torch.pi * 12 * t) + 0.1 * torch.randn(64)
X = torch.fft.rfft(x)
print(X.abs().topk(2).indices.sort().values, torch.fft.rfftfreq(64, 1 / 64)[:3])
filtered = torch.fft.irfft(torch.where(X.abs() > 10, X, torch.zeros_like(X)), n=64)
print((filtered - x).norm())
S = torch.stft(x, n_fft=16, hop_length=8, window=torch.hann_window(16), return_complex=True)
back = torch.istft(S, n_fft=16, hop_length=8, window=torch.hann_window(16), length=64)
print(S.shape, torch.allclose(back, x, atol=1e-6))
z = torch.randn(3, dtype=torch.cfloat, requires_grad=True)
target = torch.tensor([1 + 1j, -1j, 0.5])
optimizer = torch.optim.SGD([z], lr=0.2)
for _ in range(20):
    optimizer.zero_grad()
    loss = (z - target).abs().pow(2).sum() + (z * z.conj()).real.sum() * 0.01
    loss.backward()
    optimizer.step()
print(z, z.angle(), torch.view_as_real(z.detach()))
kernel = torch.tensor([0.25, 0.5, 0.25], requires_grad=True)
n = 66
y = torch.fft.irfft(torch.fft.rfft(x, n=n) * torch.fft.rfft(kernel, n=n), n=n)
print(
    torch.allclose(
        y,
        torch.nn.functional.conv1d(x[None, None], kernel.flip(0)[None, None], padding=2)[0, 0],
        atol=1e-5,
    )
)
y.square().sum().backward()
print(kernel.grad, torch.fft.fftshift(torch.arange(4)), torch.fft.fft2(torch.eye(3)).abs().sum())
