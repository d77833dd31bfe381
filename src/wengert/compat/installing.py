"""Layer 9 · compat: import the package, or an idiom, under the name of the library it replaces.

NOTE [installed names]
Each module has one object, whichever name it is imported by: ``torch.nn`` *is* ``wengert.nn``, so
classes are the same, and `isinstance` and identity hold. While a name is installed, a finder is
first in ``sys.meta_path``. It imports our own module for the name and returns it.
`importlib.metadata` asks the same finder for installed packages, so it also reports the version
that the interface follows.

Classes print with the original's names: a class has the module whose row in `base.places` lists it,
or else a module that lists it in ``__all__``. The finder looks at each of our own modules when it
has been executed.
"""

from __future__ import annotations

import builtins
import copy
import importlib
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from types import ModuleType
from typing import Any

import wengert
from wengert.base.elsewhere import keep_beside
from wengert.base.names import INSTALLED
from wengert.base.places import NAMES
from wengert.compat.kit.namespaces import defined
from wengert.tensor.overrides import prepare
from wengert.version import __version__ as followed
from wengert.version import wengert as our_own

_PACKAGES = {
    "torch": ("wengert", followed.partition("+")[0]),
    "functorch": ("wengert.compat.functorch", None),
    "autograd": ("wengert.compat.autograd", "1.9.1"),
    "jax": ("wengert.compat.jax", None),
    "mxnet": ("wengert.compat.mxnet", None),
    "tensorflow": ("wengert.compat.tensorflow", None),
    "keras": ("wengert.compat.tensorflow.keras", None),
}
"""The counterpart of each library, with the version it follows unless the package has its own.
"""

_BESIDE = {"torch": "functorch", "tensorflow": "keras"}
"""Packages that come with a library."""

_HOMES: dict[str, dict[str, tuple[str, ...]]] = {
    "autograd": {"numpy.numpy_boxes": ("ArrayBox",)},
    "jax": {"classes": ("Array", "WeakArray")},
    "tensorflow": {"eager": ("Tensor",)},
    "torch": {
        "autograd.grad_mode": ("enable_grad", "inference_mode", "no_grad", "set_grad_enabled"),
        "nn.parameter": ("UninitializedBuffer", "UninitializedParameter"),
        "utils.hooks": ("RemovableHandle",),
    },
}
"""Classes whose ``__module__`` tells the library, to packages (opt_einsum, autoray) and readers."""

_SHOWN = (
    *("Generator", "Size", "Tensor", "device", "dtype", "finfo", "iinfo", "layout"),
    "memory_format",
)
"""Classes that print as the package's own."""

_INNER = ("base", "kernels", "ops", "tape", "tensor")
"""Packages that the original lacks, or has for other purposes."""

_ROWS: dict[str, list[str]] = {}
"""The modules of PyTorch that list a name of others."""
for _path, _names in NAMES.items():
    for _name in _names:
        _ROWS.setdefault(_name, []).append(_path)


class Installation:
    """An installed name of the package; `undo`, or the end of a ``with`` block, removes it.

    Attributes
    ----------
    name : str. The installed name, as in ``import torch``.
    module : module. The module that the name imports.
    version : str. The version that ``importlib.metadata.version`` returns.
    """

    def __init__(self, name: str, module: ModuleType, version: str) -> None:
        self.name, self.module, self.version = name, module, version
        self._finder = _Finder(self, _Distribution(name, version))
        self._before: list[tuple[Any, str, Any]] = []
        self._beside: list[Installation] = []
        self._placed: set[type] = set()

    def undo(self) -> None:
        """Remove the name: later imports of it get the original library.

        Modules that were imported before keep what they have.
        """
        if _INSTALLATIONS.pop(self.name, None) is None:
            return
        while self._beside:
            self._beside.pop().undo()
        sys.meta_path.remove(self._finder)
        del INSTALLED[self.name]
        for name in [one for one in sys.modules if f"{one}.".startswith(f"{self.name}.")]:
            del sys.modules[name]
        while self._before:
            owner, attribute, value = self._before.pop()
            if value is _ABSENT:
                delattr(owner, attribute)
            else:
                setattr(owner, attribute, value)

    def _do(self) -> None:
        _INSTALLATIONS[self.name] = self
        INSTALLED[self.name] = _own_name(self.module).split(".")[0]
        sys.meta_path.insert(0, self._finder)
        self._finder.mirror()
        beside = _BESIDE.get(self.name)
        if beside is not None and beside not in {*sys.modules, *_INSTALLATIONS}:
            self._beside.append(install(beside))
        if self.module is wengert:
            self._set(wengert, "__version__", followed)
            # packages iterate over the module's attributes, so all of them are imported
            for name in wengert.optim.__all__:
                getattr(wengert.optim, name)
            # programs compare the name, and PyTorch's package has itself as an attribute
            self._set(wengert, "__name__", self.name)
            self._set(wengert, self.name, wengert)
            self._placed = {getattr(wengert, name) for name in _SHOWN}
            for shown in self._placed:
                self._set(shown, "__module__", self.name)
            for name, module in list(sys.modules.items()):
                if name.startswith("wengert.") and hasattr(module, "__spec__"):
                    self._follow(module)
            self._set(wengert.autograd.Function, "_needs_rules", True)
            self._set(builtins, "__build_class__", _watching(builtins.__build_class__))
        for home, kinds in _HOMES.get(self.name, {}).items():
            found = importlib.import_module(f"{_own_name(self.module)}.{home}")
            for kind in kinds:
                self._set(getattr(found, kind), "__module__", f"{self.name}.{home}")

    def _follow(self, module: ModuleType) -> None:
        """Make the classes that a module defines or lists print like the original's."""
        listed, here = vars(module).get("__all__", ()), _own_name(module).partition(".")[2]
        top = here.partition(".")[0]
        for inner in list(vars(module).values()):
            if type(inner) is ModuleType and inner.__spec__ is None and module is not wengert:
                self._follow(inner)  # made by its package, without a file
        for key, kind in list(vars(module).items()):
            if not isinstance(kind, type) or kind in self._placed:
                continue
            root, _, home = kind.__module__.partition(".")
            name, package = kind.__name__, home.partition(".")[0]
            lists = key in listed and vars(module).get(name) is kind and top not in _INNER
            rows = [
                path
                for path in _ROWS.get(name, ())
                if package in (path.partition(".")[0], *_INNER) and "_" not in (path[:1], key[:1])
            ]
            if lists and (
                # a file may list the names of files beside it, and a package those of its files
                root == "wengert" or (root == self.name and not hasattr(module, "__path__"))
            ):
                place = here
            elif root == "wengert" and home == here and rows:
                self._placed.add(kind)
                place = rows[-1]
            elif root == "wengert" and not hasattr(sys.modules.get(f"{root}.{home}"), name):
                # the class names its module itself
                place = home
            else:
                continue
            self._set(kind, "__module__", f"{self.name}.{place}".rstrip("."))

    def _complete(self, module: ModuleType) -> None:
        """Make a star import give the names that the module re-exports, as PyTorch's does."""
        shown = vars(module).get("__all__", ())
        row = NAMES.get(_own_name(module).partition(".")[2], {}) if shown != () else {}
        more = [name for name in row if name[:1] != "_" and name not in shown]
        if more:
            self._set(module, "__all__", [*shown, *more])

    def _set(self, owner: Any, attribute: str, value: Any) -> None:
        self._before.append((owner, attribute, vars(owner).get(attribute, _ABSENT)))
        setattr(owner, attribute, value)

    def __enter__(self) -> Installation:
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()

    def __repr__(self) -> str:
        state = "installed as" if _INSTALLATIONS.get(self.name) is self else "was installed as"
        return f"<{_own_name(self.module)} {our_own}, {state} {self.name} {self.version}>"


def _watching(build: Any) -> Any:
    """Wrap `build` to call `prepare` for a class with ``__torch_function__`` that is not a tensor.

    See NOTE [overriding without tensors].
    """

    def build_class(func: Any, name: str, /, *bases: Any, **kwargs: Any) -> Any:
        if "__torch_function__" in func.__code__.co_names:
            prepare()
        return build(func, name, *bases, **kwargs)

    return build_class


_INSTALLATIONS: dict[str, Installation] = {}
_ABSENT = object()


def _own_name(module: ModuleType) -> str:
    """Return a module's own name, whatever it is installed as."""
    spec = module.__spec__
    return module.__name__ if spec is None else spec.name


def install(name: str) -> Installation:
    """Make ``import torch``, or another library's name, import this package in this process.

    From then on the program, and the packages it uses, import this package in place of the library:
    ``import torch.nn.functional as F``, ``from jax import numpy as jnp``. Call it before anything
    imports the library; ``python -m wengert.compat --as torch script.py`` does so for an unmodified
    program.

    Parameters
    ----------
    name : {"torch", "autograd", "jax", "mxnet", "tensorflow", "keras"}. The name of the library.
        ``tensorflow`` brings ``keras``, too.

    Returns
    -------
    Installation: Its method `undo` removes the name, as does the end of a ``with`` block over it.
        For a name that is already installed, the existing installation.

    Raises
    ------
    ValueError: If there is no counterpart for a library of that name.
    RuntimeError: If the library itself has already been imported.

    Notes
    -----
    While the package is installed as ``torch``, ``torch.__version__`` and
    ``importlib.metadata.version`` return the version of PyTorch that the interface follows; our own
    is ``wengert.version.wengert``. Pickles store the names that classes have when they are written,
    so a pickle that was written under a name is read under that name.

    Examples
    --------
    >>> wg.compat.install("torch")  # doctest: +ELLIPSIS
    <wengert ..., installed as torch 2.13.0+wengert...>
    >>> import torch, torch.nn.functional as F
    >>> F.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    >>> type(torch.ones(2)), torch.nn is wg.nn
    (<class 'torch.Tensor'>, True)
    >>> wg.compat.install("torch").undo()
    """
    if name not in _PACKAGES:
        known = ", ".join(_PACKAGES)
        raise ValueError(f"nothing here stands for {name!r}; what can be installed is {known}")
    if name in _INSTALLATIONS:
        return _INSTALLATIONS[name]
    if name in sys.modules:
        raise RuntimeError(
            f"{name} is imported already, from "
            f"{getattr(sys.modules[name], '__file__', None) or 'an unknown place'}: call "
            "install() before anything imports it."
        )
    package, version = _PACKAGES[name]
    module = importlib.import_module(package)
    installation = Installation(name, module, f"{version or module.__version__}+wengert.{our_own}")
    installation._do()
    return installation


class _Finder(MetaPathFinder):
    """Find a package's modules under another name."""

    def __init__(self, of: Installation, distribution: Distribution) -> None:
        self._name, self._package, self._distribution = of.name, of.module, distribution
        self.complete, self._follow = of._complete, of._follow

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the package's module for `fullname`, or None."""
        if self._package is wengert and fullname.startswith("wengert."):
            return self._followed(fullname, path, target)
        if not f"{fullname}.".startswith(f"{self._name}."):
            return None
        parent, _, child = fullname.rpartition(".")
        found = _submodule(sys.modules[parent], child) if parent else self._package
        if found is None:
            return None
        if parent:
            keep_beside(sys.modules[parent], child)
        spec = ModuleSpec(fullname, _Loader(found, self), origin=getattr(found, "__file__", None))
        if hasattr(found, "__path__"):
            spec.submodule_search_locations = list(found.__path__)
        return spec

    def _followed(self, fullname: str, *args: Any) -> ModuleSpec | None:
        """Return the spec that other finders have of our own module, which tells its classes."""
        others = (finder for finder in sys.meta_path if not isinstance(finder, _Finder))
        found = (finder.find_spec(fullname, *args) for finder in others)
        spec = next((one for one in found if one is not None), None)
        if spec is not None and spec.origin is not None:
            # a copy, since an archive has one loader for all of its modules
            loader: Any = copy.copy(spec.loader)
            spec.loader = loader
            execute = loader.exec_module

            def follow(module: ModuleType) -> None:
                execute(module)
                self._follow(module)

            loader.exec_module = follow
        return spec

    def mirror(self) -> None:
        """Register all loaded modules under their other names too."""
        own = f"{_own_name(self._package)}."
        for name, module in list(sys.modules.items()):
            if f"{name}.".startswith(own):
                alias = (
                    f"{self._name}.{name.removeprefix(own)}" if name + "." != own else self._name
                )
                if alias not in sys.modules:
                    sys.modules[alias] = module
                    self.complete(module)

    def find_distributions(self, context: Any = None) -> Iterator[Distribution]:
        """Yield the distribution, which `importlib.metadata` asks for the version."""
        name = (context or DistributionFinder.Context()).name
        if name is None or name.lower() == self._name:
            yield self._distribution


def _submodule(parent: ModuleType, name: str) -> ModuleType | None:
    """Return a submodule of a package, found as an attribute or as a file."""
    found = getattr(parent, name, None)
    if isinstance(found, ModuleType):
        return found
    full = f"{_own_name(parent)}.{name}"
    if full.partition(".")[0] in INSTALLED:
        # a module that the program itself made under the installed name
        return None
    try:
        return importlib.import_module(full)
    except ModuleNotFoundError as error:
        if error.name in (full, _own_name(parent)):
            return None
        raise


class _Loader(Loader):
    """A loader that returns an existing module."""

    def __init__(self, module: ModuleType, finder: _Finder) -> None:
        self._module, self._finder = module, finder
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Execute nothing; restore the attributes that the import system has overwritten."""
        module.__spec__ = self._spec
        self._finder.complete(module)
        self._finder.mirror()


class _Distribution(Distribution):
    """The metadata of an installed name, for `importlib.metadata`."""

    def __init__(self, name: str, version: str) -> None:
        self._text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"

    def read_text(self, filename: str) -> str | None:
        """Return the metadata; there are no other files."""
        return self._text if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        """Return the path of a file of the package."""
        return Path(str(wengert.__file__)).parent / path


__all__ = defined(globals())
