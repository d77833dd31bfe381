"""What `wengert.autograd` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from wengert.autograd import anomaly_mode as anomaly_mode, forward_ad as forward_ad, function as function, functional as functional, grad_mode as grad_mode, graph as graph
from wengert.autograd.anomaly_mode import detect_anomaly as detect_anomaly, set_detect_anomaly as set_detect_anomaly
from wengert.autograd.api import Variable as Variable, backward as backward, grad as grad
from wengert.autograd.explanation import explain as explain
from wengert.autograd.function import Function as Function
from wengert.autograd.grad_mode import is_view_replay_enabled as is_view_replay_enabled
from wengert.autograd.gradcheck import gradcheck as gradcheck, gradgradcheck as gradgradcheck
from wengert.autograd.reasons import Explanation as Explanation
from wengert.tape.inference import inference_mode as inference_mode
from wengert.tape.modes import enable_grad as enable_grad, is_multithreading_enabled as is_multithreading_enabled, no_grad as no_grad, set_grad_enabled as set_grad_enabled, set_multithreading_enabled as set_multithreading_enabled
from wengert.tape.saved import SavedTensor as SavedTensor

__all__ = ['Explanation', 'Function', 'SavedTensor', 'Variable', 'anomaly_mode', 'backward', 'detect_anomaly', 'enable_grad', 'explain', 'forward_ad', 'function', 'functional', 'grad', 'grad_mode', 'gradcheck', 'gradgradcheck', 'graph', 'inference_mode', 'is_multithreading_enabled', 'is_view_replay_enabled', 'no_grad', 'set_detect_anomaly', 'set_grad_enabled', 'set_multithreading_enabled']
