"""Layer 9 · fx: passes over graphs."""

from wengert.base.elsewhere import elsewhere
from wengert.fx.passes import shape_prop as shape_prop

__all__ = ["shape_prop"]
__getattr__ = elsewhere(__name__)
