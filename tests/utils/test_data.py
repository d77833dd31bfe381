"""Test data sets, samplers and loaders."""

import math
from collections import namedtuple
from itertools import islice

import numpy as np
import pytest

import wengert as wg
from wengert.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    get_worker_info,
    random_split,
)

Pair = namedtuple("Pair", "a b")


class Numbers(Dataset[int]):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if i >= self.count:
            raise IndexError(i)
        return i


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(5))


def listed(loader):
    return [batch.tolist() if isinstance(batch, wg.Tensor) else batch for batch in loader]


@pytest.mark.parametrize("drop_last, sizes", [(False, [3, 3, 1]), (True, [3, 3])])
def test_batches_are_of_one_size_but_for_the_last(drop_last, sizes):
    loader = DataLoader(Numbers(7), batch_size=3, drop_last=drop_last)
    batches = list(loader)
    assert [len(batch) for batch in batches] == sizes
    assert wg.cat(batches).tolist() == [Numbers(7)[i] for i in range(sum(sizes))]
    assert len(loader) == len(sizes)


def test_each_pass_is_in_another_order_and_complete():
    wg.manual_seed(0)
    loader = DataLoader(Numbers(20), batch_size=4, shuffle=True)
    first, second = [wg.cat(list(loader)).tolist() for _ in range(2)]
    assert first != second
    assert sorted(first) == sorted(second) == list(range(20))


def test_workers_share_the_batches():
    loader = DataLoader(Numbers(4), 2, num_workers=2, pin_memory=True, persistent_workers=True)
    assert listed(loader) == [[0, 1], [2, 3]]


def test_a_generator_decides_on_the_order():
    orders = [
        listed(DataLoader(Numbers(9), 3, shuffle=True, generator=wg.Generator().manual_seed(3)))
        for _ in range(2)
    ]
    assert orders[0] == orders[1]


def test_examples_come_one_by_one_without_a_batch_size():
    assert list(DataLoader(Numbers(3), batch_size=None)) == [0, 1, 2]
    (example,) = DataLoader([np.ones(2, np.float32)], batch_size=None)
    assert example.dtype == wg.float32


def test_orders_and_batches_of_ones_own_are_followed():
    assert listed(DataLoader(Numbers(9), 2, sampler=[5, 3, 1])) == [[5, 3], [1]]
    assert listed(DataLoader(Numbers(9), batch_sampler=[[1, 2, 3], [4]])) == [[1, 2, 3], [4]]
    assert listed(DataLoader(Numbers(3), 2, collate_fn=sum)) == [1, 2]


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"batch_size": 2}, [[0, 1], [2, 3], [4]]),
        ({"batch_size": 2, "drop_last": True}, [[0, 1], [2, 3]]),
        ({"batch_size": None}, [0, 1, 2, 3, 4]),
    ],
)
def test_a_stream_is_taken_in_its_own_order(options, expected):
    assert listed(DataLoader(Stream(), **options)) == expected


def test_a_data_set_may_fetch_a_whole_batch():
    class Fetching(Numbers):
        def __getitems__(self, numbers):
            return [10 * i for i in numbers]

    assert listed(DataLoader(Fetching(3), 3)) == [[0, 10, 20]]


def test_examples_are_collated_by_their_kind():
    batch = default_collate([{"x": np.ones(2), "y": (1, 2.0)}, {"x": np.zeros(2), "y": (3, 4.0)}])
    assert batch["x"].shape == (2, 2) and batch["x"].dtype == wg.float64
    assert batch["y"][0].tolist() == [1, 3] and batch["y"][1].dtype == wg.float64
    assert default_collate([Pair(1, "a"), Pair(2, "b")]).b == ("a", "b")
    assert default_collate([True, False]).dtype == wg.bool
    assert default_collate([np.float32(1), np.float32(2)]).dtype == wg.float32


def test_data_sets_are_joined_cut_and_gone_through():
    rows = TensorDataset(wg.arange(6).view(3, 2), wg.arange(3))
    both = rows + rows
    assert len(both) == 6 and both[-1][1] == 2 and both[4][0].tolist() == [2, 3]
    assert [int(label) for _, label in both] == [0, 1, 2, 0, 1, 2]
    assert Subset(both, [5, 0])[0][1] == 2
    with pytest.raises(ValueError, match="absolute value of index"):
        both[-7]


@pytest.mark.parametrize(
    "lengths, sizes", [([4, 2], [4, 2]), ([0.5, 0.5], [3, 3]), ([0.34, 0.33, 0.33], [3, 2, 1])]
)
def test_a_split_deals_all_examples_out(lengths, sizes):
    parts = random_split(Numbers(sum(sizes)), lengths)
    assert [len(part) for part in parts] == sizes
    assert sorted(i for part in parts for i in part) == list(range(sum(sizes)))


def test_weights_are_the_probabilities():
    assert set(WeightedRandomSampler([0.0, 1.0, 0.0], 20)) == {1}
    assert sorted(WeightedRandomSampler([1.0, 2.0, 3.0], 3, replacement=False)) == [0, 1, 2]


@pytest.mark.parametrize(
    "order, count",
    [
        (RandomSampler(range(5), True, 70), 70),
        (RandomSampler(range(5), True, 64), 64),
        (RandomSampler(range(5), num_samples=12), 12),
        (RandomSampler(range(5), num_samples=2), 2),
        (SequentialSampler(range(5)), 5),
        (SubsetRandomSampler([4, 1]), 2),
        (BatchSampler(range(5), 2, True), 2),
    ],
)
def test_an_order_is_as_long_as_it_says(order, count):
    drawn = list(order)
    assert len(drawn) == len(order) == count
    numbers = np.ravel(drawn)
    assert set(numbers.tolist()) <= set(range(5))
    assert count > 5 or len(set(numbers.tolist())) == len(numbers)  # then without replacement


REFUSED = {
    "a batch of nothing": (lambda: DataLoader([1], batch_size=0), "batch_size should be"),
    "two orders": (
        lambda: DataLoader([1], shuffle=True, sampler=[0]),
        "sampler option is mutually",
    ),
    "two ways to batch": (
        lambda: DataLoader([1], 2, batch_sampler=[[0]]),
        "batch_sampler option is mutually",
    ),
    "nothing to drop": (
        lambda: DataLoader([1], None, drop_last=True),
        "batch_size=None option disables",
    ),
    "a stream in another order": (
        lambda: DataLoader(Stream(), shuffle=True),
        "DataLoader with IterableDataset: expected unspecified shuffle option, but got",
    ),
    "a stream by indices": (
        lambda: DataLoader(Stream(), sampler=[0]),
        "expected unspecified sampler option, but got sampler=",
    ),
    "less than no workers": (
        lambda: DataLoader([1], num_workers=-1),
        "num_workers option should be non-negative",
    ),
    "no tensors": (lambda: TensorDataset(), "takes at least one tensor"),
    "a split of others": (lambda: random_split([1, 2], [1, 2]), "Sum of input lengths"),
    "a fraction below 0": (
        lambda: random_split([1, 2], [-0.5, 1.5]),
        "Fraction at index 0 is not between 0 and 1",
    ),
    "no draws": (lambda: RandomSampler([]), "num_samples should be a positive integer"),
    "weights of matrices": (
        lambda: WeightedRandomSampler([[1.0]], 1),
        "weights should be a 1d sequence",
    ),
}


@pytest.mark.parametrize("call, words", REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_what_no_batch_can_be_made_of_is_refused():
    with pytest.raises(TypeError, match="default_collate: batch must contain tensors"):
        default_collate([object()])
    with pytest.raises(RuntimeError, match="each element in list of batch should be of equal size"):
        default_collate([[1], [1, 2]])
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        TensorDataset(wg.ones(2), wg.ones(3))
    with pytest.raises(AssertionError, match="datasets should not be an empty iterable"):
        ConcatDataset([])


def test_a_network_learns_from_a_loader():
    wg.manual_seed(0)
    inputs = wg.randn(40, 2)
    loader = DataLoader(TensorDataset(inputs, inputs.sum(1, keepdim=True)), 8, shuffle=True)
    model = wg.nn.Linear(2, 1)
    optimizer = wg.optim.SGD(model.parameters(), lr=0.1)
    loss = wg.tensor(math.inf)
    for _ in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            loss = wg.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
    assert loss.item() < 1e-3


def test_arrays_in_an_example_become_tensors_one_by_one():
    example = {"x": np.arange(2), "pair": (np.float32(1.5), "name")}
    converted = default_convert(example)
    assert converted["x"].tolist() == [0, 1]
    assert converted["pair"][0].dtype is wg.float32
    assert converted["pair"][1] == "name"
    assert get_worker_info() is None


def test_data_sets_side_by_side_and_one_after_the_other():
    class Letters(wg.utils.data.IterableDataset):
        def __init__(self, text):
            self.text = text

        def __iter__(self):
            return iter(self.text)

        def __len__(self):
            return len(self.text)

    chain = Letters("ab") + Letters("c")
    assert list(chain) == ["a", "b", "c"] and len(chain) == 3
    with pytest.raises(AssertionError, match="IterableDataset"):
        list(wg.utils.data.ChainDataset([[1, 2]]))
    stack = wg.utils.data.StackDataset
    assert [stack([1, 2], "ab")[i] for i in range(2)] == [(1, "a"), (2, "b")]
    assert stack(x=[1], y="a")[0] == {"x": 1, "y": "a"} and len(stack(x=[1, 2])) == 2
    for parts, named in (((), {}), (([1],), {"x": [1]}), (([1], [1, 2]), {})):
        with pytest.raises(ValueError):
            stack(*parts, **named)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": -1}, "timeout option should be non-negative"),
        ({"prefetch_factor": 2}, "prefetch_factor option could only be specified in"),
        ({"prefetch_factor": -1, "num_workers": 1}, "prefetch_factor option should be non-neg"),
        ({"persistent_workers": True}, "persistent_workers option needs num_workers > 0"),
        ({"multiprocessing_context": "fork"}, "can only be used with multi-process loading"),
        (
            {"multiprocessing_context": "bad", "num_workers": 1},
            "option should specify a valid start method in",
        ),
    ],
)
def test_options_of_workers_that_exclude_one_another_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        DataLoader([1, 2], **options)


def test_what_a_loader_was_made_of_stays():
    loader = DataLoader([1, 2], batch_size=2)
    for name in ("batch_size", "sampler", "batch_sampler", "drop_last", "dataset"):
        with pytest.raises(ValueError, match=f"{name} attribute should not be set after DataLoad"):
            setattr(loader, name, None)
    loader.collate_fn = sum
    assert list(loader) == [3]


@pytest.mark.parametrize(("size", "expected"), [(None, [0, 1, 2]), (2, [[0, 1], [2]])])
@pytest.mark.parametrize("workers", [0, 1])
def test_a_stream_that_is_its_own_iterator_ends(size, expected, workers):
    class Numbers(IterableDataset):
        def __iter__(self):
            self.left = iter(range(3))
            return self

        def __next__(self):
            return next(self.left)

    loader = DataLoader(Numbers(), size, num_workers=workers)
    batches = islice(loader, 9)  # it might go on without end
    assert [b if size is None else b.tolist() for b in batches] == expected


class _Counting(Dataset):
    """Remembers which indices were asked for at once."""

    def __init__(self):
        self.asked = []
        self.worker = None

    def start(self, number):
        self.worker = number

    def __getitem__(self, i):
        if i == 2:
            raise KeyError(i)
        return i, self.worker

    def __len__(self):
        return 4


class _Many(_Counting):
    def __getitems__(self, indices):
        self.asked.append(indices)
        return [10 * i for i in indices]


def test_parts_and_stacks_of_data_sets_ask_for_many_examples_at_once():
    data = _Many()
    assert Subset(data, [3, 1, 0]).__getitems__([0, 2]) == [30, 0]
    assert StackDataset(data, "abcd").__getitems__([1, 3]) == [(10, "b"), (30, "d")]
    assert StackDataset(x=data, y="abcd").__getitems__([0]) == [{"x": 0, "y": "a"}]
    assert data.asked == [[3, 0], [1, 3], [0]]

    class Doubled(Subset):
        def __getitem__(self, i):
            return -i

    assert Doubled(data, [3, 1]).__getitems__([1]) == [-1]
    data.__getitems__ = lambda indices: [0]
    with pytest.raises(ValueError, match="Expected 2, got 1"):
        StackDataset(data, "abcd").__getitems__([0, 1])


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_goes_on_after_an_error(workers):
    found, batches = [], iter(DataLoader(_Counting(), batch_size=None, num_workers=workers))
    while True:
        try:
            found.append(next(batches)[0])
        except KeyError:
            found.append("error")
        except StopIteration:
            break
    assert found == [0, 1, "error", 3]


def test_methods_of_the_data_set_run_on_the_copy_of_the_worker():
    class Data(_Counting):
        def collate(self, examples):
            return [self.worker, *examples]

    data = Data()
    loader = DataLoader(
        data, sampler=[0, 1, 3], collate_fn=data.collate, num_workers=2, worker_init_fn=data.start
    )
    assert list(loader) == [[0, (0, 0)], [1, (1, 1)], [0, (3, 0)]]
    assert data.worker is None


def test_a_stream_that_is_longer_than_it_says_warns():
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(range(3))

        def __len__(self):
            return 3

    loader = DataLoader(Stream(), batch_size=2, num_workers=2)
    assert sum(1 for _ in loader) == 4  # nobody asked for the length, as `list` does
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="reported to be 2 .*but [34] samples.*replica"):
        assert len(list(loader)) == 4
