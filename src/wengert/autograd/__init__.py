"""Layer 7 · autograd: `backward`, `grad`, `Function`, `gradcheck`, under PyTorch's names."""

from wengert.autograd import function as function
from wengert.autograd.api import Variable as Variable
from wengert.autograd.api import backward as backward
from wengert.autograd.api import grad as grad
from wengert.autograd.function import Function as Function
from wengert.autograd.gradcheck import gradcheck as gradcheck
from wengert.autograd.gradcheck import gradgradcheck as gradgradcheck
from wengert.tape.modes import enable_grad as enable_grad
from wengert.tape.modes import no_grad as no_grad
from wengert.tape.modes import set_grad_enabled as set_grad_enabled
