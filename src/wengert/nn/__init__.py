"""Layer 8 · nn: neural networks: modules, parameters, and functions under PyTorch's names.

A class's module is imported when the class is first named: a program that uses three layers pays
for three.
"""

from __future__ import annotations

import importlib
from typing import Any

from wengert.base.elsewhere import elsewhere
from wengert.base.names import shows
from wengert.nn import functional
from wengert.nn.parameter import Buffer, Parameter
from wengert.tensor.overrides import publish

publish(functional)

# where the classes are, by the modules of `wengert.nn.modules`
_CLASSES: dict[str, tuple[str, ...]] = {
    "container": ("Container", "ModuleDict", "ModuleList", "Sequential"),
    "module": ("Module",),
    "attention": ("MultiheadAttention",),
    "rnn": ("GRU", "LSTM", "RNN"),
    "rnn_base": ("RNNBase",),
    "rnn_cells": ("GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"),
    "transformer": ("Transformer", "TransformerDecoder", "TransformerEncoder"),
    "transformer_layers": ("TransformerDecoderLayer", "TransformerEncoderLayer"),
    "lazy_layers": (
        "LazyBatchNorm1d",
        "LazyBatchNorm2d",
        "LazyBatchNorm3d",
        "LazyConv1d",
        "LazyConv2d",
        "LazyConv3d",
        "LazyConvTranspose1d",
        "LazyConvTranspose2d",
        "LazyConvTranspose3d",
        "LazyInstanceNorm1d",
        "LazyInstanceNorm2d",
        "LazyInstanceNorm3d",
        "LazyLinear",
    ),
    "activation": (
        "Hardshrink",
        "LogSigmoid",
        "Sigmoid",
        "Softplus",
        "Softshrink",
        "Softsign",
        "Tanh",
        "Tanhshrink",
    ),
    "rectifiers": (
        "CELU",
        "ELU",
        "GELU",
        "Hardsigmoid",
        "Hardswish",
        "Hardtanh",
        "LeakyReLU",
        "Mish",
        "PReLU",
        "RReLU",
        "ReLU",
        "ReLU6",
        "SELU",
        "SiLU",
        "Threshold",
    ),
    "adaptive": ("AdaptiveLogSoftmaxWithLoss",),
    "adaptive_pooling": (
        "AdaptiveAvgPool1d",
        "AdaptiveAvgPool2d",
        "AdaptiveAvgPool3d",
        "AdaptiveMaxPool1d",
        "AdaptiveMaxPool2d",
        "AdaptiveMaxPool3d",
        "FractionalMaxPool2d",
        "FractionalMaxPool3d",
    ),
    "batchnorm": ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"),
    "conv": ("Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"),
    "distance": ("CosineSimilarity", "PairwiseDistance"),
    "dropout": (
        "AlphaDropout",
        "Dropout",
        "Dropout1d",
        "Dropout2d",
        "Dropout3d",
        "FeatureAlphaDropout",
    ),
    "flatten": ("Flatten", "Unflatten"),
    "fold": ("Fold", "Unfold"),
    "instancenorm": ("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"),
    "linear": ("Bilinear", "Identity", "Linear"),
    "linear_loss": ("LinearCrossEntropyLoss",),
    "loss": (
        "BCELoss",
        "BCEWithLogitsLoss",
        "CTCLoss",
        "CrossEntropyLoss",
        "GaussianNLLLoss",
        "HuberLoss",
        "KLDivLoss",
        "L1Loss",
        "MSELoss",
        "NLLLoss",
        "PoissonNLLLoss",
        "SmoothL1Loss",
    ),
    "margin_loss": (
        "CosineEmbeddingLoss",
        "HingeEmbeddingLoss",
        "MarginRankingLoss",
        "MultiLabelMarginLoss",
        "MultiLabelSoftMarginLoss",
        "MultiMarginLoss",
        "SoftMarginLoss",
        "TripletMarginLoss",
        "TripletMarginWithDistanceLoss",
    ),
    "normalisation": ("GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"),
    "padding": (
        "CircularPad1d",
        "CircularPad2d",
        "CircularPad3d",
        "ConstantPad1d",
        "ConstantPad2d",
        "ConstantPad3d",
        "ReflectionPad1d",
        "ReflectionPad2d",
        "ReflectionPad3d",
        "ReplicationPad1d",
        "ReplicationPad2d",
        "ReplicationPad3d",
        "ZeroPad1d",
        "ZeroPad2d",
        "ZeroPad3d",
    ),
    "parallel": ("DataParallel",),
    "pixelshuffle": ("ChannelShuffle", "PixelShuffle", "PixelUnshuffle"),
    "pooling": (
        "AvgPool1d",
        "AvgPool2d",
        "AvgPool3d",
        "LPPool1d",
        "LPPool2d",
        "LPPool3d",
        "MaxPool1d",
        "MaxPool2d",
        "MaxPool3d",
        "MaxUnpool1d",
        "MaxUnpool2d",
        "MaxUnpool3d",
    ),
    "softmax": ("GLU", "LogSoftmax", "Softmax", "Softmax2d", "Softmin"),
    "sparse": ("Embedding", "EmbeddingBag"),
    "upsampling": ("Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"),
    "parameters": ("ParameterDict", "ParameterList"),
}

CLASSES = {
    **{name: f"wengert.nn.modules.{file}" for file, names in _CLASSES.items() for name in names},
    **dict.fromkeys(("UninitializedBuffer", "UninitializedParameter"), "wengert.nn.lazy"),
}

# modules of this package that are imported when they are first named
_MODULES: tuple[str, ...] = (
    "attention",
    "common_types",
    "grad",
    "init",
    "modules",
    "parallel",
    "utils",
)

__all__ = ["Buffer", "Parameter", "functional", *CLASSES, *_MODULES]
__dir__ = shows(__all__)


def __getattr__(name: str) -> Any:
    if name in CLASSES:
        return globals().setdefault(name, getattr(importlib.import_module(CLASSES[name]), name))
    if name in (*_MODULES, "_reduction"):
        return importlib.import_module(f"wengert.nn.{name}")
    return elsewhere(__name__)(name)
