"""What `wengert.compat.jax.ad_checkpoint` gives, for type checkers and editors.

Written by stubs/generate.py.
"""

from typing import Any

from wengert.compat.jax.staging import checkpoint as checkpoint
from wengert.compat.jax.policies import checkpoint_name as checkpoint_name
checkpoint_policies: Any
from wengert.compat.kit.namespaces import gathered as gathered
from wengert.compat.jax.policies import print_saved_residuals as print_saved_residuals
from wengert.compat.jax.staging import remat as remat
