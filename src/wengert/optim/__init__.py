"""Layer 9 · optim: optimisers and learning-rate schedules under PyTorch's names.

An optimiser's module is imported on first access to the class.
"""

from wengert.base.elsewhere import by_name, later
from wengert.base.names import shows
from wengert.optim.optimizer import Optimizer

_WHERE = by_name(
    {
        "adadelta": "Adadelta",
        "adafactor": "Adafactor",
        "adagrad": "Adagrad",
        "adam": "Adam AdamW",
        "adamax": "Adamax",
        "asgd": "ASGD",
        "lbfgs": "LBFGS",
        "muon": "Muon",
        "nadam": "NAdam",
        "radam": "RAdam",
        "rmsprop": "RMSprop",
        "rprop": "Rprop",
        "sgd": "SGD",
        "sparse_adam": "SparseAdam",
    }
)
_MODULES = ("lbfgs", "lr_scheduler", "optimizer", "swa_utils")

__all__ = ["Optimizer", *_WHERE, *_MODULES]
__dir__ = shows(__all__)
__getattr__ = later(__name__, _WHERE, _MODULES)
