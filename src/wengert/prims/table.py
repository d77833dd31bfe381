"""Layer 2 · prims: the table: importing this module registers the records of everyday operations.

The others are registered when one of their public functions is first used, or all at once by
`wengert.prims.whole`.
"""

from wengert.prims import binary as binary
from wengert.prims import complex as complex
from wengert.prims import create as create
from wengert.prims import index as index
from wengert.prims import join as join
from wengert.prims import matmul as matmul
from wengert.prims import reduce as reduce
from wengert.prims import select as select
from wengert.prims import shape as shape
from wengert.prims import strided as strided
from wengert.prims import unary as unary
from wengert.prims.record import TABLE as TABLE
