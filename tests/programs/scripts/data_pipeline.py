"""Datasets, samplers, and loaders of all kinds."""

import torch
from torch.utils.data import (
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    random_split,
)


class Words(Dataset):
    words = ["a", "bb", "ccc", "dddd", "eeeee"]

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        return {
            "word": self.words[i],
            "length": len(self.words[i]),
            "codes": torch.tensor([ord(c) for c in self.words[i]]),
        }


def collate(samples):
    codes = torch.nn.utils.rnn.pad_sequence([s["codes"] for s in samples], batch_first=True)
    return [s["word"] for s in samples], torch.tensor([s["length"] for s in samples]), codes


class Counting(IterableDataset):
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        assert info is None
        yield from range(7)


torch.manual_seed(0)
for words, lengths, codes in DataLoader(Words(), batch_size=2, shuffle=True, collate_fn=collate):
    print(words, lengths, codes.shape)
print([b.tolist() for b in DataLoader(Counting(), batch_size=3, drop_last=False)])
whole = ConcatDataset(
    [
        TensorDataset(torch.arange(4), torch.arange(4) ** 2),
        TensorDataset(torch.arange(10, 13), torch.zeros(3)),
    ]
)
print(len(whole), whole[5], list(Subset(whole, [0, 6])))
a, b = random_split(range(10), [0.7, 0.3], generator=torch.Generator().manual_seed(42))
print(list(a), list(b))
weighted = WeightedRandomSampler([0.1, 0.9, 0.0], 8, replacement=True)
print(list(weighted), list(RandomSampler(range(4))), list(SequentialSampler(range(3))))
print(default_collate([(1, {"x": 2.0}), (3, {"x": 4.0})]))
loader = DataLoader(
    TensorDataset(torch.arange(6.0)),
    batch_size=4,
    generator=torch.Generator().manual_seed(1),
    shuffle=True,
)
print(len(loader), [x for (x,) in loader], next(iter(loader)))
