"""What `wengert.compat.jax.nn` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from typing import Any

from wengert.compat.jax.nn.functions import celu as celu
from wengert.compat.jax.nn.functions import dot_product_attention as dot_product_attention
from wengert.compat.jax.nn.functions import elu as elu
from wengert.compat.jax.nn.functions import gelu as gelu
from wengert.compat.jax.nn.functions import glu as glu
from wengert.compat.jax.nn.functions import hard_sigmoid as hard_sigmoid
from wengert.compat.jax.nn.functions import hard_silu as hard_silu
from wengert.compat.jax.nn.functions import hard_swish as hard_swish
from wengert.compat.jax.nn.functions import hard_tanh as hard_tanh
from wengert.compat.jax.nn.functions import identity as identity
from wengert.compat.jax.nn import initializers as initializers
from wengert.compat.jax.nn.functions import leaky_relu as leaky_relu
from wengert.compat.jax.nn.functions import log1mexp as log1mexp
from wengert.compat.jax.nn.functions import log_sigmoid as log_sigmoid
from wengert.compat.jax.nn.functions import log_softmax as log_softmax
from wengert.compat.jax.nn.functions import logmeanexp as logmeanexp
from wengert.compat.jax.nn.functions import logsumexp as logsumexp
from wengert.compat.jax.nn.functions import mish as mish
from wengert.compat.jax.nn.functions import one_hot as one_hot
from wengert.compat.jax.nn.functions import relu as relu
from wengert.compat.jax.nn.functions import relu6 as relu6
from wengert.compat.jax.nn.functions import selu as selu
from wengert.compat.jax.nn.functions import sigmoid as sigmoid
from wengert.compat.jax.nn.functions import silu as silu
from wengert.compat.jax.nn.functions import soft_sign as soft_sign
from wengert.compat.jax.nn.functions import softmax as softmax
from wengert.compat.jax.nn.functions import softplus as softplus
from wengert.compat.jax.nn.functions import sparse_plus as sparse_plus
from wengert.compat.jax.nn.functions import sparse_sigmoid as sparse_sigmoid
from wengert.compat.jax.nn.functions import squareplus as squareplus
from wengert.compat.jax.nn.functions import standardize as standardize
from wengert.compat.jax.nn.functions import swish as swish
from wengert.compat.jax.nn.functions import tanh as tanh
