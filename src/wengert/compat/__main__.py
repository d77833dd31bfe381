"""Layer 9 · compat: `python -m wengert.compat`."""

from wengert.compat.running import main

if __name__ == "__main__":
    main()
