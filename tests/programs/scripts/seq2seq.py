"""An encoder and a decoder with attention that reverse sequences of digits."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

random.seed(1)
torch.manual_seed(1)
PAD, SOS, EOS = 0, 1, 2


class Encoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden, padding_idx=PAD)
        self.gru = nn.GRU(hidden, hidden, bidirectional=True, batch_first=True)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(
            self.embedding(x), lengths, batch_first=True, enforce_sorted=False
        )
        out, h = self.gru(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return out[..., : out.size(-1) // 2] + out[..., out.size(-1) // 2 :], h.sum(0, keepdim=True)


class Decoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden)
        self.cell = nn.GRUCell(2 * hidden, hidden)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, token, h, memory, mask):
        scores = torch.bmm(memory, h.unsqueeze(2)).squeeze(2).masked_fill(~mask, float("-inf"))
        weights = F.softmax(scores, dim=1)
        context = torch.einsum("bt,bth->bh", weights, memory)
        h = self.cell(torch.cat((self.embedding(token), context), 1), h)
        return F.log_softmax(self.out(h), dim=1), h


enc, dec = Encoder(13, 16), Decoder(13, 16)
optimizer = optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.01)
criterion = nn.NLLLoss(ignore_index=PAD)
for it in range(20):
    seqs = [
        torch.tensor([random.randint(3, 12) for _ in range(random.randint(2, 5))]) for _ in range(8)
    ]
    lengths = torch.tensor([len(s) for s in seqs])
    x = pad_sequence(seqs, batch_first=True)
    y = pad_sequence(
        [torch.cat([s.flip(0), torch.tensor([EOS])]) for s in seqs],
        batch_first=True,
        padding_value=PAD,
    )
    memory, h = enc(x, lengths)
    h, token, loss = h[0], torch.full((8,), SOS), 0
    forced = random.random() < 0.5
    for t in range(y.size(1)):
        logp, h = dec(token, h, memory, x != PAD)
        loss += criterion(logp, y[:, t])
        token = y[:, t] if forced else logp.topk(1)[1].squeeze(1).detach()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 5 == 4:
        print(it, f"{loss.item() / y.size(1):.4f}")
