import sys
from pathlib import Path

# the benchmarks are not part of the package: they are run from a checkout
sys.path.insert(0, str(Path(__file__).parents[2]))
