"""Layer 0 · base: names of PyTorch that have no meaning here, with the reasons; see `elsewhere`.

The names are in ``refused.txt``; the reason depends on the module.
"""

from __future__ import annotations

from importlib.resources import files

REASONS = {
    "quantized": (
        "arrays of NumPy have no quantised types. Compute in float16, or quantise after training"
    ),
    "compiled": (
        "models are Python here. Use wengert.compile to make them faster, and wengert.save to keep "
        "their state"
    ),
    "package": (
        "models are Python here. Use wengert.save for their state, and ship the code as a package"
    ),
    "onnx": "models are Python here. Export with PyTorch, after loading the parameters there",
    "cluster": (
        "it shares one model out among machines. Use wengert.distributed, which shares data "
        "out on Dask"
    ),
    "gpu": "there is no such device: tensors are computed on the CPU. Ask is_available() first",
    "native": (
        "there is no C++ library to build against. Write an autograd.Function, or use "
        "wengert.compile"
    ),
    "pipes": "it has left PyTorch's own data sets, too. Use utils.data.Dataset and DataLoader",
    "workers": "batches are fetched in this process. Use utils.data.DataLoader",
    "masked": "tensors carry no mask. Give `mask=` to the functions of torch.masked, or use where",
    "nested": "arrays of NumPy have one shape. Pad, or use a list of tensors and nn.utils.rnn",
    "passes": (
        "it transforms programs for PyTorch's compilers. Write the change as a function of "
        "modules, or use hooks"
    ),
    "script": "there is no TorchScript: functions run as the Python that they are",
    "removed": (
        "This function was deprecated since version 1.9 and is now removed. Use that of "
        "torch.linalg; symeig is linalg.eigh there"
    ),
    "inner": (
        "it is an inner function of PyTorch's. Use that of nn.functional without 'native_', and "
        "mean and var for the statistics"
    ),
    "switches": (
        "it would switch casts for the whole program. Use the context autocast(device_type, "
        "dtype), which puts back what it changes"
    ),
    "pivoted": (
        "NumPy has no such factorisation. Use linalg.lu_factor and linalg.lu_solve, or "
        "linalg.cholesky where the matrix is positive definite"
    ),
    "events": "nothing is counted here. Use profiler.profile, or Python's logging",
    "flex": (
        "there is no compiled kernel for it. Use nn.functional.scaled_dot_product_attention "
        "with a mask"
    ),
}
"""The message for each kind."""

_HOMES = {
    "passes": "_higher_order_ops _lazy _ops _prims_common _subclasses fx",
    "quantized": (
        "ao sparse.semi_structured quantization nn.intrinsic nn.qat nn.quantizable nn.quantized"
    ),
    "compiled": "export nativert",
    "events": "monitor",
    "gpu": (
        "nn.modules._functions nn.parallel._functions mps mtia xpu cuda.comm cuda.gds "
        "cuda.graphs cuda.jiterator cuda.nccl cuda.nvtx cuda.profiler cuda.tunable"
    ),
    "masked": "masked",
    "nested": "nested",
    "onnx": "onnx",
    "package": (
        "package jit.mobile utils.bundled_inputs utils.mobile_optimizer utils.model_dump "
        "utils.show_pickle"
    ),
    "cluster": (
        "distributed._composable distributed._functional_collectives distributed._tensor "
        "distributed.algorithms "
        "distributed.autograd distributed.checkpoint "
        "distributed.device_mesh distributed.elastic distributed.fsdp distributed.launch "
        "distributed.launcher distributed.nn distributed.optim distributed.pipelining "
        "distributed.rpc distributed.run distributed.tensor"
    ),
    "native": "utils.backend_registration utils.cpp_extension utils.hipify utils.mkldnn",
    "flex": "nn.attention.varlen",
    "workers": "utils.data._utils",
    "pipes": "utils.data.datapipes utils.data.graph utils.data.graph_settings",
}
"""The modules that each message applies to, with everything in them."""
_KINDS = {home: kind for kind, homes in _HOMES.items() for home in homes.split()}


def rows_of(text: str) -> dict[str, list[str]]:
    """Parse a list of names by module: a line ``module:``, then lines of names."""
    rows: dict[str, list[str]] = {}
    module = ""
    for line in text.splitlines():
        if line[:1] == " ":
            rows[module] += line.split()
        elif line[:1] != "#":
            module = line.removesuffix(":")
            rows[module] = []
    return rows


def _kind_of(path: str) -> str:
    return _KINDS[path] if path in _KINDS else _kind_of(path.rpartition(".")[0])


_LIST = files("wengert.base").joinpath("refused.txt").read_text(encoding="utf-8")
ROWS = {path: (_kind_of(path), names) for path, names in rows_of(_LIST).items()}
"""The kind and the names of each module."""
