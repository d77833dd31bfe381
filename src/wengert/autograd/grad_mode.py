"""Layer 7 · autograd: the recording modes, under the name that PyTorch has them."""

from wengert.tape.modes import enable_grad as enable_grad
from wengert.tape.modes import no_grad as no_grad
from wengert.tape.modes import set_grad_enabled as set_grad_enabled
