"""Every check on every record of the table."""

import pytest

from wengert.prims.whole import TABLE
from wengert.testing.checks import CHECKS

# they have no second derivative: tests/ops/test_neural.py has theirs
BY_HAND = {"ctc_loss", "ctc_posterior"}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", [name for name in TABLE if name not in BY_HAND])
def test_record(name, check):
    CHECKS[check](TABLE[name])
