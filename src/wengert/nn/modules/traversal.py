"""Layer 8 · nn: iteration over a module and its submodules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from wengert.nn.parameter import Parameter
from wengert.types import Tensor

if TYPE_CHECKING:
    from wengert.nn.modules.module import Module


class Traversal:
    """The iterators of a module over parameters, buffers and submodules."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Iterate over the parameters, each once.

        Parameters
        ----------
        recurse : bool. Whether to include the parameters of submodules.

        Examples
        --------
        >>> module = wg.nn.Module()
        >>> module.weight = wg.nn.Parameter(wg.ones(2, 3))
        >>> [tuple(p.shape) for p in module.parameters()]
        [(2, 3)]
        """
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterate over the parameters with their dotted paths.

        Parameters
        ----------
        prefix : str. The prefix of each path.
        recurse : bool. Whether to include the parameters of submodules.
        remove_duplicate : bool. Whether a parameter that is held in several places appears once.
        """
        yield from self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the buffers, each once; of submodules too, unless ``recurse=False``."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over the buffers with their dotted paths (see `named_parameters`)."""
        yield from self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Any],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        # by identity, since tensors compare elementwise
        seen: set[int] = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield path + ("." if path else "") + name, member

    def children(self) -> Iterator[Module]:
        """Iterate over the immediate submodules, each once."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over the immediate submodules, each once, with their names."""
        seen: set[int] = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """Iterate over this module and all submodules, each once.

        Parameters
        ----------
        remove_duplicate : bool. Whether a module that is held in several places appears only once.
        """
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Iterate over this module and all submodules, with their dotted paths.

        Parameters
        ----------
        memo : set, optional. The modules to skip because they have been visited already.
        prefix : str. The prefix of each path.
        remove_duplicate : bool. Whether a module that is held in several places appears only once.
        """
        if memo is None:
            memo = set()
        if self in memo:
            return
        if remove_duplicate:
            memo.add(cast("Module", self))
        yield prefix, cast("Module", self)
        for name, module in self._modules.items():
            if module is not None:
                path = prefix + ("." if prefix else "") + name
                yield from module.named_modules(memo, path, remove_duplicate)
