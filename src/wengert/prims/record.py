"""Layer 2 · prims: `Primitive`, the record of everything known about one operation.

NOTE [rule parameters are the saved set]
A derivative rule is a function ``rule(F, g, name, ...)``. `F` is the namespace to compute in, `g`
the cotangent, and every other parameter names a value that the rule needs:

* an array argument of the primitive (``self``, ``other``): the argument is saved;
* ``result``: the primitive's output is saved;
* ``<argument>_shape``, ``<argument>_dtype``: metadata, which keeps no array alive; also
  ``<argument>_ordered``, whether the argument is in C order;
* a keyword parameter of the primitive (``dim``);
* ``**params``, at the end: all keyword parameters of the primitive that the rule does not name.

So the signature *is* the list of what a node saves, per argument: `other` is saved only if the rule
of an argument that needs a gradient names it. Registration refuses any other name.

NOTE [names of arguments]
A kernel takes arrays by position, then its parameters. There is one rule for each array, so the
names of both follow from the kernel's signature. A record states ``args`` or ``params`` only where
its names differ from the kernel's, or the kernel does not tell. A single array is called ``self``;
two arrays that the kernel does not name, as those of a ufunc, are ``self`` and ``other``. What the
kernel does not require is no parameter of the record.

NOTE [rules]
Rules use only operators and functions of `F`, never NumPy's, so they are valid for every kind of
value that `F` computes with. They never mutate, never branch on values (shapes and parameters are
fine), keep one dtype throughout, with Python numbers as constants, and compute the transposed
Jacobian without conjugation: for complex values the engine conjugates around them (records with
``conj="explicit"`` excepted). On symbols a rule is its own formula (see NOTE [formulas]).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import CO_VARKEYWORDS
from types import MappingProxyType
from typing import Any

import numpy as np

_REGISTRY: dict[str, Primitive] = {}
TABLE: Mapping[str, Primitive] = MappingProxyType(_REGISTRY)
"""Every record by name."""
_WORDS = {
    "batching": "along chosen dims each flattened fold leading parts pointwise reduced",
    "sparsity": (
        "along_dim as_complex as_real by_element contraction convolution correlation dense "
        "distances loss matrix_product matrix_vector mean_pool moved normalised outer per_matrix "
        "planes total viewed written_over"
    ),
    "tangents": "bilinear diagonal linear loss parts pooled reduced transposed",
}
WORDS = {facet: frozenset(words.split()) for facet, words in _WORDS.items()}
"""The allowed words of facets whose layers have one rule per word."""
METADATA = ("_shape", "_dtype", "_device", "_ordered")
"""The suffixes of names of an argument's metadata, which rules may use without saving it."""

BY_INTEGERS = frozenset({"linear", "bilinear", "view", "reduction", "elementwise"})
"""The families whose kernels raise only because of integers: of indices (fixed arguments, arrays
among parameters), or of both operands of an element-wise operation (a division by 0, a negative
power)."""


def described(name: str) -> tuple[str, str]:
    """Return the argument of which `name` is metadata, and the attribute of arrays that has it."""
    arg, what = name.rsplit("_", 1)
    return arg, "flags.c_contiguous" if what == "ordered" else what


def names_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters of `function`."""
    # not inspect.signature, which would take a third of the package's import time
    code = function.__code__
    return code.co_varnames[: code.co_argcount]


def _required(kernel: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters that a kernel must get; none for kernels without code."""
    function = getattr(kernel, "__wrapped__", kernel)
    code = getattr(function, "__code__", None)
    if code is None:
        return ()
    by_position = names_of(function)
    defaults = len(getattr(function, "__defaults__", None) or ())
    optional = getattr(function, "__kwdefaults__", None) or {}
    end = code.co_argcount + code.co_kwonlyargcount
    keywords = code.co_varnames[code.co_argcount : end]
    required = by_position[: len(by_position) - defaults]
    return required + tuple([name for name in keywords if name not in optional])


def _arrays_of(kernel: Callable[..., Any], count: int) -> tuple[str, ...]:
    """Return the names of the first `count` arguments of a kernel, which are arrays."""
    names = _required(kernel)[:count]
    return ("self", "other")[:count] if count == 1 or len(names) < count else names


def _by_position(
    call: Callable[..., Any], names: tuple[str, ...], rest: tuple[str, ...]
) -> Callable[..., Any]:
    """Wrap a rule of `names` and keywords `rest` so that it takes all by position."""
    count = len(names)

    def rule(F: Any, g: Any, *values: Any) -> Any:
        return call(F, g, *values[:count], **dict(zip(rest, values[count:], strict=True)))

    rule.__module__ = call.__module__
    return rule


def _sharing(rule: Rule, shared: Rule) -> Rule:
    """Return a rule that is complete: it also computes what it shares with others."""
    names = tuple(dict.fromkeys((*shared.names, *rule.names)))
    at = [names.index(name) for name in rule.names]
    count = len(shared.names)

    def whole(F: Any, g: Any, *values: Any) -> Any:
        return rule.part(F, g, shared.call(F, g, *values[:count]), *[values[i] for i in at])

    whole.__module__ = rule.call.__module__
    made = Rule(whole, names, rule.where)
    made.part, made.own = rule.part, rule.own
    return made


class Case:
    """One sample input of an operation, from which its tests are generated.

    `shapes` gives the array arguments: a shape stands for floating values drawn from the record's
    domain, a callable ``rng -> array`` for values of its own (indices, masks).
    """

    __slots__ = ("params", "shapes")

    def __init__(self, shapes: tuple[Any, ...], params: dict[str, Any]) -> None:
        self.shapes = shapes
        self.params = params

    def __repr__(self) -> str:
        return f"case({', '.join(map(repr, self.shapes))}, **{self.params})"


def case(*shapes: Any, **params: Any) -> Case:
    """Return a `Case` in the form in which records write it: ``case((3, 4), (4,), dim=0)``."""
    return Case(shapes, params)


def not_implemented(kernel: str, kinds: str = "c") -> dict[str, str]:
    """Return a record's `refuses`: dtype categories, with the messages of PyTorch's kernels."""
    return dict.fromkeys(kinds, f"\"{kernel}\" not implemented for '{{}}'")


def no_derivative(what: str, advice: str) -> Callable[..., Any]:
    """Return the rule of an argument without a known derivative: it raises."""

    def missing(F: Any, g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{what}' is not implemented. {advice}")

    return missing


class Rule:
    """A derivative rule with the names that it needs, checked against its primitive.

    `call` is the whole rule. `part` takes what the rules of its primitive share, then `own` names.
    """

    __slots__ = ("call", "names", "own", "part", "where")

    def __init__(self, call: Callable[..., Any], names: tuple[str, ...], where: str) -> None:
        self.call = self.part = call
        self.names = self.own = names
        self.where = where

    def __repr__(self) -> str:
        return f"<rule {self.where}({', '.join(self.names)})>"


class Primitive:
    """Everything that is known about one operation.

    Parameters
    ----------
    name: The operation's name, as PyTorch spells it.
    kernel: ``kernel(*arrays, **params)`` on raw arrays, returning an array or a tuple of arrays.
    family: The family that derives what the record leaves out (see `wengert.prims.families`).
    args
        Names of the array arguments; a single name with a star (``"*tensors"``) takes any number.
        The default follows from rules and kernel, see NOTE [names of arguments].
    params: Names of the keyword parameters; by default those that the kernel requires.
    vjp
        One rule per array argument (None: not differentiable); for a starred argument one rule
        that returns the cotangents of all. A primitive with several differentiable outputs gets
        their cotangents as a tuple `g`.
    shared
        What all rules compute with, as a rule states it; then they are functions of F, g, `shared`
        and of names, and a backward pass computes it once.
    node: PyTorch's name of the graph node.
    outputs: Number of outputs (None: a tuple whose length depends on the input).
    differentiable: The number of leading outputs that carry a gradient.
    broadcasts
        Whether the array arguments broadcast against each other; the engine then sums cotangents to
        the shapes of their arguments.
    promote
        The conversion of dtypes before the kernel: ``"same"`` (a common type), ``"float"`` (a
        common floating type), None (as they are).
    fixed
        Array arguments that keep their dtype and have no derivative: masks and indices. By default
        those without a rule, where another one has a rule.
    refuses
        The categories of dtypes (``"b"``, ``"i"``, ``"f"``, ``"c"``) that the operation refuses
        after promotion, each with its message, in which ``{}`` stands for the dtype; a message for
        a RuntimeError is given as that exception. ``"any b"``: refuse any bool.
    infix
        The operator that computes the kernel, if there is one: it is faster on NumPy's scalars.
    into
        ``into(self, *others, **params)``, which writes the result into `self` without allocating;
        without it, in-place forms copy the kernel's result.
    scalar, rscalar
        For a binary primitive: the primitives of the same operation with a Python number to the
        right or to the left.
    of_number
        Whether this is a form for numbers: its first parameter is the number, of weak dtype.
    masks
        Whether elements of its arguments may have no influence on the result, because others were
        selected (see NOTE [masked branches]); "numbers" if it selects the elements that are not
        NaN.
    view: Whether the result shares its argument's memory.
    raises
        Whether the kernel may raise for some values of arguments with valid shapes and dtypes. The
        default depends on the family: None, decided by `BY_INTEGERS`, for families listed there,
        and True for every other operation.
    layout
        The memory layout of results, if the kernel's differs from PyTorch's: a key of
        `wengert.kernels.layout.LAYOUTS` (NOTE [layouts]).
    domain
        The domain of samples: a key of the domains in `tests/lib/support/samples.py`.
    cases: Sample inputs; families supply defaults.
    conj: ``"explicit"`` if the rules conjugate explicitly.
    blanks
        The number of None entries that PyTorch's node shows for arguments that are not tensors
        here.
    shows
        What nodes show as ``_saved_<name>`` where PyTorch's name or form differs: for each name,
        the name under which the value is saved; or a function of names that the rules need, as
        they are shown; or None to list nothing. Other values are shown as they are saved;
        ``<argument>_shape`` is shown as ``<argument>_sym_sizes``.
    writes
        What the in-place form supports, in words: ``"overlapping"``: a target whose elements share
        memory; ``"partial"``: such a target, but only in place, since it writes a part of the
        elements, which the values of all others would undo; ``"aliased"``: values in the memory
        that it writes to; ``"scattered"``: it writes in an arbitrary order, so no value may be in
        that memory.
    doc: One line: what the operation computes.
    facets: The facets that other layers declare (see `wengert.prims.facet`).

    Attributes
    ----------
    rules: The derivative rules, one per array argument.
    is_differentiable: Whether any argument has a rule.
    saved: Every name that some rule needs, in a fixed order.
    saved_args: The array arguments among them.
    predicate: Whether each element of the result is a bool.
    """

    __slots__ = (
        "args",
        "blanks",
        "broadcasts",
        "cases",
        "conj",
        "differentiable",
        "doc",
        "domain",
        "facets",
        "family",
        "fixed",
        "hides",
        "infix",
        "into",
        "is_differentiable",
        "kernel",
        "layout",
        "masks",
        "name",
        "node",
        "of_number",
        "outputs",
        "params",
        "predicate",
        "promote",
        "raises",
        "refuses",
        "rscalar",
        "rules",
        "saved",
        "saved_args",
        "scalar",
        "shared",
        "shows",
        "variadic",
        "view",
        "writes",
    )

    def __init__(
        self,
        name: str,
        kernel: Callable[..., Any],
        *,
        family: str,
        args: Sequence[str] | None = None,
        params: Sequence[str] | None = None,
        vjp: Sequence[Callable[..., Any] | None] | None = None,
        shared: Callable[..., Any] | None = None,
        node: str | None = None,
        outputs: int | None = 1,
        differentiable: int | None = None,
        broadcasts: bool = False,
        promote: str | None = None,
        fixed: Sequence[str] | None = None,
        refuses: Mapping[str, Any] = MappingProxyType({}),
        infix: str | None = None,
        into: Callable[..., None] | None = None,
        scalar: str | None = None,
        rscalar: str | None = None,
        of_number: bool = False,
        masks: bool | str = False,
        view: bool = False,
        raises: bool | None = None,
        layout: str | None = None,
        domain: str | Sequence[str] = "real",
        cases: Iterable[Case] = (),
        conj: str = "engine",
        blanks: int = 0,
        shows: Mapping[str, str | Callable[..., Any] | None] = MappingProxyType({}),
        writes: str = "",
        doc: str = "",
        **facets: Any,
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.family = family
        if args is None:
            args = _arrays_of(kernel, 1 if vjp is None else len(vjp))
        self.variadic = len(args) == 1 and args[0].startswith("*")
        self.args = tuple([arg.lstrip("*") for arg in args])
        if params is None:
            params = _required(kernel)[0 if self.variadic else len(args) :]
        self.params = tuple(params)
        self.node = node or f"{name.title().replace('_', '')}Backward0"
        self.outputs = outputs
        self.differentiable = outputs if differentiable is None else differentiable
        self.broadcasts = broadcasts
        self.promote = promote
        self.refuses = refuses
        self.infix = infix
        self.scalar = scalar
        self.rscalar = rscalar
        self.of_number = of_number
        self.masks = bool(masks)
        self.view = view
        self.raises = True if raises is None and family not in BY_INTEGERS else raises
        self.layout = layout
        self.domain = domain
        self.cases = tuple(cases)
        self.conj = conj
        self.blanks = blanks
        self.shows = shows
        self.writes = writes
        types = kernel.types if isinstance(kernel, np.ufunc) else ["O"]
        self.predicate = types != ["O"] and all(t[-1] in "?O" for t in types)
        self.doc = doc
        self.facets = facets
        self.into = into
        known = [*self.args, "result", *self.params]
        known += [arg + what for arg in self.args for what in METADATA]
        self.shared = shared and self._checked(shared, f"{name}.shared", known)
        self.rules = self._checked_rules(vjp, known)
        needed = {name for rule in self.rules if rule is not None for name in rule.names}
        self.is_differentiable = any(rule is not None for rule in self.rules)
        if fixed is None:
            ruled = zip(self.args, self.rules, strict=True) if self.is_differentiable else ()
            fixed = [arg for arg, rule in ruled if rule is None]
        self.fixed = tuple(fixed)
        self.hides = masks == "numbers" or (self.masks and bool(self.fixed))
        self.saved = tuple([name for name in known if name in needed])
        self.saved_args = tuple([name for name in self.saved if name in self.args])
        for shown, form in shows.items():
            wanted = names_of(form) if callable(form) else () if form is None else (form,)
            unknown = {*wanted} - {*self.saved}
            if unknown:
                raise ValueError(f"{name}.shows[{shown!r}] needs {unknown}, which no rule needs")
        for facet in facets.keys() & WORDS.keys():
            if facets[facet] not in WORDS[facet]:
                raise ValueError(
                    f"{name} says {facet}={facets[facet]!r}, which must be one of "
                    f"{', '.join(sorted(WORDS[facet]))}"
                )
        if name in _REGISTRY:
            raise ValueError(f"the primitive {name} is registered twice")
        _REGISTRY[name] = self

    def _checked_rules(
        self, vjp: Sequence[Callable[..., Any] | None] | None, known: list[str]
    ) -> tuple[Rule | None, ...]:
        if vjp is None:
            return (None,) * len(self.args)
        if len(vjp) != len(self.args):
            raise ValueError(
                f"{self.name} has {len(self.args)} array arguments but {len(vjp)} rules"
            )
        rules: list[Rule | None] = []
        for arg, call in zip(self.args, vjp, strict=True):
            if call is None:
                rules.append(None)
                continue
            first = ("F", "g") if self.shared is None else ("F", "g", "shared")
            rule = self._checked(call, f"{self.name}.vjp[{arg}]", known, first)
            rules.append(rule if self.shared is None else _sharing(rule, self.shared))
        return tuple(rules)

    def _checked(
        self,
        call: Callable[..., Any],
        where: str,
        known: list[str],
        first: tuple[str, ...] = ("F", "g"),
    ) -> Rule:
        names = names_of(call)
        own = names[len(first) :]
        if names[: len(first)] != first or any(name not in known for name in own):
            raise ValueError(
                f"{where} must be a function of {', '.join(first)} and of names among "
                f"{sorted(known)}, not {names}"
            )
        if call.__code__.co_flags & CO_VARKEYWORDS:
            rest = tuple(name for name in self.params if name not in own)
            call = _by_position(call, own, rest)
            own += rest
        return Rule(call, own, where)

    def __repr__(self) -> str:
        return f"<primitive {self.name}({', '.join([*self.args, *self.params])})>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _REGISTRY.__getitem__, (self.name,)
