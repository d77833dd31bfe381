"""Test the sources of partitions."""

import numpy as np
import pytest

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

from wengert.distributed import PartitionError, partitions, value_and_grad  # noqa: E402

X, Y = np.arange(24.0).reshape(12, 2), np.arange(12.0)


def loss(w, batch):
    x, y = batch
    return ((x @ w - y) ** 2).mean()


W = np.array([0.5, -0.25])
EXPECTED = value_and_grad(loss)(W, [(X, Y)])


def agrees(data, function=loss):
    value, grad = value_and_grad(function)(W, data)
    return np.isclose(value, EXPECTED[0], rtol=1e-12) and np.allclose(grad, EXPECTED[1], rtol=1e-12)


@dask.delayed
def load(i):
    return X[4 * i : 4 * i + 4], Y[4 * i : 4 * i + 4]


SOURCES = {
    "tuples in a list": lambda: [(X[:5], Y[:5]), (X[5:], Y[5:])],
    "arrays to be divided": lambda: partitions((X, Y), rows=5),
    "Dask arrays": lambda: (da.from_array(X, chunks=(5, 1)), da.from_array(Y, chunks=4)),
    "a Dask array beside one of NumPy": lambda: (da.from_array(X, chunks=(5, 2)), Y),
    "Dask arrays divided fresh": lambda: partitions((da.from_array(X), da.from_array(Y)), rows=3),
    "loaders": lambda: [load(i) for i in range(3)],
    "loaders in tuples": lambda: [(load(i)[0], load(i)[1]) for i in range(3)],
    "loaders, each time fresh": lambda: partitions([load(i) for i in range(3)], persist=False),
    "Dask arrays, each time fresh": lambda: partitions(
        (da.from_array(X, chunks=5), da.from_array(Y, chunks=5)), persist=False
    ),
}


@pytest.mark.parametrize("source", SOURCES)
def test_partitions_come_from(source):
    assert agrees(SOURCES[source]())


def test_dicts_of_dask_arrays_are_dicts_in_the_loss():
    data = {"x": da.from_array(X, chunks=5), "y": da.from_array(Y, chunks=5)}
    assert agrees(data, lambda w, batch: loss(w, (batch["x"], batch["y"])))


def test_one_dask_array_is_one_array_in_the_loss():
    whole = da.from_array(np.column_stack([X, Y]), chunks=(5, 2))
    assert agrees(whole, lambda w, batch: loss(w, (batch[:, :2], batch[:, 2])))


def test_a_value_that_all_partitions_share_is_computed_once():
    calls = []

    @dask.delayed
    def shared():
        calls.append(1)
        return 1.0

    one = shared()
    data = partitions([load(i) for i in range(3)], persist=False)
    data = partitions(
        [dask.delayed(lambda b, o: (b[0] * o, b[1]))(load(i), one) for i in range(3)],
        persist=False,
    )
    assert agrees(data)
    assert len(calls) == 1


def test_partitions_stay_loaded_or_are_loaded_anew():
    loads = []

    def counted(i):
        loads.append(i)
        return X[4 * i : 4 * i + 4], Y[4 * i : 4 * i + 4]

    loaders = [dask.delayed(counted)(i) for i in range(3)]
    kept = partitions(loaders)
    assert agrees(kept) and agrees(kept)
    assert sorted(loads) == [0, 1, 2]
    fresh = partitions(loaders, persist=False)
    value_and_grad(loss)(W, fresh[1:])  # those that are not asked for are not loaded
    assert sorted(loads[3:]) == [1, 2]


@pytest.mark.parametrize("persist", [True, False])
def test_an_error_in_a_loader_names_the_partition(persist):
    def fails(i):
        if i == 1:
            raise OSError("disk")
        return X, Y

    with pytest.raises(PartitionError, match="partition 1: loading it raised OSError: disk") as e:
        value_and_grad(loss)(
            W, partitions([dask.delayed(fails)(i) for i in range(3)], persist=persist)
        )
    assert isinstance(e.value.__cause__, OSError)


def test_some_of_the_partitions():
    data = partitions((X, Y), rows=4)
    assert (len(data), len(data[1:]), len(data[[0, 2]])) == (3, 2, 2)
    value, _ = value_and_grad(loss)(W, data[[0, 2]])
    right, _ = value_and_grad(loss)(W, [(np.r_[X[:4], X[8:]], np.r_[Y[:4], Y[8:]])])
    assert np.isclose(value, right, rtol=1e-12)


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        (lambda: [da.ones(4), da.ones(4)], TypeError, "a list of Dask objects of type Array"),
        (lambda: (da.ones(4), da.ones(5)), ValueError, r"as many rows, but have \[4, 5\]"),
        (lambda: (da.ones(4), da.ones(())), ValueError, "without dimensions has no rows"),
        (lambda: load(0), TypeError, "must be a list of partitions"),
        (lambda: {"x": "text"}, TypeError, "must be a list of partitions"),
    ],
)
def test_what_cannot_be_divided_is_refused(data, error, text):
    with pytest.raises(error, match=text):
        partitions(data())


def test_partitions_in_this_process_are_for_all_of_its_schedulers():
    data = partitions([(X, Y)])
    assert partitions(data, scheduler="sync") is data
    assert (
        repr(partitions(data, scheduler="threads")) == "Partitions(1, in threads of this process)"
    )
    assert repr(data) == "Partitions(1, in this process)"


def test_zarr_arrays_come_through_dask(tmp_path):
    pytest.importorskip("zarr")
    da.from_array(X, chunks=(5, 2)).to_zarr(str(tmp_path / "x"))
    da.from_array(Y, chunks=5).to_zarr(str(tmp_path / "y"))
    assert agrees((da.from_zarr(str(tmp_path / "x")), da.from_zarr(str(tmp_path / "y"))))


def test_tables_from_parquet_come_as_tables(tmp_path):
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    table = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y})
    for i in range(3):
        table.iloc[4 * i : 4 * i + 4].to_parquet(tmp_path / f"part.{i}.parquet")
    table = dd.read_parquet(tmp_path)
    assert agrees(table, lambda w, t: loss(w, (t[["a", "b"]].to_numpy(), t["y"].to_numpy())))
    # as an array, the lengths of whose chunks nobody knows beforehand
    assert agrees(table.to_dask_array(), lambda w, batch: loss(w, (batch[:, :2], batch[:, 2])))
