"""What `wengert.compat.autograd.tracer` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from typing import Any

from wengert.compat.autograd.boxes import Box as Box
from wengert.compat.autograd.noted import Node as Node
REQUIRES: Any
from wengert.compat.kit.namespaces import gathered as gathered
from wengert.compat.autograd.boxes import getval as getval
from wengert.compat.autograd.internals import internals as internals
from wengert.compat.autograd.boxes import isbox as isbox
from wengert.compat.autograd.numpy import noted_boxes as noted_boxes
from wengert.compat.autograd.primitives import notrace_primitive as notrace_primitive
from wengert.compat.autograd.primitives import primitive as primitive
from wengert.compat.autograd.primitives import register_notrace as register_notrace
from wengert.compat.autograd.util import subval as subval
from wengert.compat.autograd.util import subvals as subvals
from wengert.compat.autograd.util import toposort as toposort
from wengert.compat.autograd.noted import trace as trace
