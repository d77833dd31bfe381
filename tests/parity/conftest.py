import sys
from pathlib import Path

# what the tests here have in common lies beside them
sys.path.insert(0, str(Path(__file__).parent))
