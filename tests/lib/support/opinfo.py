"""Run PyTorch's own sample inputs through PyTorch and through this library.

PyTorch describes each of its operations by an ``OpInfo``: sample inputs, inputs that are errors,
dtypes, other forms (method, in place, operator, alias). A `Comparison` takes one of them through
both libraries. PyTorch is never imported here; the tests hand it over where it is installed.
"""

from __future__ import annotations

import functools
import random
import re
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

import wengert as wg
from support.agreement import (
    array,
    attempt,
    derivatives_differ,
    failures_differ,
    is_tensor,
    leaves,
    precision,
    values_differ,
)
from support.parity import Failure

__all__ = ["LEFT_OUT", "Comparison", "Finding"]

DTYPES = (
    *("float16", "float32", "float64", "complex64", "complex128", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)

LARGE = 2**16
"""How many numbers a sample may hold that is taken when not all are."""


LEFT_OUT = {
    "dtype": "bfloat16, complex32 and others that NumPy does not have by itself",
    "layout": "sparse tensors and other layouts",
    "device": "tensors of the device `meta`, without values",
    "dimensions": "more than 64 dimensions, the most that NumPy has",
    "module": "modules as arguments, except for distances",
}
"""Which samples are not taken: those that hold what has no counterpart here."""


class Unsupported(Exception):
    """A sample holds what is left out: a key of `LEFT_OUT`."""


class Finding(NamedTuple):
    """One disagreement: the form that was called, what differs, and the sample."""

    form: str
    text: str
    sample: str

    def __str__(self) -> str:
        return f"{self.form}: {self.text}\n    {self.sample}"


class Form(NamedTuple):
    """One way to call an operation, in PyTorch and here."""

    name: str
    theirs: Callable[..., Any]
    ours: Callable[..., Any]


ELSEWHERE = ("masked.", "sparse.")
"""The descriptions of these call private functions of PyTorch's, or take its sparse tensors; see
`parity/test_masked.py` and `parity/test_sparse.py`."""


class Comparison:
    """One operation of PyTorch beside ours of the same name.

    Parameters
    ----------
    torch
        PyTorch.
    info
        Its description of the operation, an item of ``op_db``.
    drawn
        Whether results are drawn at random: then only dtypes and shapes are compared.

    Attributes
    ----------
    runs
        How many results, derivatives of first and second order, and errors were compared so far.
    left_out
        How many samples were not taken, by the keys of `LEFT_OUT`.

    Raises
    ------
    AttributeError
        If there is no operation of that name here, or its description needs what is PyTorch's own.
    """

    def __init__(self, torch: Any, info: Any, drawn: bool = False) -> None:
        if info.name.startswith(ELSEWHERE):
            raise AttributeError(f"{info.name} is compared in a test of its own")
        self.torch = torch
        self.info = info
        self.drawn = drawn or info.has_nondeterministic_output
        self.runs: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        if not hasattr(wg.Tensor, f"{info.name}_") and not hasattr(wg.Tensor, info.name):
            _found(wg, info.name)
        self.ours = self._counterpart(info.op)

    # -- the same operation here ------------------------------------------------------------------

    def _counterpart(self, theirs: Any) -> Callable[..., Any]:
        """What does here what the function `theirs` does in PyTorch."""
        if isinstance(theirs, functools.partial):
            function = self._counterpart(theirs.func)
            return functools.partial(function, *theirs.args, **theirs.keywords)
        if getattr(theirs, "__name__", "") == "<lambda>":
            return _retargeted(theirs)
        if getattr(theirs, "__module__", "") == "_operator":
            return theirs
        of_tensors = getattr(theirs, "__qualname__", "").startswith("Tensor.")
        if of_tensors or hasattr(theirs, "__objclass__"):
            return getattr(wg.Tensor, theirs.__name__)
        return _found(wg, self.info.name)

    def forms(self) -> Iterator[Form]:
        """Every way to call the operation in PyTorch; one that is missing here raises."""
        info = self.info
        yield Form("function", info.op, self.ours)
        beside = [
            ("method", info.method_variant),
            ("in place", info.inplace_variant),
            ("operator", info.operator_variant),
            ("operator in place", info.inplace_operator_variant),
        ]
        for name, theirs in beside:
            if theirs is None:
                continue
            try:
                ours = self._counterpart(theirs)
            except AttributeError as error:
                ours = functools.partial(_raise, error)
            if name.endswith("in place"):
                theirs, ours = _on_copy(theirs), _on_copy(ours)
            yield Form(name, theirs, ours)
        for alias in info.aliases:
            path = alias.name.removeprefix("torch.")
            yield Form(f"alias {path}", alias.op, functools.partial(_by_name, path))

    # -- samples ----------------------------------------------------------------------------------

    def takes(self, dtype: str) -> bool:
        """Whether PyTorch has the operation for the dtype of that name."""
        return getattr(self.torch, dtype) in self.info.dtypes

    def _has_derivatives(self, dtype: str) -> bool:
        kinds = self.info.supported_backward_dtypes("cpu")
        return self.info.supports_autograd and getattr(self.torch, dtype) in kinds

    def _samples(self, dtype: str, requires_grad: bool, limit: int | None) -> list[Any]:
        """PyTorch's sample inputs, or `limit` of them that are not large, the same each time."""
        kind = getattr(self.torch, dtype)
        make = self.info.sample_inputs_func
        samples = self._made(lambda: make(self.info, "cpu", kind, requires_grad))
        if limit is not None:
            samples = [sample for sample in samples if _size(sample) <= LARGE]
        return _spread(samples, limit)

    def _made(self, make: Callable[[], Any]) -> list[Any]:
        """What `make` yields, with all that it may draw from at one place."""
        state = random.getstate(), np.random.get_state()
        self.torch.manual_seed(3)
        random.seed(3)
        np.random.seed(3)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return list(make())
        finally:
            random.setstate(state[0])
            np.random.set_state(state[1])

    def _twin(self, value: Any, inputs: list[tuple[Any, Any]]) -> Any:
        """`value` of PyTorch as ours; tensors that require a gradient join `inputs`, both."""
        torch = self.torch
        if isinstance(value, torch.Tensor):
            return self._twin_tensor(value, inputs)
        if isinstance(value, torch.dtype):
            name = str(value).removeprefix("torch.")
            if name not in DTYPES:
                raise Unsupported("dtype")
            return getattr(wg, name)
        if isinstance(value, torch.device):
            return str(value)
        if isinstance(value, torch.memory_format):
            return getattr(wg, str(value).removeprefix("torch."))
        if isinstance(value, torch.Generator):
            return wg.Generator().manual_seed(value.initial_seed())
        if isinstance(value, torch.nn.PairwiseDistance):
            distance = wg.nn.functional.pairwise_distance
            return functools.partial(distance, p=value.norm, eps=value.eps, keepdim=value.keepdim)
        if isinstance(value, torch.nn.Module):
            raise Unsupported("module")
        if isinstance(value, torch.layout):
            if value is not torch.strided:
                raise Unsupported("layout")
            return None  # there is no other
        if isinstance(value, list):
            return [self._twin(item, inputs) for item in value]
        if isinstance(value, tuple):
            return tuple(self._twin(item, inputs) for item in value)
        if isinstance(value, dict):
            return {key: self._twin(item, inputs) for key, item in value.items()}
        if getattr(value, "__name__", "") == "<lambda>":
            return _retargeted(value)
        return value

    def _twin_tensor(self, tensor: Any, inputs: list[tuple[Any, Any]]) -> Any:
        name = str(tensor.dtype).removeprefix("torch.")
        if name not in DTYPES:
            raise Unsupported("dtype")
        if tensor.dim() > 64:
            raise Unsupported("dimensions")
        if tensor.layout is not self.torch.strided:
            raise Unsupported("layout")
        if tensor.is_meta:
            raise Unsupported("device")
        # in memory as PyTorch has it: a view of something larger stays one
        plain = tensor.detach().resolve_conj().resolve_neg()
        size = plain.untyped_storage().nbytes() // plain.element_size()
        # a clone, since PyTorch does not resize memory that NumPy has seen
        whole = array(plain.as_strided((size,), (1,), 0).clone())
        steps = [step * whole.itemsize for step in plain.stride()]
        made = wg.from_numpy(as_strided(whole[plain.storage_offset() :], plain.shape, steps))
        if tensor.requires_grad:
            made.requires_grad_()
            inputs.append((made, tensor))
        return made

    def twins(self, dtype: str, limit: int) -> Iterator[tuple[Any, tuple[Any, ...], Any, str]]:
        """Samples with our arguments for them: ``(sample, args, kwargs, description)``."""
        if not self.takes(dtype):
            return
        for sample in self._samples(dtype, self._has_derivatives(dtype), limit):
            inputs: list[tuple[Any, Any]] = []
            try:
                args = self._twin((sample.input, *sample.args), inputs)
                yield sample, args, self._twin(sample.kwargs, inputs), _shown(sample)
            except Unsupported as reason:
                self.left_out[str(reason)] += 1

    # -- comparing --------------------------------------------------------------------------------

    def findings(
        self, dtype: str, limit: int | None = None, derivatives: bool = True
    ) -> list[Finding]:
        """Take the samples of `dtype` through every form.

        Parameters
        ----------
        dtype
            The name of a dtype.
        limit
            How many samples at most, none of them large; all if None.
        derivatives
            Whether to compare first and second derivatives, too.

        Returns
        -------
        list
            What does not agree, one finding of a kind.
        """
        samples = self._samples(dtype, derivatives and self._has_derivatives(dtype), limit)
        found: dict[tuple[str, str], Finding] = {}
        for form in self.forms():
            few = form.name.startswith(("alias", "operator"))
            for sample in _spread(samples, 2) if few else samples:
                if form.name != "function" and not is_tensor(sample.input):
                    continue
                try:
                    text = self._difference(form, sample)
                except Unsupported as reason:
                    self.left_out[str(reason)] += 1
                    continue
                if text is not None:
                    kind = re.sub(r"[-+0-9.e]+", "#", text)[:60]
                    found.setdefault((form.name, kind), Finding(form.name, text, _shown(sample)))
        return list(found.values())

    def _difference(self, form: Form, sample: Any) -> str | None:
        """What differs on one sample; None if nothing does."""
        inputs: list[tuple[Any, Any]] = []
        args = self._twin((sample.input, *sample.args), inputs)
        kwargs = self._twin(sample.kwargs, inputs)
        their_args = (sample.input, *sample.args)
        theirs = attempt(form.theirs, their_args, sample.kwargs)
        ours = attempt(form.ours, args, kwargs)
        self.runs["values"] += 1
        if isinstance(theirs, Failure) or isinstance(ours, Failure):
            if form.name.endswith("in place") and sample.broadcasts_input:
                return None  # the first argument is too small to hold the result
            return failures_differ(ours, theirs)
        near = precision([args, list(kwargs.values()), ours])
        drawn = self.drawn or sample.kwargs.get("dropout_p", 0) > 0
        process = sample.output_process_fn_grad
        unique = process.__name__ == "<lambda>"
        text = values_differ(ours, theirs, near, kinds_only=drawn or not unique)
        if text is not None or drawn:
            return text
        wrapper = self.info.gradcheck_wrapper
        if inputs and _constrains(wrapper):
            # derivatives are compared where arguments stay what they must be, such as Hermitian
            theirs = wrapper(form.theirs, *their_args, **sample.kwargs)
            ours = _retargeted(wrapper)(form.ours, *args, **kwargs)
        if not unique:
            # vectors are compared but for their phases
            theirs, ours = process(theirs), _retargeted(process)(ours)
            text = values_differ(ours, theirs, near)
            if text is not None:
                return text
        orders = 2 if self.info.supports_gradgrad else 1
        text, compared = derivatives_differ(self.torch, ours, theirs, inputs, orders, near)
        self.runs.update(f"derivative {order + 1}" for order in range(compared))
        return text

    def error_findings(self, words: int = 4) -> list[Finding]:
        """Take PyTorch's erroneous inputs through both libraries.

        Returns
        -------
        list
            Where type or first `words` words differ.
        """
        found: list[Finding] = []
        if self.info.error_inputs_func is None:
            return found
        inputs = self._made(lambda: self.info.error_inputs_func(self.info, "cpu"))
        for sample in (item.sample_input for item in inputs):
            try:
                args = self._twin((sample.input, *sample.args), [])
                kwargs = self._twin(sample.kwargs, [])
            except Unsupported as reason:
                self.left_out[str(reason)] += 1
                continue
            theirs = attempt(self.info.op, (sample.input, *sample.args), sample.kwargs)
            if not isinstance(theirs, Failure):
                continue
            self.runs["errors"] += 1
            text = failures_differ(attempt(self.ours, args, kwargs), theirs, words)
            if text is not None:
                found.append(Finding("error", text, _shown(sample)))
        return found


def _found(root: Any, path: str) -> Any:
    return functools.reduce(getattr, path.split("."), root)


def _by_name(path: str, *args: Any, **kwargs: Any) -> Any:
    return _found(wg, path)(*args, **kwargs)


def _call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


def _raise(error: Exception, *args: Any, **kwargs: Any) -> Any:
    raise error


def _on_copy(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which writes into its first argument, on a copy of that."""

    def on_copy(first: Any, *args: Any, **kwargs: Any) -> Any:
        return function(first.clone(), *args, **kwargs)

    return on_copy


def _retargeted(function: Any) -> Callable[..., Any]:
    """A function of PyTorch's tests, with `torch` being this library."""
    names = {**function.__globals__, "torch": wg, "wrapper_set_seed": _call}
    code = function.__code__
    for name in code.co_names:
        if name.startswith("gradcheck_wrapper"):
            names[name] = _retargeted(names[name])
    made = types.FunctionType(
        code, names, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _constrains(wrapper: Any) -> bool:
    """Whether a wrapper of PyTorch's `gradcheck` gives arguments the form that they need."""
    names = (wrapper.__name__, *wrapper.__code__.co_names)
    return any(name.startswith("gradcheck_wrapper") for name in names)


def _size(sample: Any) -> int:
    """How many numbers there are in the arguments of a sample."""
    given = leaves((sample.input, sample.args, sample.kwargs))
    return sum(tensor.numel() for tensor in given if is_tensor(tensor))


def _spread(items: list[Any], limit: int | None) -> list[Any]:
    """At most `limit` of the items, evenly spread, the first and the last among them."""
    if limit is None or len(items) <= limit:
        return items
    return [items[int(i)] for i in np.linspace(0, len(items) - 1, limit)]


def _shown(value: Any) -> str:
    """A sample in a few words."""
    if hasattr(value, "output_process_fn_grad"):
        return _shown((value.input, *value.args, value.kwargs))
    if is_tensor(value):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_shown, value))})"
    if isinstance(value, dict):
        return ", ".join(f"{key}={_shown(item)}" for key, item in value.items())
    return repr(value)
