"""Layer 9 · compat: `jax.interpreters.partial_eval`: nothing is traced, so this only has names."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["PartialVal", "custom_partial_eval_rules"]

custom_partial_eval_rules: dict[Any, Any] = {}


class PartialVal:
    """A value of which a trace knows a part: refused where it is made."""

    @classmethod
    def unknown(cls, aval: Any) -> NoReturn:
        """Refused.

        Raises
        ------
        NotImplementedError: Always.
        """
        raise NotImplementedError("jax.interpreters.partial_eval: nothing is traced")

    known = unknown
