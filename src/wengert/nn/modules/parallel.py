"""Layer 8 · nn: `DataParallel`, which wraps a module without splitting batches."""

from __future__ import annotations

from typing import Any

from wengert.nn.modules.module import Module
from wengert.types import Device


class DataParallel(Module):
    """A wrapper that calls a module; batches are not split among devices.

    Its parameters are named ``module.*``, so that checkpoints made with PyTorch's class load.

    Parameters
    ----------
    module : Module. The module to call.
    device_ids, output_device, dim: Have no effect.

    Examples
    --------
    >>> model = wg.nn.DataParallel(wg.nn.Linear(2, 1, bias=False))
    >>> list(model.state_dict()), model(wg.ones(3, 2)).shape
    (['module.weight'], torch.Size([3, 1]))
    """

    def __init__(
        self, module: Any, device_ids: Any = None, output_device: Device = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.dim = dim
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*inputs, **kwargs)
