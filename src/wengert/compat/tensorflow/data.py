"""Layer 9 · compat: ``tf.data``: streams of examples, in Python (NOTE [datasets]).

>>> dataset = tf.data.Dataset.range(5).map(lambda x: x * x).batch(2)
>>> [batch.numpy().tolist() for batch in dataset]
[[0, 1], [4, 9], [16]]
"""

from __future__ import annotations

from types import SimpleNamespace as _Namespace
from typing import Any as _Any

from wengert.compat.kit.namespaces import gathered as _gathered
from wengert.compat.tensorflow.words import refusing as _refusing

_NOW = _gathered(
    globals(),
    "wengert.compat.tensorflow",
    """
    datasets: AUTOTUNE Dataset INFINITE_CARDINALITY Options UNKNOWN_CARDINALITY
    file_datasets: TFRecordDataset TextLineDataset
    iterators: Optional
    """,
)
_Dataset: _Any = globals()["Dataset"]


def _with_cardinality(expected_cardinality) -> _Any:
    """Return a function that tells a dataset the number of its elements."""
    return lambda dataset: _Dataset(dataset._begin, int(expected_cardinality), dataset._spec)


def _of_dataset(name: str) -> _Any:
    """Return the older form of a method, for `Dataset.apply`."""
    return lambda *args, **kwargs: lambda dataset: getattr(dataset, name)(*args, **kwargs)


experimental = _Namespace(
    **{
        n: globals()[n]
        for n in ("AUTOTUNE", "INFINITE_CARDINALITY", "Optional", "UNKNOWN_CARDINALITY")
    },
    **{
        name: _of_dataset(name)
        for name in (
            *("bucket_by_sequence_length", "ignore_errors", "rejection_resample", "scan"),
            *("snapshot", "take_while", "unbatch", "unique"),
        )
    },
    Counter=_Dataset.counter,
    assert_cardinality=_with_cardinality,
    cardinality=_Dataset.cardinality,
    choose_from_datasets=_Dataset.choose_from_datasets,
    get_single_element=_Dataset.get_single_element,
    sample_from_datasets=_Dataset.sample_from_datasets,
)
"""``tf.data.experimental``: older names."""

__all__ = [*_NOW, "experimental"]
__getattr__ = _refusing("data")
