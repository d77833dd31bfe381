"""A convolutional network and an LSTM that read handwritten digits.

The first sees an image as pixels with their neighbours, the second as a sequence of rows from top
to bottom. Both learn from 1,442 images, and are tested on 355 that they have not seen. After 20
epochs the first reads more than 98 % of these correctly, the second more than 97 %.

Change the import line, and the file runs on PyTorch, from the same initial weights and with the
same random numbers.
"""

import sys
import time

import wengert as torch
from wengert.datasets import digits

nn, F = torch.nn, torch.nn.functional


class Convolutional(nn.Module):
    """Two convolutions with pooling, and a linear layer."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
        )
        self.dropout = nn.Dropout(0.2)
        self.classify = nn.Linear(32 * 2 * 2, 10)

    def forward(self, images):
        """Return ten scores for each image; the largest one names the digit."""
        return self.classify(self.dropout(self.features(images.unsqueeze(1))))


class Recurrent(nn.Module):
    """An LSTM that reads an image row by row; the last state names the digit."""

    def __init__(self):
        super().__init__()
        self.read = nn.LSTM(8, 64, batch_first=True)
        self.classify = nn.Linear(64, 10)

    def forward(self, images):
        """Return ten scores for each image."""
        states, _ = self.read(images)
        return self.classify(states[:, -1])


def bar(done, total, text, width=24):
    filled = width * done // total
    end = "\n" if done == total else ""
    print(f"\r  [{'#' * filled}{'.' * (width - filled)}] {text}", end=end, flush=True)


def accuracy(model, images, labels):
    model.eval()
    with torch.no_grad():
        right = (model(images).argmax(dim=1) == labels).double().mean().item()
    model.train()
    return right


def train(model, data, epochs, batch=32):
    images, labels, test_images, test_labels = data
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=4e-3, total_steps=epochs * -(-len(images) // batch)
    )
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(images)).split(batch):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[rows]), labels[rows])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item() * len(rows)
        right = accuracy(model, test_images, test_labels)
        text = f"loss {total / len(images):.4f}  test accuracy {100 * right:5.2f} %"
        bar(epoch + 1, epochs, text)
    return right


def main(epochs=20):
    found = digits()
    images, test_images = (
        torch.from_numpy(pixels.reshape(-1, 8, 8))
        for pixels in (found.train_images, found.test_images)
    )
    labels, test_labels = map(torch.from_numpy, (found.train_labels, found.test_labels))
    data = images, labels, test_images, test_labels
    accuracies = {}
    for kind in (Convolutional, Recurrent):
        torch.manual_seed(0)
        model = kind()
        count = sum(p.numel() for p in model.parameters())
        print(f"{kind.__name__}: {count:,} parameters")
        start = time.perf_counter()
        accuracies[kind.__name__] = train(model, data, epochs)
        print(f"  {time.perf_counter() - start:.1f} s")
    return accuracies


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
