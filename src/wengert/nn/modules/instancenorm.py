"""Layer 8 · nn: instance normalisation, of each sample by itself."""

# the arguments and attributes have PyTorch's names

from __future__ import annotations

from typing import Any

from wengert.base.dtypes import dtype
from wengert.base.elsewhere import elsewhere
from wengert.nn import functional as F
from wengert.nn.modules.batchnorm import _NormBase
from wengert.tape.sites import warn
from wengert.types import Device

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]

__getattr__ = elsewhere(__name__)  # PyTorch has more here


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device = None,
        dtype: dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        if local_metadata.get("version") is None and not self.track_running_stats:
            found = [
                key
                for key in (f"{prefix}running_mean", f"{prefix}running_var")
                if key in state_dict
            ]
            if found:
                name = type(self).__name__
                names = " and ".join(f'"{key}"' for key in found)
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {names} for {name} with "
                    "track_running_stats=False. A state without a version was saved when such "
                    "modules kept running statistics by default: remove these keys, or make the "
                    f"module with {name}(..., track_running_stats=True)."
                )
                for key in found:
                    del state_dict[key]
        super()._load_from_state_dict(
            state_dict,
            prefix,
            local_metadata,
            strict,
            missing_keys,
            unexpected_keys,
            error_msgs,
        )

    def _get_no_batch_dim(self) -> int:
        return self._ranks[0]

    def forward(self, input: Any) -> Any:
        """Return the normalised batch, or the normalised sample if there is no batch dimension."""
        self._check_input_dim(input)
        unbatched = input.dim() == self._get_no_batch_dim()
        dim = 0 if unbatched else 1
        size = input.shape[dim]
        if size != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={dim} to match num_features "
                    f"({self.num_features}), but got: {size}."
                )
            warn(
                f"input's size at dim={dim} does not match num_features. You can silence this "
                "warning by not passing in num_features, which is not used because affine=False: "
                f"they are {size} and {self.num_features}.",
            )
        result = F.instance_norm(
            input.unsqueeze(0) if unbatched else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )
        return result.squeeze(0) if unbatched else result


class InstanceNorm1d(_InstanceNorm):
    """`functional.instance_norm` of an input of shape (N, C, L) or (C, L).

    Parameters
    ----------
    %(features_of_channels, eps_of_quotients)s
    momentum : float, optional. The weight of new samples in the running statistics.
    affine : bool. Whether each channel has a learned scale and shift.
    track_running_stats : bool. Whether to keep running statistics and use them in evaluation.
    device, dtype : optional. The device and dtype of parameters and buffers.
    bias : bool. Whether there is a shift in addition to the scale.

    Examples
    --------
    >>> wg.nn.InstanceNorm1d(2)(wg.tensor([[[1.0, 3.0], [0.0, 10.0]]]))
    tensor([[[-1.0000,  1.0000],
             [-1.0000,  1.0000]]])
    """

    _ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """`functional.instance_norm` of shape (N, C, H, W); arguments as for `InstanceNorm1d`.

    The batch dimension N may be missing.

    Examples
    --------
    >>> wg.nn.InstanceNorm2d(3, affine=True)(wg.randn(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    _ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """`functional.instance_norm` of shape (N, C, D, H, W); arguments as for `InstanceNorm1d`.

    The batch dimension N may be missing.

    Examples
    --------
    >>> wg.nn.InstanceNorm3d(3)(wg.randn(3, 2, 4, 4)).shape
    torch.Size([3, 2, 4, 4])
    """

    _ranks = (4, 5)
