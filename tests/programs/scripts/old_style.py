"""A script in the style of 2017: Variables, volatile idioms, data, deprecated names."""

from __future__ import print_function

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--no-cuda", action="store_true", default=False)
args = parser.parse_args([])
args.cuda = not args.no_cuda and torch.cuda.is_available()
torch.manual_seed(1)
if args.cuda:
    torch.cuda.manual_seed(1)


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 4, kernel_size=5)
        self.drop = nn.Dropout2d(0.0)
        self.fc1 = nn.Linear(4 * 6 * 6, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.drop(self.conv1(x)), 2))
        x = x.view(x.size()[0], -1)
        return F.log_softmax(self.fc1(F.dropout(x, p=0.0, training=self.training)), dim=1)


model = Net()
if args.cuda:
    model.cuda()
optimizer = optim.SGD(model.parameters(), lr=args.lr, momentum=0.5)
data, target = torch.FloatTensor(8, 1, 16, 16).normal_(), torch.LongTensor(8).random_(10)
for epoch in range(3):
    model.train()
    data, target = Variable(data), Variable(target)
    optimizer.zero_grad()
    loss = F.nll_loss(model(data), target)
    loss.backward()
    optimizer.step()
    print("Train Epoch: {} Loss: {:.6f}".format(epoch, loss.data.item()))
for p in model.parameters():
    p.data.add_(-0.01, p.grad.data) if False else p.data.add_(p.grad.data, alpha=-0.01)
pred = model(data).data.max(1, keepdim=True)[1]
print(
    pred.eq(target.data.view_as(pred)).cpu().sum() >= 0,
    torch.Tensor([1, 2]).type(),
    torch.zeros(2).type(torch.LongTensor),
)
print(
    model.fc1.weight.data.norm(2),
    torch.is_tensor(data),
    data.is_cuda,
    isinstance(data, torch.FloatTensor),
)
