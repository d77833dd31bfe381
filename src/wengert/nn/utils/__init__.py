"""Layer 8 · nn: utilities for modules and their parameters (`wengert.nn.utils`).

A function's module is imported on first access.
"""

from wengert.base.elsewhere import by_name, later
from wengert.base.names import shows

_WHERE = by_name(
    {
        "clip_grad": (
            "clip_grad_norm clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_ get_total_norm"
        ),
        "convert_parameters": "parameters_to_vector vector_to_parameters",
        "fusion": (
            "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights"
        ),
        "skipped_init": "skip_init",
        "spectral_norms": "remove_spectral_norm spectral_norm",
        "weight_norms": "remove_weight_norm weight_norm",
    }
)
# modules of this package that are imported on first access
_MODULES = (
    *("clip_grad", "convert_parameters", "fusion", "parametrizations"),
    *("parametrize", "prune", "rnn", "stateless"),
)
__dir__ = shows([*_WHERE, *_MODULES])
__getattr__ = later(__name__, _WHERE, _MODULES)
