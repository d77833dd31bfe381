"""What `wengert.autograd` gives, for type checkers and editors.

Written by stubs/generate.py.
"""


from wengert.autograd.reasons import Explanation as Explanation
from wengert.autograd.function import Function as Function
from wengert.tape.saved import SavedTensor as SavedTensor
from wengert.autograd.api import Variable as Variable
from wengert.autograd import anomaly_mode as anomaly_mode
from wengert.autograd.api import backward as backward
from wengert.autograd.anomaly_mode import detect_anomaly as detect_anomaly
from wengert.tape.modes import enable_grad as enable_grad
from wengert.autograd.explanation import explain as explain
from wengert.autograd import forward_ad as forward_ad
from wengert.autograd import function as function
from wengert.autograd import functional as functional
from wengert.autograd.api import grad as grad
from wengert.autograd import grad_mode as grad_mode
from wengert.autograd.gradcheck import gradcheck as gradcheck
from wengert.autograd.gradcheck import gradgradcheck as gradgradcheck
from wengert.autograd import graph as graph
from wengert.tape.inference import inference_mode as inference_mode
from wengert.tape.modes import is_multithreading_enabled as is_multithreading_enabled
from wengert.autograd.grad_mode import is_view_replay_enabled as is_view_replay_enabled
from wengert.tape.modes import no_grad as no_grad
from wengert.autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
from wengert.tape.modes import set_grad_enabled as set_grad_enabled
from wengert.tape.modes import set_multithreading_enabled as set_multithreading_enabled
__all__ = ['Explanation', 'Function', 'SavedTensor', 'Variable', 'anomaly_mode', 'backward', 'detect_anomaly', 'enable_grad', 'explain', 'forward_ad', 'function', 'functional', 'grad', 'grad_mode', 'gradcheck', 'gradgradcheck', 'graph', 'inference_mode', 'is_multithreading_enabled', 'is_view_replay_enabled', 'no_grad', 'set_detect_anomaly', 'set_grad_enabled', 'set_multithreading_enabled']
