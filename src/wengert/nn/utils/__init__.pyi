"""What `wengert.nn.utils` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from wengert.nn.utils import clip_grad as clip_grad, convert_parameters as convert_parameters, fusion as fusion, parametrizations as parametrizations, parametrize as parametrize, prune as prune, rnn as rnn, stateless as stateless
from wengert.nn.utils.clip_grad import clip_grad_norm as clip_grad_norm, clip_grad_norm_ as clip_grad_norm_, clip_grad_value_ as clip_grad_value_, clip_grads_with_norm_ as clip_grads_with_norm_, get_total_norm as get_total_norm
from wengert.nn.utils.convert_parameters import parameters_to_vector as parameters_to_vector, vector_to_parameters as vector_to_parameters
from wengert.nn.utils.fusion import fuse_conv_bn_eval as fuse_conv_bn_eval, fuse_conv_bn_weights as fuse_conv_bn_weights, fuse_linear_bn_eval as fuse_linear_bn_eval, fuse_linear_bn_weights as fuse_linear_bn_weights
from wengert.nn.utils.skipped_init import skip_init as skip_init
from wengert.nn.utils.spectral_norms import remove_spectral_norm as remove_spectral_norm, spectral_norm as spectral_norm
from wengert.nn.utils.weight_norms import remove_weight_norm as remove_weight_norm, weight_norm as weight_norm

__all__ = ['clip_grad', 'clip_grad_norm', 'clip_grad_norm_', 'clip_grad_value_', 'clip_grads_with_norm_', 'convert_parameters', 'fuse_conv_bn_eval', 'fuse_conv_bn_weights', 'fuse_linear_bn_eval', 'fuse_linear_bn_weights', 'fusion', 'get_total_norm', 'parameters_to_vector', 'parametrizations', 'parametrize', 'prune', 'remove_spectral_norm', 'remove_weight_norm', 'rnn', 'skip_init', 'spectral_norm', 'stateless', 'vector_to_parameters', 'weight_norm']
