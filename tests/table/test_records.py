"""Every check on every record of the table."""

import pytest

from wengert.prims.whole import TABLE
from wengert.testing.checks import CHECKS


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", TABLE)
def test_record(name, check):
    CHECKS[check](TABLE[name])
