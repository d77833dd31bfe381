"""Layer 8 · nn: the module classes, and the files that define them."""

from __future__ import annotations

_OF_FILES = {
    "container": "Container ModuleDict ModuleList Sequential",
    "module": "Module",
    "attention": "MultiheadAttention",
    "rnn": "GRU LSTM RNN",
    "rnn_base": "RNNBase",
    "rnn_cells": "GRUCell LSTMCell RNNCell RNNCellBase",
    "transformer": "Transformer TransformerDecoder TransformerEncoder",
    "transformer_layers": "TransformerDecoderLayer TransformerEncoderLayer",
    "lazy_layers": (
        "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d "
        "LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d "
        "LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear"
    ),
    "activation": "Hardshrink LogSigmoid Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink",
    "rectifiers": (
        "CELU ELU GELU Hardsigmoid Hardswish Hardtanh LeakyReLU Mish PReLU RReLU ReLU ReLU6 "
        "SELU SiLU Threshold"
    ),
    "adaptive": "AdaptiveLogSoftmaxWithLoss",
    "adaptive_pooling": (
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
        "AdaptiveMaxPool2d AdaptiveMaxPool3d FractionalMaxPool2d FractionalMaxPool3d"
    ),
    "batchnorm": "BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm",
    "conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "distance": "CosineSimilarity PairwiseDistance",
    "dropout": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    "flatten": "Flatten Unflatten",
    "fold": "Fold Unfold",
    "instancenorm": "InstanceNorm1d InstanceNorm2d InstanceNorm3d",
    "linear": "Bilinear Identity Linear",
    "linear_loss": "LinearCrossEntropyLoss LinearCrossEntropyOptions",
    "loss": (
        "BCELoss BCEWithLogitsLoss CTCLoss CrossEntropyLoss GaussianNLLLoss HuberLoss KLDivLoss "
        "L1Loss MSELoss NLLLoss PoissonNLLLoss SmoothL1Loss"
    ),
    "margin_loss": (
        "CosineEmbeddingLoss HingeEmbeddingLoss MarginRankingLoss MultiLabelMarginLoss "
        "MultiLabelSoftMarginLoss MultiMarginLoss SoftMarginLoss TripletMarginLoss "
        "TripletMarginWithDistanceLoss"
    ),
    "normalisation": "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm",
    "padding": (
        "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d "
        "ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d "
        "ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d"
    ),
    "parallel": "DataParallel",
    "pixelshuffle": "ChannelShuffle PixelShuffle PixelUnshuffle",
    "pooling": (
        "AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d "
        "MaxUnpool1d MaxUnpool2d MaxUnpool3d"
    ),
    "softmax": "GLU LogSoftmax Softmax Softmax2d Softmin",
    "sparse": "Embedding EmbeddingBag",
    "upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
    "parameters": "ParameterDict ParameterList",
}
OF_FILES = {file: tuple(names.split()) for file, names in _OF_FILES.items()}
"""The classes of each file in `wengert.nn.modules`."""


def classes_in(module: str) -> list[str]:
    """Return the classes that the module of this name defines."""
    return sorted(OF_FILES[module.rpartition(".")[2]])
