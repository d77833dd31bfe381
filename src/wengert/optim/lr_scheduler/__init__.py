"""Layer 9 · optim: schedules of learning rates."""

from wengert.base.elsewhere import elsewhere
from wengert.base.names import shows
from wengert.optim.lr_scheduler.base import LRScheduler
from wengert.optim.lr_scheduler.composed import ChainedScheduler, SequentialLR
from wengert.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from wengert.optim.lr_scheduler.cycles import CyclicLR, OneCycleLR
from wengert.optim.lr_scheduler.decays import (
    ConstantLR,
    ExponentialLR,
    LinearLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from wengert.optim.lr_scheduler.factors import LambdaLR, MultiplicativeLR
from wengert.optim.lr_scheduler.plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
__dir__ = shows(__all__)
__getattr__ = elsewhere(__name__)
