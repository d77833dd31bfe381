"""Layers with inputs, for tests of all layers.

A line of the table is a layer and what it is called with, as ``layer <- input, input``. Layers are
names of ``nn``; inputs are made by these letters, each from a shape:

* ``x``: from the standard normal distribution; differentiable
* ``p``: between 0 and 1; differentiable
* ``s``: 1 or -1
* ``n``: integers; the first number is how many there are, the others are the shape

and ``t(...)``, which is a tensor of just these numbers, of the layer's dtype or of integers.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["LAYERS", "MISUSED", "Layer", "calls"]

LAYERS = """
Identity(3, a=1) <- x(2, 3)
Linear(3, 2) <- x(4, 3)
Linear(3, 2, bias=False) <- x(3)
Linear(3, 1) <- x(2, 2, 3)
modules.linear.NonDynamicallyQuantizableLinear(3, 2) <- x(4, 3)
Bilinear(2, 3, 4) <- x(5, 2), x(5, 3)
Bilinear(2, 3, 1, bias=False) <- x(2), x(3)
LazyLinear(2) <- x(4, 3)
LazyLinear(2, bias=False) <- x(4, 3)
Embedding(5, 3) <- n(5, 2, 4)
Embedding(5, 3, padding_idx=1) <- n(5, 7)
Embedding(5, 3, padding_idx=-1, max_norm=1.0, norm_type=1.5) <- n(5, 7)
Embedding(5, 3, scale_grad_by_freq=True, sparse=False) <- n(3, 6)
EmbeddingBag(5, 3) <- n(5, 2, 4)
EmbeddingBag(5, 3, mode='sum', padding_idx=2) <- n(5, 6), t(0, 2, 2)
EmbeddingBag(5, 3, max_norm=1.0, mode='max') <- n(5, 6), t(0, 3)
EmbeddingBag(5, 3, mode='sum', include_last_offset=True) <- n(5, 6), t(0, 3, 6), p(6)
Conv1d(4, 6, 3) <- x(2, 4, 7)
Conv1d(4, 6, 2, stride=2, padding=1, dilation=2, groups=2, bias=False) <- x(2, 4, 7)
Conv1d(2, 3, 3, padding='same', padding_mode='circular') <- x(2, 5)
Conv2d(2, 4, 3) <- x(2, 2, 5, 4)
Conv2d(2, 4, (3, 2), (2, 1), (1, 0), 1, 2) <- x(2, 2, 5, 4)
Conv2d(2, 3, (2, 3), padding='same', dilation=(1, 2)) <- x(2, 5, 6)
Conv2d(2, 3, 2, padding='valid') <- x(1, 2, 3, 3)
Conv2d(2, 3, (2, 4), padding='same', padding_mode='replicate') <- x(1, 2, 4, 4)
Conv2d(2, 2, 3, padding=(2, 1), padding_mode='reflect') <- x(1, 2, 4, 4)
Conv3d(2, 2, 2, padding=1) <- x(1, 2, 3, 2, 3)
ConvTranspose1d(4, 2, 3) <- x(2, 4, 5)
ConvTranspose1d(4, 2, 3, stride=2, padding=1, output_padding=1, groups=2) <- x(2, 4, 5)
ConvTranspose2d(2, 3, (2, 3), bias=False, dilation=(2, 1)) <- x(2, 3, 3)
ConvTranspose2d(2, 3, 3, stride=3) <- x(1, 2, 2, 2), [8, 7]
ConvTranspose2d(2, 3, 3, stride=3) <- x(1, 2, 2, 2), [1, 3, 6, 8]
ConvTranspose3d(2, 1, 2) <- x(1, 2, 2, 2, 2)
LazyConv1d(6, 3) <- x(2, 4, 7)
LazyConv2d(4, 2, bias=False, groups=2) <- x(1, 2, 4, 4)
LazyConv3d(2, 2, padding='same') <- x(2, 2, 2, 2)
LazyConvTranspose1d(2, 3, 2) <- x(1, 4, 3)
LazyConvTranspose2d(2, 3, dilation=2) <- x(1, 4, 3, 3)
LazyConvTranspose3d(2, 2, bias=False) <- x(1, 2, 2, 2, 2)
Fold((4, 5), (2, 3)) <- x(2, 12, 9)
Unfold((2, 3), padding=1, stride=(1, 2)) <- x(2, 2, 4, 5)
MaxPool1d(2) <- x(2, 3, 7)
MaxPool1d(3, 2, padding=1, ceil_mode=True, return_indices=True) <- x(2, 3, 7)
MaxPool2d((2, 3), stride=1, dilation=2) <- x(2, 6, 7)
MaxPool2d(2, return_indices=True) <- x(1, 2, 4, 5)
MaxPool3d(2) <- x(1, 2, 4, 4, 4)
MaxUnpool1d(2) <- x(1, 2, 3), t([[0, 2, 5], [1, 3, 4]]).unsqueeze(0)
MaxUnpool2d(2, (2, 2), 0) <- x(1, 1, 2), t([[3, 4]]).unsqueeze(0), (2, 5)
MaxUnpool3d(2) <- x(1, 1, 1, 1), t([[[[3]]]])
AvgPool1d(2) <- x(2, 3, 7)
AvgPool1d(3, 2, 1, True, False) <- x(2, 3, 7)
AvgPool2d(2, padding=1) <- x(2, 3, 5, 4)
AvgPool2d((2, 3), 1, divisor_override=5) <- x(3, 5, 4)
AvgPool3d(2, ceil_mode=True) <- x(1, 2, 3, 4, 5)
LPPool1d(2, 3) <- p(2, 3, 7)
LPPool2d(3, (2, 1), stride=2, ceil_mode=True) <- p(1, 2, 5, 4)
LPPool3d(2, 2) <- p(1, 2, 2, 2, 4)
AdaptiveAvgPool1d(3) <- x(2, 3, 7)
AdaptiveAvgPool2d((3, None)) <- x(2, 5, 4)
AdaptiveAvgPool3d((1, 2, 2)) <- x(1, 2, 3, 4, 5)
AdaptiveMaxPool1d(3) <- x(2, 3, 7)
AdaptiveMaxPool2d(2, return_indices=True) <- x(1, 2, 5, 4)
AdaptiveMaxPool3d((1, None, 2)) <- x(1, 2, 3, 4, 5)
FractionalMaxPool2d(2, output_size=(4, 3)) <- x(1, 2, 7, 6)
FractionalMaxPool2d((2, 1), output_ratio=0.6, return_indices=True) <- x(1, 2, 9, 8)
FractionalMaxPool3d(2, output_ratio=(0.5, 0.6, 0.7)) <- x(1, 1, 4, 5, 6)
BatchNorm1d(3) <- x(4, 3)
BatchNorm1d(3, momentum=None) <- x(4, 3, 2)
BatchNorm1d(3, affine=False) <- x(4, 3)
BatchNorm1d(3, bias=False, eps=0.1, momentum=0.5) <- x(4, 3)
BatchNorm2d(2, track_running_stats=False) <- x(2, 2, 3, 2)
BatchNorm2d(2) <- x(2, 2, 3, 2)
BatchNorm3d(2) <- x(2, 2, 2, 3, 2)
LazyBatchNorm1d() <- x(4, 3)
LazyBatchNorm2d(affine=False) <- x(4, 3, 2, 2)
LazyBatchNorm3d(bias=False, track_running_stats=False) <- x(2, 3, 2, 2, 2)
InstanceNorm1d(3) <- x(2, 3, 5)
InstanceNorm1d(3, affine=True) <- x(3, 5)
InstanceNorm2d(2, track_running_stats=True) <- x(2, 2, 3, 2)
InstanceNorm2d(5) <- x(2, 2, 3, 2)
InstanceNorm3d(2, affine=True, bias=False) <- x(2, 2, 2, 3, 2)
LazyInstanceNorm1d() <- x(2, 3, 5)
LazyInstanceNorm2d(affine=False) <- x(2, 3, 2, 2)
LazyInstanceNorm3d(track_running_stats=False) <- x(2, 3, 2, 2, 2)
LayerNorm(4) <- x(3, 4)
LayerNorm([2, 4], eps=0.1, bias=False) <- x(3, 2, 4)
LayerNorm((4,), elementwise_affine=False) <- x(3, 4)
RMSNorm(4) <- x(3, 4)
RMSNorm((2, 4), eps=0.1, elementwise_affine=False) <- x(3, 2, 4)
GroupNorm(2, 4) <- x(2, 4, 3)
GroupNorm(1, 4, affine=False) <- x(2, 4, 3)
GroupNorm(4, 4, bias=False) <- x(2, 4, 3)
LocalResponseNorm(2) <- x(1, 4, 3)
LocalResponseNorm(3, 0.2, 0.5, 2.0) <- x(1, 4, 3, 2)
Dropout() <- x(4, 3)
Dropout(0.2, inplace=False) <- x(4, 3)
Dropout1d(0.4) <- x(4, 3, 2)
Dropout2d(0.4) <- x(4, 3, 2, 2)
Dropout3d(0.4) <- x(2, 3, 2, 2, 2)
AlphaDropout(0.3) <- x(4, 3)
FeatureAlphaDropout(0.3) <- x(4, 3, 2, 1)
ReLU() <- x(3, 4)
ReLU6() <- x(3, 4)
SiLU() <- x(3, 4)
Mish() <- x(3, 4)
SELU() <- x(3, 4)
Hardsigmoid() <- x(3, 4)
Hardswish() <- x(3, 4)
Hardtanh(-0.5, 0.8) <- x(3, 4)
Threshold(0.2, 0.1) <- x(3, 4)
LeakyReLU(0.2) <- x(3, 4)
RReLU() <- x(3, 4)
ELU(0.7) <- x(3, 4)
CELU(0.5) <- x(3, 4)
GELU() <- x(3, 4)
GELU('tanh') <- x(3, 4)
PReLU() <- x(3, 4)
PReLU(4, init=0.1) <- x(3, 4, 2)
Sigmoid() <- x(3, 4)
Tanh() <- x(3, 4)
LogSigmoid() <- x(3, 4)
Softplus(2.0, 1.0) <- x(3, 4)
Softsign() <- x(3, 4)
Tanhshrink() <- x(3, 4)
Hardshrink(0.3) <- x(3, 4)
Softshrink(0.3) <- x(3, 4)
Softmax(1) <- x(3, 4)
Softmax(None) <- x(3, 4)
LogSoftmax(-1) <- x(3, 4)
Softmin(0) <- x(3, 4)
Softmax2d() <- x(2, 3, 4)
GLU() <- x(3, 4)
GLU(0) <- x(4, 3)
Flatten() <- x(2, 3, 4)
Flatten(0, 1) <- x(2, 3, 4)
Unflatten(1, (2, 3)) <- x(4, 6)
PixelShuffle(2) <- x(1, 8, 2, 3)
PixelUnshuffle(2) <- x(1, 2, 4, 6)
ChannelShuffle(2) <- x(1, 4, 3, 2)
Upsample(scale_factor=2) <- x(1, 2, 3)
Upsample((5, 4), mode='bilinear', align_corners=False) <- x(1, 2, 3, 3)
Upsample(scale_factor=(1.5, 2), mode='bicubic', recompute_scale_factor=True) <- x(1, 2, 3, 3)
UpsamplingNearest2d(scale_factor=2) <- x(1, 2, 3, 3)
UpsamplingBilinear2d(size=4) <- x(1, 2, 3, 3)
ReflectionPad1d(2) <- x(2, 4)
ReflectionPad2d((1, 0, 2, 1)) <- x(2, 4, 3)
ReflectionPad3d(1) <- x(1, 2, 2, 3, 2)
ReplicationPad1d((1, 2)) <- x(2, 4)
ReplicationPad2d(1) <- x(2, 4, 3)
ReplicationPad3d((1, 0, 0, 1, 2, 1)) <- x(1, 2, 2, 3, 2)
CircularPad1d((1, 2)) <- x(2, 4)
CircularPad2d(1) <- x(2, 4, 3)
CircularPad3d(1) <- x(1, 2, 2, 3, 2)
ConstantPad1d(2, 1.5) <- x(2, 4)
ConstantPad2d((1, -1, 0, 1), 2) <- x(2, 4, 3)
ConstantPad3d(1, 0.5) <- x(1, 2, 2, 3, 2)
ZeroPad1d((1, 2)) <- x(2, 4)
ZeroPad2d(1) <- x(2, 4, 3)
ZeroPad3d(1) <- x(1, 2, 2, 3, 2)
PairwiseDistance() <- x(3, 4), x(3, 4)
PairwiseDistance(1.5, keepdim=True) <- x(3, 4), x(3, 4)
CosineSimilarity() <- x(3, 4), x(3, 4)
CosineSimilarity(0, eps=0.1) <- x(3, 4), x(3, 4)
L1Loss() <- x(3, 4), x(3, 4)
MSELoss(reduction='sum') <- x(3, 4), x(3, 4)
MSELoss(size_average=False) <- x(3, 4), x(3, 4)
SmoothL1Loss(beta=0.5) <- x(3, 4), x(3, 4)
HuberLoss('none', 0.5) <- x(3, 4), x(3, 4)
NLLLoss() <- x(3, 4), n(4, 3)
NLLLoss(t(0.2, 0.5, 0.3), ignore_index=1) <- x(5, 3), n(3, 5)
NLLLoss(reduction='none') <- x(2, 3, 4), n(3, 2, 4)
CrossEntropyLoss() <- x(3, 4), n(4, 3)
CrossEntropyLoss(weight=t(0.2, 0.5, 0.3), label_smoothing=0.1) <- x(5, 3), n(3, 5)
CrossEntropyLoss(reduction='sum') <- x(3, 4), p(3, 4)
LinearCrossEntropyLoss(4, 3) <- x(5, 4), n(3, 5)
LinearCrossEntropyLoss(4, 3, bias=True, ignore_index=1, label_smoothing=0.1) <- x(5, 4), n(3, 5)
LinearCrossEntropyLoss(4, 3, out_features=(2,), bias=True) <- x(5, 4), n(3, 5, 2)
LinearCrossEntropyLoss(4, 3, weight=t(0.2, 0.5, 0.3), reduction='sum') <- x(4), p(3)
BCELoss() <- p(3, 4), p(3, 4).detach()
BCELoss(t(0.1, 0.2, 0.3, 0.4), reduction='sum') <- p(3, 4), p(3, 4).detach()
BCEWithLogitsLoss(pos_weight=t(1, 2, 3, 4.0)) <- x(3, 4), p(3, 4)
KLDivLoss(reduction='batchmean') <- x(3, 4), p(3, 4)
KLDivLoss(log_target=True, reduction='sum') <- x(3, 4), x(3, 4)
PoissonNLLLoss() <- x(3, 4), p(3, 4)
PoissonNLLLoss(False, True, eps=0.1) <- p(3, 4), p(3, 4)
GaussianNLLLoss(full=True) <- x(3, 4), x(3, 4), p(3, 4)
CTCLoss() <- x(6, 2, 4).log_softmax(2), t([[1, 2, 1], [3, 3, 0]]), t(6, 5), t(3, 2)
CTCLoss(3, 'none', True) <- x(6, 2, 4).log_softmax(2), t([[1, 2, 1], [0, 0, 0]]), t(6, 5), t(3, 3)
HingeEmbeddingLoss(0.5) <- x(3, 4), s(3, 4)
SoftMarginLoss() <- x(3, 4), s(3, 4)
MultiLabelMarginLoss() <- x(2, 4), t([[1, 3, -1, 0], [2, -1, 0, 0]])
MultiLabelSoftMarginLoss(t(0.1, 0.2, 0.3, 0.4)) <- x(3, 4), p(3, 4)
MultiMarginLoss(p=2, margin=0.5, weight=t(0.1, 0.2, 0.3, 0.4)) <- x(3, 4), n(4, 3)
MarginRankingLoss(0.5) <- x(3), x(3), s(3)
CosineEmbeddingLoss(0.2, reduction='sum') <- x(3, 4), x(3, 4), s(3)
TripletMarginLoss(2.0, swap=True) <- x(3, 4), x(3, 4), x(3, 4)
TripletMarginWithDistanceLoss(margin=2.0) <- x(3, 4), x(3, 4), x(3, 4)
AdaptiveLogSoftmaxWithLoss(16, 12, [3, 7]) <- x(9, 16), t(0, 5, 11, 2, 3, 6, 7, 8, 1)
AdaptiveLogSoftmaxWithLoss(8, 6, [2], div_value=2.0, head_bias=True) <- x(8), t(3)[0]
"""

MISUSED = """
Linear(3, 2) <- x(4, 2)
Bilinear(0, 2, 3) <-
Bilinear(2, 3, 4) <- x(5, 3), x(5, 3)
LazyLinear(2).weight.shape <-
Embedding(5, 3, padding_idx=5) <-
Embedding(5, 3, padding_idx=-6) <-
EmbeddingBag(5, 3, padding_idx=5) <-
Embedding(5, 3, _weight=t(1.0, 2.0)) <-
Embedding.from_pretrained(t(1.0, 2.0)) <-
EmbeddingBag.from_pretrained(t(1.0, 2.0)) <-
Embedding(5, 3) <- n(5, 2) + 5
Embedding(5, 3) <- x(2)
EmbeddingBag(5, 3) <- n(5, 6)
EmbeddingBag(5, 3, mode='median') <- n(5, 6, 2)
Conv2d(2, 4, 3, groups=0) <-
Conv2d(3, 4, 3, groups=2) <-
Conv2d(4, 3, 3, groups=2) <-
Conv2d(2, 4, 3, padding='some') <-
Conv2d(2, 4, 3, stride=2, padding='same') <-
Conv2d(2, 4, 3, padding_mode='mirror') <-
Conv2d(2, 4, 3) <- x(2, 3, 5, 5)
Conv2d(2, 4, 3) <- x(5, 5)
Conv2d(2, 4, 3) <- x(2, 2, 2, 2)
ConvTranspose1d(2, 4, 3, padding_mode='circular') <-
ConvTranspose2d(2, 3, 3, stride=3) <- x(1, 2, 2, 2), [9, 7]
ConvTranspose2d(2, 3, 3, stride=3) <- x(1, 2, 2, 2), [7, 7, 7]
ConvTranspose1d(2, 3, 3) <- x(1, 3, 4)
LazyConv2d(4, 3) <- x(2, 2)
LazyConv1d(4, 3, groups=2) <- x(2, 3, 5)
MaxPool2d(2, padding=2) <- x(1, 2, 4, 4)
MaxPool2d(2) <- x(4)
AvgPool2d(2, divisor_override=0) <- x(1, 2, 4, 4)
FractionalMaxPool2d(2) <-
FractionalMaxPool2d(2, 3, 0.5) <-
FractionalMaxPool2d(2, output_ratio=1.5) <-
FractionalMaxPool3d(0, 3) <-
FractionalMaxPool3d(2) <-
MaxUnpool2d(2) <- x(1, 1, 2), x(1, 1, 2)
AdaptiveAvgPool2d((1, 2, 3)) <- x(1, 2, 4, 4)
BatchNorm1d(3) <- x(1, 3)
BatchNorm1d(3) <- x(3)
BatchNorm2d(3) <- x(2, 3)
BatchNorm3d(3) <- x(2, 3, 4, 4)
BatchNorm2d(3) <- x(2, 4, 2, 2)
InstanceNorm1d(3, affine=True) <- x(2, 4, 5)
InstanceNorm1d(3) <- x(2, 3, 4, 5)
InstanceNorm2d(3) <- x(2, 3, 1, 1)
InstanceNorm3d(3) <- x(2, 3, 4)
LayerNorm(4) <- x(3, 5)
RMSNorm(4) <- x(3, 5)
GroupNorm(3, 4) <-
GroupNorm(2, 4) <- x(2, 3)
Dropout(1.5) <-
AlphaDropout(-0.1) <-
Dropout1d() <- x(2)
Hardtanh(1.0, 1.0) <-
Softshrink(-1.0) <- x(3)
GELU('fast') <- x(3)
PReLU(3) <- x(2, 4)
RReLU(0.5, 0.2) <- x(3)
CELU(0) <- x(3)
Softmax(3) <- x(2)
Softmax2d() <- x(2, 2)
GLU() <- x(3)
Unflatten(1, [2, 'a']) <-
Unflatten(1, 6) <-
Unflatten(1, (2, 2)) <- x(4, 6)
Flatten(2, 1) <- x(2, 3, 4)
PixelShuffle(2) <- x(1, 6, 2, 2)
PixelUnshuffle(2) <- x(1, 6, 3, 2)
ChannelShuffle(3) <- x(1, 4, 2)
Upsample() <- x(1, 2, 3)
Upsample(size=3, scale_factor=2) <- x(1, 2, 3)
Upsample(scale_factor=2, mode='cubic') <- x(1, 2, 3)
ReflectionPad1d(4) <- x(2, 4)
ReplicationPad2d(1) <- x(4)
CircularPad1d(5) <- x(2, 4)
CircularPad2d(1) <- x(2, 4)
Fold((4, 5), (2, 3)) <- x(2, 12, 8)
Unfold(5) <- x(1, 1, 4, 4)
L1Loss('mean', 'sum', 'total') <- x(3), x(2)
MSELoss(reduction='total') <- x(3), x(3)
HuberLoss(delta='1') <-
HuberLoss(delta=-1.0) <- x(3), x(3)
NLLLoss() <- x(3, 4), n(4, 2)
CrossEntropyLoss(label_smoothing=2.0) <- x(3, 4), n(4, 3)
LinearCrossEntropyLoss(4, 3, weight=t(0.2, 0.5)) <-
LinearCrossEntropyLoss(4, 3, label_smoothing=-1.0) <-
LinearCrossEntropyLoss(4, 3) <- x(2, 5, 4), n(3, 5)
LinearCrossEntropyLoss(4, 3) <- x(5, 3), n(3, 5)
LinearCrossEntropyLoss(4, 3, out_features=(2,)) <- x(4), n(3, 2)
LinearCrossEntropyLoss(4, 3, ignore_index=1) <- x(2, 4), p(2, 3)
LinearCrossEntropyLoss(4, 3) <- x(5, 4), n(3, 4)
BCELoss() <- x(3) + 3, p(3)
BCEWithLogitsLoss() <- x(3), p(2)
MultiMarginLoss(p=3) <-
MultiMarginLoss(weight=t([[1.0]])) <-
TripletMarginLoss(0.0) <-
TripletMarginWithDistanceLoss(margin=-1.0) <-
CosineEmbeddingLoss() <- x(3, 4), x(3, 4), s(3, 4)
MarginRankingLoss() <- x(3), x(2, 3), s(3)
AdaptiveLogSoftmaxWithLoss(16, 12, []) <-
AdaptiveLogSoftmaxWithLoss(16, 12, [7, 3]) <-
AdaptiveLogSoftmaxWithLoss(16, 12, [3, 12]) <-
AdaptiveLogSoftmaxWithLoss(16, 12, [3]) <- x(2, 16), t(0, 12)
AdaptiveLogSoftmaxWithLoss(16, 12, [3]) <- x(2, 16), t(0, 1, 2)
AdaptiveLogSoftmaxWithLoss(16, 12, [3]) <- x(2, 16), n(3, 2, 2)
AdaptiveLogSoftmaxWithLoss(16, 12, [3]) <- x(16), n(3, 16)
AdaptiveLogSoftmaxWithLoss(16, 12, [3]) <- x(2, 16), t(1)[0]
"""


class Layer(NamedTuple):
    """A layer with arguments to call it with, as a line of a table says them."""

    line: str

    def make(self, module: Any, dtype: str = "float64") -> Any:
        """The layer, in `module`, which is this package or PyTorch.

        Parameters
        ----------
        module
            The package, or PyTorch.
        dtype : str
            Of the parameters and buffers that are floating.

        Examples
        --------
        >>> import wengert as wg
        >>> Layer("Linear(3, 2) <- x(4, 3)").make(wg)
        Linear(in_features=3, out_features=2, bias=True)
        """
        words = _Names({**_makers(module, dtype, 0, []), "modules": module.nn.modules}, module.nn)
        made = eval(self.line.partition(" <-")[0], {"__builtins__": {}}, words)
        # what is not a module is the result of a misuse that should have raised
        return made.to(getattr(module, dtype)) if hasattr(made, "to") else made

    def arguments(self, module: Any, dtype: str = "float64") -> tuple[tuple[Any, ...], list[Any]]:
        """What to call the layer with, the same numbers in every module.

        Parameters
        ----------
        module
            The package, or PyTorch.
        dtype : str
            Of what is floating.

        Returns
        -------
        tuple
            The arguments, and the leaves among them that require a gradient.

        Examples
        --------
        >>> import wengert as wg
        >>> args, leaves = Layer("L1Loss() <- x(4, 3), x(4, 3).detach()").arguments(wg)
        >>> len(args), leaves[0].shape
        (2, torch.Size([4, 3]))
        """
        text = self.line.partition(" <-")[2].strip()
        leaves: list[Any] = []
        names = _makers(module, dtype, zlib.crc32(self.line.encode()), leaves)
        made: tuple[Any, ...] = eval(f"({text},)" if text else "()", {"__builtins__": {}}, names)
        return made, leaves


def calls(table: str) -> dict[str, Layer]:
    """The layers of a table, by their lines.

    Examples
    --------
    >>> next(iter(calls(LAYERS)))
    'Identity(3, a=1) <- x(2, 3)'
    """
    return {line: Layer(line) for line in table.strip().splitlines()}


class _Names(dict[str, Any]):
    def __init__(self, known: dict[str, Any], nn: Any) -> None:
        super().__init__(known)
        self.nn = nn

    def __missing__(self, name: str) -> Any:
        return getattr(self.nn, name)


def _makers(module: Any, dtype: str, seed: int, leaves: list[Any]) -> dict[str, Callable[..., Any]]:
    rng = np.random.default_rng(seed)

    def tensor(array: Any) -> Any:
        kind = dtype if array.dtype.kind == "f" else "int64"
        return module.tensor(array.tolist(), dtype=getattr(module, kind)).reshape(array.shape)

    def leaf(array: Any) -> Any:
        leaves.append(tensor(array).requires_grad_())
        return leaves[-1]

    return {
        "x": lambda *shape: leaf(rng.standard_normal(shape)),
        "p": lambda *shape: leaf(rng.uniform(0.05, 0.95, shape)),
        "s": lambda *shape: tensor(rng.choice([-1.0, 1.0], shape)),
        "n": lambda count, *shape: tensor(rng.integers(0, count, shape)),
        "t": lambda *values: tensor(np.array(values[0] if isinstance(values[0], list) else values)),
    }
