"""What `wengert.compat.jax.tree` gives, for type checkers and editors.

Written by stubs/generate.py.
"""


from wengert.compat.jax.tree_util import tree_all as all
from wengert.compat.jax.tree_util import tree_broadcast as broadcast
from wengert.compat.jax.tree_util import tree_flatten as flatten
from wengert.compat.jax.tree_util import tree_flatten_with_path as flatten_with_path
from wengert.compat.jax.tree_util import tree_leaves as leaves
from wengert.compat.jax.tree_util import tree_leaves_with_path as leaves_with_path
from wengert.compat.jax.tree_util import tree_map as map
from wengert.compat.jax.tree_util import tree_map_with_path as map_with_path
from wengert.compat.jax.tree_util import tree_reduce as reduce
from wengert.compat.jax.tree_util import tree_reduce_associative as reduce_associative
from wengert.compat.jax.trees import static_field as static
from wengert.compat.jax.tree_util import tree_structure as structure
from wengert.compat.jax.tree_util import tree_transpose as transpose
from wengert.compat.jax.tree_util import tree_unflatten as unflatten
