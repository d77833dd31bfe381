"""Layer 10 · distributed: gradients over data in partitions, in this process or on a Dask cluster.

`value_and_grad` sums a loss and its gradient over partitions, `fit` minimises it, `jacobian` and
`vmap` compute their rows in blocks. They share the argument ``scheduler=``, and their results are
bitwise identical wherever they run. This package also has the functions of torch.distributed, for a
group of one process.
"""

from wengert.base.elsewhere import elsewhere
from wengert.base.names import shows
from wengert.distributed.blocks import jacobian, vmap
from wengert.distributed.errors import PartitionError
from wengert.distributed.gradients import value_and_grad
from wengert.distributed.partitions import Partitions, partitions
from wengert.distributed.training import Fit, Step, fit
from wengert.distributed.work import Task, current
from wengert.utils import process_group
from wengert.utils.process_group import *  # noqa: F403 torch.distributed, of one process

__all__ = [
    "Fit",
    "PartitionError",
    "Partitions",
    "Step",
    "Task",
    "current",
    "fit",
    "jacobian",
    "partitions",
    "value_and_grad",
    "vmap",
    *process_group.__all__,
]
__dir__ = shows(__all__)
__getattr__ = elsewhere(__name__)
