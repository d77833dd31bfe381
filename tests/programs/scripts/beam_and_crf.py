"""A conditional random field over tags, decoded by Viterbi, and a beam search."""

import torch
import torch.nn as nn


class CRF(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.t = nn.Parameter(torch.randn(tags, tags) * 0.1)
        self.start, self.end = nn.Parameter(torch.zeros(tags)), nn.Parameter(torch.zeros(tags))

    def normaliser(self, e):
        alpha = self.start + e[:, 0]
        for i in range(1, e.size(1)):
            alpha = torch.logsumexp(alpha.unsqueeze(2) + self.t + e[:, i].unsqueeze(1), dim=1)
        return torch.logsumexp(alpha + self.end, dim=1)

    def score(self, e, y):
        s = self.start[y[:, 0]] + e[:, 0].gather(1, y[:, :1]).squeeze(1)
        for i in range(1, e.size(1)):
            s = s + self.t[y[:, i - 1], y[:, i]] + e[:, i].gather(1, y[:, i : i + 1]).squeeze(1)
        return s + self.end[y[:, -1]]

    @torch.no_grad()
    def decode(self, e):
        score, history = self.start + e[:, 0], []
        for i in range(1, e.size(1)):
            score, best = (score.unsqueeze(2) + self.t + e[:, i].unsqueeze(1)).max(dim=1)
            history.append(best)
        tag = (score + self.end).argmax(1)
        path = [tag]
        for best in reversed(history):
            tag = best.gather(1, tag.unsqueeze(1)).squeeze(1)
            path.insert(0, tag)
        return torch.stack(path, 1)


torch.manual_seed(0)
emit, crf = nn.Linear(4, 3), CRF(3)
optimizer = torch.optim.Adadelta([*emit.parameters(), *crf.parameters()], lr=1.0)
x, y = torch.randn(5, 6, 4), torch.randint(0, 3, (5, 6))
for it in range(20):
    e = emit(x)
    loss = (crf.normaliser(e) - crf.score(e, y)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}", crf.decode(emit(x))[0])
logits = torch.randn(6, 5).log_softmax(1)
beams = [((), 0.0)]
for row in logits:
    grown = [(seq + (k,), s + row[k].item()) for seq, s in beams for k in range(5)]
    beams = sorted(grown, key=lambda b: -b[1])[:2]
print(beams[0][0], round(beams[0][1], 4))
