"""Layer 6 · tensor: random number generation, under PyTorch's names (``wengert.random``)."""

from wengert.ops.generator import Generator as Generator
from wengert.ops.generator import default_generator as default_generator
from wengert.ops.generator import fork_rng as fork_rng
from wengert.ops.generator import get_rng_state as get_rng_state
from wengert.ops.generator import initial_seed as initial_seed
from wengert.ops.generator import manual_seed as manual_seed
from wengert.ops.generator import seed as seed
from wengert.ops.generator import set_rng_state as set_rng_state
