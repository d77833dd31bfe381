"""Layer 8 · nn: batch normalisation."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from typing import Any, ClassVar

from wengert.base.dtypes import dtype
from wengert.base.elsewhere import elsewhere
from wengert.nn import functional as F
from wengert.nn.modules.making import new_parameter, ones_and_zeros
from wengert.nn.modules.module import Module
from wengert.nn.parameter import Parameter
from wengert.ops.create import ones, tensor, zeros
from wengert.types import Device, Tensor

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"]

__getattr__ = elsewhere(__name__)  # PyTorch has more here


class _NormBase(Module):
    """The common base of batch and instance norms: scale, shift and running statistics."""

    _shows = "num_features eps= momentum= affine= bias= track_running_stats="

    _version = 2
    _ranks: ClassVar[tuple[int, ...]]
    """The allowed numbers of dimensions of an input."""

    weight: Parameter
    bias: Parameter
    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device = None,
        dtype: dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        made: Any = {"device": device, "dtype": dtype}
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, new_parameter(num_features, **made) if wanted else None)
        mean = var = count = None
        if track_running_stats:
            mean, var = zeros(num_features, **made), ones(num_features, **made)
            count = tensor(0, device=device)
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Reset the running statistics."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Reset the running statistics, and set the scale to 1 and the shift to 0."""
        self.reset_running_stats()
        if self.affine:
            ones_and_zeros(self.weight, self.bias)

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() not in self._ranks:
            ranks = " or ".join(f"{rank}D" for rank in self._ranks)
            raise ValueError(f"expected {ranks} input (got {input.dim()}D input)")

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *others: Any
    ) -> None:
        # states of the first version have no batch count
        version, key = local_metadata.get("version"), f"{prefix}num_batches_tracked"
        old = version is None or version < 2
        if old and self.track_running_stats and key not in state_dict:
            count: Any = self.num_batches_tracked
            state_dict[key] = tensor(0) if count is None else count
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *others)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        """Return the normalised batch; in training, update the running statistics."""
        self._check_input_dim(input)
        training, count = self.training, self.num_batches_tracked
        tracks = self.track_running_stats
        counts = training and tracks and count is not None
        share = self.momentum
        if share is None:
            # the cumulative mean over all batches
            share = 1 / (float(count) + 1) if counts else 0.0
        used = tracks or not training
        statistics: Any = self.running_mean, self.running_var
        result = F.batch_norm(
            input,
            statistics[0] if used else None,
            statistics[1] if used else None,
            self.weight,
            self.bias,
            training or (statistics[0] is None and statistics[1] is None),
            share,
            self.eps,
        )
        if counts:
            count.add_(1)
        return result


class BatchNorm1d(_BatchNorm):
    """`functional.batch_norm` of an input of shape (N, C) or (N, C, L).

    In training, the layer normalises by the mean and variance of the batch and updates its running
    statistics, by which it normalises in evaluation.

    Parameters
    ----------
    %(features_of_channels, eps_of_quotients)s
    momentum : float, optional. The weight of a new batch in the running statistics; None for the
        mean over all batches.
    affine : bool. Whether each channel has a learned scale and shift.
    track_running_stats : bool. Whether to keep running statistics; without them, the layer always
        uses those of the batch.
    device, dtype : optional. The device and dtype of parameters and buffers.
    bias : bool. Whether there is a shift in addition to the scale.

    Attributes
    ----------
    weight, bias : Parameter or None. The scale, initially 1, and the shift, initially 0; of shape
        (C,).
    running_mean, running_var : Tensor or None. The running statistics; buffers of shape (C,).
    num_batches_tracked : Tensor or None. The number of batches so far; a buffer without dimensions.

    Examples
    --------
    >>> layer = wg.nn.BatchNorm1d(2)
    >>> layer
    BatchNorm1d(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    >>> layer(wg.tensor([[1.0, 0.0], [3.0, 10.0]])).detach()
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])
    >>> layer.running_mean, layer.num_batches_tracked
    (tensor([0.2000, 0.5000]), tensor(1))
    """

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """`functional.batch_norm` of an input of shape (N, C, H, W); arguments as for `BatchNorm1d`.

    Examples
    --------
    >>> wg.nn.BatchNorm2d(3)(wg.randn(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """`functional.batch_norm` of an input of shape (N, C, D, H, W); arguments as for `BatchNorm1d`.

    Examples
    --------
    >>> wg.nn.BatchNorm3d(3, affine=False)(wg.randn(2, 3, 2, 4, 4)).shape
    torch.Size([2, 3, 2, 4, 4])
    """

    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over all processes; there is one, so it is plain batch normalisation.

    Parameters
    ----------
    num_features, eps, momentum, affine, track_running_stats : As for `BatchNorm2d`.
    process_group : optional. Has no effect.
    device, dtype : optional. The device and dtype of parameters and buffers.

    Examples
    --------
    >>> net = wg.nn.Sequential(wg.nn.Conv2d(1, 3, 1), wg.nn.BatchNorm2d(3))
    >>> wg.nn.SyncBatchNorm.convert_sync_batchnorm(net)[1]
    SyncBatchNorm(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """Replace each batch normalisation in a module by this class, keeping its parameters."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            for table in ("_parameters", "_buffers"):
                setattr(made, table, dict(getattr(module, table)))
            made.training = module.training
        for name, child in list(module.named_children()):
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made
