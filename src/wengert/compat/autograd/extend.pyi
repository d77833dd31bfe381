"""What `wengert.compat.autograd.extend` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from typing import Any

from wengert.compat.autograd.boxes import Box as Box
from wengert.compat.autograd.vspaces import VSpace as VSpace
from wengert.compat.autograd.primitives import def_linear as def_linear
from wengert.compat.autograd.primitives import defjvp as defjvp
from wengert.compat.autograd.primitives import defjvp_argnum as defjvp_argnum
from wengert.compat.autograd.primitives import defjvp_argnums as defjvp_argnums
from wengert.compat.autograd.primitives import defvjp as defvjp
from wengert.compat.autograd.primitives import defvjp_argnum as defvjp_argnum
from wengert.compat.autograd.primitives import defvjp_argnums as defvjp_argnums
from wengert.base.sections import fill_sections as fill_sections
from wengert.compat.kit.namespaces import gathered as gathered
from wengert.compat.autograd.internals import internals as internals
from wengert.compat.autograd.primitives import notrace_primitive as notrace_primitive
from wengert.compat.autograd.primitives import primitive as primitive
from wengert.compat.autograd.primitives import register_notrace as register_notrace
from wengert.compat.autograd.vspaces import vspace as vspace
