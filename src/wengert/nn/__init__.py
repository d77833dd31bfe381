"""Layer 8 · nn: neural networks: modules, parameters, and functions under PyTorch's names.

A class's module is imported when the class is first named: a program that uses three layers pays
for three.
"""

from wengert.base.elsewhere import by_name, later
from wengert.base.names import shows
from wengert.nn import functional
from wengert.nn.classes import OF_FILES
from wengert.nn.parameter import Buffer, Parameter
from wengert.tensor.overrides import publish

publish(functional)

CLASSES = by_name(
    {
        **{f"modules.{file}": names for file, names in OF_FILES.items()},
        "lazy": "UninitializedBuffer UninitializedParameter",
    }
)

# modules of this package that are imported on first access
_MODULES = ("attention", "common_types", "grad", "init", "modules", "parallel", "utils")

__all__ = ["Buffer", "Parameter", "functional", *CLASSES, *_MODULES]
__dir__ = shows(__all__)
__getattr__ = later(__name__, CLASSES, (*_MODULES, "_reduction"))
