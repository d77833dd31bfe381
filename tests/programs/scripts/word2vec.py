"""Skip-grams with negative sampling, and a bag of embeddings that classifies."""

from collections import Counter

import torch
import torch.nn as nn
import torch.nn.functional as F

text = "the quick brown fox jumps over the lazy dog the fox is quick and the dog is lazy".split()
vocab = {w: i for i, (w, _) in enumerate(Counter(text).most_common())}
torch.manual_seed(0)
centre, context = nn.Embedding(len(vocab), 8), nn.Embedding(len(vocab), 8)
freq = torch.tensor([Counter(text)[w] for w in vocab], dtype=torch.float) ** 0.75
pairs = [
    (vocab[text[i]], vocab[text[j]])
    for i in range(len(text))
    for j in range(max(0, i - 2), min(len(text), i + 3))
    if i != j
]
optimizer = torch.optim.SGD([*centre.parameters(), *context.parameters()], lr=0.3)
for epoch in range(3):
    total = 0.0
    for k in torch.randperm(len(pairs)).split(16):
        c, o = torch.tensor([pairs[i] for i in k.tolist()]).unbind(1)
        negative = torch.multinomial(freq, len(k) * 3, replacement=True).view(-1, 3)
        v = centre(c)
        loss = (
            -F.logsigmoid((v * context(o)).sum(1)).mean()
            - F.logsigmoid(-torch.bmm(context(negative), v.unsqueeze(2))).mean()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, f"{total:.4f}")
print(F.cosine_similarity(centre.weight[0], centre.weight, dim=1).topk(3).indices)
bag = nn.EmbeddingBag(len(vocab), 4, mode="mean")
flat, offsets = torch.tensor([0, 1, 2, 3, 4]), torch.tensor([0, 2])
out = bag(flat, offsets)
out.sum().backward()
print(out.shape, bag.weight.grad.abs().sum())
sparse = nn.Embedding(10, 3, max_norm=1.0)
print(sparse(torch.tensor([1, 2])).norm(dim=1) <= 1.0001)
