"""Test user-defined distributions with an `expand` in PyTorch's style."""

import pytest

import wengert as wg
from wengert.distributions import Distribution, Normal, constraints


class Shifted(Distribution):
    arg_constraints = {"by": constraints.real}  # noqa: RUF012  as PyTorch's classes have it
    support = constraints.real

    def __init__(self, by, validate_args=None):
        self.by = by
        super().__init__(by.shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Shifted, _instance)
        new.by = self.by.expand(batch_shape)
        super(Shifted, new).__init__(batch_shape, validate_args=False)
        return new

    def log_prob(self, value):
        return Normal(self.by, 1.0).log_prob(value)


def test_expand_makes_an_instance_without_its_init():
    wide = Shifted(wg.zeros(())).expand((3,))
    assert type(wide) is Shifted
    assert wide.batch_shape == (3,)
    assert wide.log_prob(wg.zeros(3)).shape == (3,)


def test_a_subclass_with_another_init_must_expand_itself():
    class Other(Shifted):
        def __init__(self):
            super().__init__(wg.zeros(2))

    with pytest.raises(NotImplementedError, match=r"Subclass Other of Shifted .* custom .expand"):
        Other().expand((2,))
