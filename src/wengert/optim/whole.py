"""Layer 9 · optim: optimisers whose rule needs the whole parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wengert.optim.optimizer import Optimizer
from wengert.optim.parameters import options_of, with_gradients
from wengert.tape.modes import no_grad
from wengert.tape.write_checks import check_writable


class Whole(Optimizer):
    """The base of optimisers whose rule needs the whole parameter.

    All new values are computed first, so that nothing has been written if a step raises.
    """

    def _writes(self, options: dict[str, Any], param: Any) -> list[tuple[Any, Any]]:
        """Return the tensors to write to for one parameter, with their new values."""
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters once, from their gradients.

        Parameters
        ----------
        %(closure, returns_closure)s

        Raises
        ------
        RuntimeError: If a parameter is complex; then nothing has changed.
        """
        loss = self._loss(closure)
        with no_grad():
            refusal = self._refusal()
            found = [
                (group, with_gradients(group["params"], refusal)) for group in self.param_groups
            ]
            for _, present in found:
                for param in present:
                    if param.is_complex():
                        raise RuntimeError(
                            f"{type(self).__name__} does not support complex parameters"
                        )
                    check_writable(param, False)
            writes: list[tuple[Any, Any]] = []
            for group, present in found:
                options = options_of(group, False)
                for param in present:
                    writes += self._writes(options, param)
            for tensor, value in writes:
                tensor.copy_(value)
        return loss
