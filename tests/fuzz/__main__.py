"""``python tests/fuzz load --seconds 60``: search for bytes that break a target, with atheris."""

import argparse
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["wengert"]):
    import targets

    for name, run in targets.TARGETS.items():  # imports what is imported when it is needed
        for seed in targets.SEEDS[name]:
            run(seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=targets.TARGETS)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    corpus = Path(tempfile.mkdtemp(prefix="wengert-fuzz-"))
    for i, seed in enumerate(targets.SEEDS[options.target]):
        (corpus / f"seed{i}").write_bytes(seed)
    limits = [f"-max_total_time={options.seconds}", "-rss_limit_mb=4096", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *limits, str(corpus)], targets.TARGETS[options.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
