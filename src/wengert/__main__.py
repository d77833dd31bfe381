"""Layer 11 · cli: `python -m wengert`."""

import sys

from wengert.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
