"""Layer 7 · func: modules as functions of their parameters.

This module does not depend on the class of modules, only on their contents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

from wengert.ops.join import stack
from wengert.tape.base import TensorBase

_MISSING: Any = object()


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with the given parameters and buffers instead of its own.

    The module holds them during the call and gets its own back afterwards, even if the call raises;
    no other thread should use it meanwhile. Writes to a buffer go to the given tensor.

    Parameters
    ----------
    module : Module. The module.
    parameter_and_buffer_dicts : dict or sequence of dicts. Tensors by the paths that lead to
        parameters and buffers; those left out are the module's.
    args: The positional arguments: a tuple, or a single argument.
    kwargs : dict, optional. The keyword arguments.
    tie_weights : bool. Whether replacing a tied parameter in one place replaces it everywhere.
    strict : bool. Whether the paths must match the module's exactly.

    Returns
    -------
    Any: The module's result. Differentiable with respect to the given tensors.

    Raises
    ------
    ValueError: If a path is in several dictionaries, or tied parameters get several values.
    RuntimeError: With `strict`, if paths are missing or unexpected.

    Examples
    --------
    %(a_line)s
    >>> def loss(parameters, x):
    ...     return wg.func.functional_call(line, parameters, (x,)) ** 2
    >>> wg.func.grad(loss)({"slope": wg.tensor(3.0)}, wg.tensor(1.0))
    {'slope': tensor(6.)}
    """
    given = _merged(parameter_and_buffer_dicts)
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with with_state(module, given, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """Return a function that computes the same as `func`; no operation needs to be rewritten.

    PyTorch removes in-place operations and views for its tracers. Nothing here needs that, so the
    operations stay as they are: results, and writes to arguments, are the same.

    Parameters
    ----------
    func : callable. The function.
    remove : {"mutations", "mutations_and_views"}. Accepted for compatibility with PyTorch.

    Returns
    -------
    callable: Takes the same arguments as `func`.

    Raises
    ------
    RuntimeError: For another value of `remove`, when the function is called.

    Examples
    --------
    >>> wg.func.functionalize(lambda x: x.clone().add_(1))(wg.ones(2))
    tensor([2., 2.])
    """

    @wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if remove not in ("mutations", "mutations_and_views"):
            raise RuntimeError(
                "functionalize(f, remove='mutations'): received invalid argument for "
                f"remove={remove}. Valid options are:\n"
                "     remove='mutations'\n     remove='mutations_and_views'"
            )
        return func(*args, **kwargs)

    return wrapped


def _merged(dicts: Any) -> dict[str, Any]:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    if not all(isinstance(part, dict) for part in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    made: dict[str, Any] = {}
    repeated = []
    for part in dicts:
        repeated += [name for name in part if name in made]
        made.update(part)
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
            "ambiguous"
        )
    return made


@contextmanager
def with_state(
    module: Any, given: dict[str, Any], *, tie_weights: bool = True, strict: bool = False
) -> Iterator[None]:
    """Return a context in which `module` has the parameters and buffers `given`.

    At the end, the module's current values are left in `given`.
    """
    values = _tied(module, given) if tie_weights else given
    if strict:
        _check_names(module, values)
    # look up all holders first, so that the rest cannot fail halfway
    places = [(name, *_holder(module, name)) for name in values]
    before = [_held(holder, attribute) for _, holder, attribute in places]
    for (name, _, attribute), held in zip(places, before, strict=True):
        for one in (held, values[name]):
            if one is not _MISSING and one is not None and not isinstance(one, TensorBase):
                raise TypeError(
                    f"attribute `{attribute}`: {one} is not an instance of torch.Tensor"
                )
    try:
        for name, holder, attribute in places:
            _put(holder, attribute, values[name])
        yield
    finally:
        # one attribute may have several names: read all before restoring any
        after = [_held(holder, attribute) for _, holder, attribute in places]
        for (name, holder, attribute), old, new in zip(places, before, after, strict=True):
            if name in given and new is not _MISSING:
                given[name] = new
            _put(holder, attribute, old)


def _holder(module: Any, name: str) -> tuple[Any, str]:
    path, _, attribute = name.rpartition(".")
    return module.get_submodule(path), attribute


def _held(holder: Any, attribute: str) -> Any:
    for table in (holder._parameters, holder._buffers):
        if attribute in table:
            return table[attribute]
    return getattr(holder, attribute, _MISSING)


def _put(holder: Any, attribute: str, value: Any) -> None:
    if value is _MISSING:
        if hasattr(holder, attribute):
            delattr(holder, attribute)
        return
    for table in (holder._parameters, holder._buffers):
        if attribute in table:
            # bypass the checks of an assignment: the value need not be a parameter
            table[attribute] = value
            return
    setattr(holder, attribute, value)


def _tied(module: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return `given`, plus its tensors at other paths to the same parameter or buffer."""
    names: dict[int, list[str]] = {}
    for named in (module.named_parameters, module.named_buffers):
        for name, tensor in named(remove_duplicate=False):
            names.setdefault(id(tensor), []).append(name)
    made = dict(given)
    for tied in names.values():
        chosen = [name for name in tied if name in given]
        if len(tied) == 1 or not chosen:
            continue
        first = given[chosen[0]]
        if any(given[name] is not first for name in chosen):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. "
                "Consider using tie_weights=False"
            )
        made.update(dict.fromkeys(tied, first))
    return made


def _check_names(module: Any, values: dict[str, Any]) -> None:
    known = {
        name
        for named in (module.named_parameters, module.named_buffers)
        for name, _ in named(remove_duplicate=False)
    }
    errors = []
    if unexpected := [name for name in values if name not in known]:
        errors.append(f"Unexpected key(s): {', '.join(map(repr, unexpected))}.")
    if missing := sorted(known - values.keys()):
        errors.append(f"Missing key(s): {', '.join(map(repr, missing))}.")
    if errors:
        listed = "\n\t".join(errors)
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t{listed}")


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Stack the parameters and buffers of models with the same structure, for `vmap`.

    Parameters
    ----------
    models : sequence of Module. Of one class, all in training mode or all in evaluation mode.

    Returns
    -------
    tuple of dict: Parameters and buffers by their paths, each with a new first dimension. The
        stacked parameters are leaves that require a gradient if those of the models do.

    Raises
    ------
    RuntimeError: If there are no models, or they differ in class, in mode, or in what requires a
        gradient.

    Examples
    --------
    >>> class Line(wg.nn.Module):
    ...     def __init__(self, slope):
    ...         super().__init__()
    ...         self.slope = wg.nn.Parameter(wg.tensor(slope))
    ...
    ...     def forward(self, x):
    ...         return self.slope * x
    >>> lines = [Line(1.0), Line(2.0), Line(3.0)]
    >>> parameters, buffers = wg.func.stack_module_state(lines)
    >>> def call(parameters, x):
    ...     return wg.func.functional_call(lines[0], parameters, (x,))
    >>> wg.vmap(call, in_dims=(0, None))(parameters, wg.tensor(2.0)).detach()
    tensor([2., 4., 6.])
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    first = models[0]
    if any(model.training != first.training for model in models):
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if any(type(model) is not type(first) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return (
        _stacked([dict(model.named_parameters()) for model in models]),
        _stacked([dict(model.named_buffers()) for model in models]),
    )


def _stacked(dicts: list[dict[str, Any]]) -> dict[str, Any]:
    made = {}
    for name in dicts[0]:
        tensors = [part[name] for part in dicts]
        needs = {tensor.requires_grad for tensor in tensors}
        if len(needs) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        made[name] = stack(tensors).detach().requires_grad_(needs.pop())
    return made


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Make all batch norm modules in `root` use batch statistics instead of running ones.

    They then normalise by the current batch, also in evaluation mode: batched calls cannot share
    running statistics.

    Parameters
    ----------
    root : Module. The module, which is modified.

    Returns
    -------
    Module: `root` itself.

    Examples
    --------
    >>> norm = wg.func.replace_all_batch_norm_modules_(wg.nn.BatchNorm1d(3))
    >>> norm.running_mean is None
    True
    """
    for module in root.modules():
        if getattr(module, "track_running_stats", False):
            module.track_running_stats = False
            module.running_mean = module.running_var = module.num_batches_tracked = None
    return root
