"""Layer 9 · compat: `jax.tree`: the functions of `jax.tree_util` under short names."""

from wengert.compat.kit.namespaces import gathered

__all__ = gathered(
    globals(),
    "wengert.compat.jax",
    """
    tree_util: all=tree_all broadcast=tree_broadcast flatten=tree_flatten leaves=tree_leaves
        flatten_with_path=tree_flatten_with_path leaves_with_path=tree_leaves_with_path map=tree_map
        map_with_path=tree_map_with_path reduce=tree_reduce structure=tree_structure
        reduce_associative=tree_reduce_associative transpose=tree_transpose unflatten=tree_unflatten
    trees: static=static_field
    """,
)
