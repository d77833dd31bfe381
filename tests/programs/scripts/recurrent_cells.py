"""Cells by hand: a convolutional LSTM, a neural Turing head, teacher forcing, truncated backpropagation."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class ConvLSTM(nn.Module):
    def __init__(self, i, h):
        super().__init__()
        self.h, self.gates = h, nn.Conv2d(i + h, 4 * h, 3, padding="same")

    def forward(self, xs):
        b, t, _, *size = xs.shape
        h = c = xs.new_zeros(b, self.h, *size)
        out = []
        for x in xs.unbind(1):
            i, f, o, g = self.gates(torch.cat((x, h), 1)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            out.append(h)
        return torch.stack(out, 1)


class Memory(nn.Module):
    def __init__(self, slots=5, width=4):
        super().__init__()
        self.slots = nn.Parameter(torch.randn(slots, width))
        self.key, self.beta, self.erase = nn.Linear(3, width), nn.Linear(3, 1), nn.Linear(3, width)

    def forward(self, xs):
        m, reads = self.slots, []
        for x in xs:
            w = F.softmax(
                F.softplus(self.beta(x)) * F.cosine_similarity(m, self.key(x)[None], dim=1), 0
            )
            reads.append(w @ m)
            m = m * (1 - torch.outer(w, self.erase(x).sigmoid())) + torch.outer(w, reads[-1].tanh())
        return torch.stack(reads)


video = torch.randn(2, 4, 1, 6, 6)
conv = ConvLSTM(1, 3)
loss = F.l1_loss(conv(video)[:, :-1, :1], video[:, 1:])
loss.backward()
print(loss, conv.gates.weight.grad.norm())
memory = Memory()
memory(torch.randn(6, 3)).square().mean().backward()
print([round(p.grad.norm().item(), 5) for p in memory.parameters()])
rnn = nn.RNN(2, 6, nonlinearity="relu", num_layers=2)
head = nn.Linear(6, 2)
optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=0.01)
series, h = torch.randn(30, 3, 2).cumsum(0) / 5, None
for chunk in series.split(10):
    if h is not None:
        h = h.detach()
    out, h = rnn(chunk, h)
    loss = F.huber_loss(head(out[:-1]), chunk[1:], delta=0.5)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}")
