"""Connectionist temporal classification with an LSTM."""

import torch
import torch.nn as nn

torch.manual_seed(0)
T, N, C, S = 12, 4, 6, 4
lstm, head = nn.LSTM(5, 8, num_layers=2, bidirectional=True, dropout=0.0), nn.Linear(16, C)
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
optimizer = torch.optim.Rprop([*lstm.parameters(), *head.parameters()], lr=0.01)
x = torch.randn(T, N, 5)
targets = torch.randint(1, C, (N, S))
lengths, sizes = torch.full((N,), T), torch.tensor([4, 3, 2, 1])
h0, c0 = torch.zeros(4, N, 8), torch.zeros(4, N, 8)
for it in range(6):
    out, (h, c) = lstm(x, (h0, c0))
    logp = head(out).log_softmax(2)
    loss = ctc(logp, targets, lengths, sizes)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(it, f"{loss.item():.5f}")
best = logp.argmax(2).T
print([torch.unique_consecutive(b).tolist() for b in best][0][:3], h.shape, c.shape)
cell = nn.LSTMCell(5, 8)
hx = (torch.zeros(N, 8), torch.zeros(N, 8))
for t in range(3):
    hx = cell(x[t], hx)
print(hx[0].sum())
