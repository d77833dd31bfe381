"""Layer 9 · compat: `python -m wengert.compat`."""

from __future__ import annotations

from wengert.compat.running import main

if __name__ == "__main__":
    main()
