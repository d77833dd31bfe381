"""Layer 8 · nn: data parallelism over the one device and process, which wraps a module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from wengert.base.elsewhere import elsewhere
from wengert.nn.modules.module import Module
from wengert.nn.modules.parallel import DataParallel
from wengert.utils.process_group import get_world_size

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
    "scatter_kwargs",
]
__path__: list[str] = []  # `nn.parallel.distributed` and others are rows of a table
__getattr__ = elsewhere(__name__)


class DistributedDataParallel(Module):
    """A wrapper that calls a module; with one process there are no gradients to average.

    Its parameters are named ``module.*``, so that checkpoints made with PyTorch's class load. The
    process must be in a group: see `distributed.init_process_group`.

    Parameters
    ----------
    module : Module. The module to call.
    device_ids, output_device, dim, broadcast_buffers, process_group, ... : Have no effect.

    Raises
    ------
    ValueError: If there is no process group.
    RuntimeError: If no parameter requires a gradient.
    """

    def __init__(
        self,
        module: Any,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool = True,
        init_sync: bool = True,
        process_group: Any = None,
        **options: Any,
    ) -> None:
        super().__init__()
        get_world_size(process_group)
        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter "
                "that requires a gradient."
            )
        self.module = module
        self.dim = dim
        self.device_ids = device_ids
        self.broadcast_buffers = broadcast_buffers
        self.require_backward_grad_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Return a context without gradient synchronisation; with one process, there is none."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextmanager
    def join(self, *args: Any, **kwargs: Any) -> Iterator[None]:
        """Return a context for uneven inputs across processes; it does nothing for one process."""
        yield

    def register_comm_hook(self, state: Any, hook: Any) -> None:
        """Raise a NotImplementedError: there is no communication to hook."""
        raise NotImplementedError(
            "register_comm_hook is not offered: gradients of one process are not sent. Register a "
            "hook on the parameters instead"
        )


def replicate(network: Any, devices: Any, detach: bool = False) -> list[Any]:
    """Return a list of one replica, the module itself."""
    if len(devices) > 1:
        raise NotImplementedError(f"{len(devices)} devices were named, but there is one")
    return [network]


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> list[Any]:
    """Return a list of one part, the inputs themselves."""
    if len(target_gpus) > 1:
        raise NotImplementedError(f"{len(target_gpus)} devices were named, but there is one")
    return [inputs]


def scatter_kwargs(inputs: Any, kwargs: Any, target_gpus: Any, dim: int = 0) -> tuple[Any, Any]:
    """Return the parts of positional and keyword arguments per device, as tuples."""
    return tuple(scatter(inputs, target_gpus, dim)), tuple(scatter(kwargs or {}, target_gpus, dim))


def gather(outputs: Sequence[Any], target_device: Any, dim: int = 0) -> Any:
    """Return the outputs of the one device."""
    if len(outputs) > 1:
        raise NotImplementedError(f"there are outputs of {len(outputs)} devices, but there is one")
    return outputs[0]


def parallel_apply(
    modules: Sequence[Any],
    inputs: Sequence[Any],
    kwargs_tup: Sequence[dict[str, Any]] | None = None,
    devices: Any = None,
) -> list[Any]:
    """Return the result of each module for its inputs, computed in order.

    Examples
    --------
    >>> wg.nn.parallel.parallel_apply([wg.nn.Identity()], [(wg.ones(1),)])
    [tensor([1.])]
    """
    several = kwargs_tup if kwargs_tup is not None else ({},) * len(modules)
    rows = zip(modules, inputs, several, strict=True)
    return [
        module(*(args if isinstance(args, list | tuple) else (args,)), **kwargs)
        for module, args, kwargs in rows
    ]


def data_parallel(
    module: Any,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Return the result of a module for its inputs, on the one device."""
    args = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*args, **(module_kwargs or {}))
