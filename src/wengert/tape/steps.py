"""Layer 4 · tape: the steps of recording a primitive and applying its rules, as generated code.

NOTE [generated code]
A generic recorder that loops over arguments, parameters and saved names costs about twice as much
as the same steps unrolled. So the steps are unrolled to code, once for each primitive, on first
use. The generated recorder handles the common case (tensors of one real floating dtype, in the
default mode or under `no_grad`) and passes everything else on to `wengert.tape.record`, which
generates the same steps for one complex dtype. Both make nodes that the general `apply_rules`
understands, and the tests run every primitive both ways.

`Steps` writes the steps as Python. A subclass may write some of them differently: the one in
native/generate.py writes Cython, where the attributes of tensors and nodes have types.
"""

from __future__ import annotations

from collections.abc import Iterator

from wengert.prims.record import Primitive, described
from wengert.tape.forms import freed_numbers, parts, saves_tensors
from wengert.tape.rules import is_diagonal


def _within(lines: Iterator[str] | list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _whole_with(number: str) -> str:
    """Return the test for integers and a number that fits into all of their dtypes."""
    fits = f"{number}.__class__ is int and -129 < {number} < 128"
    return f"type(a0) is ndarray and {fits} and a0.dtype.kind in ('iu' if {number} >= 0 else 'i')"


class Steps:
    """The steps for one primitive, as lines of Python.

    Where a method returns lines, its docstring says what the lines do. Names that start with an
    underscore are never names of arguments or parameters.

    Parameters
    ----------
    prim: The primitive.
    tag
        The suffix of names that depend on the primitive, where one function has the steps of two.
    """

    def __init__(self, prim: Primitive, tag: str = "") -> None:
        self.prim = prim
        self.tag = tag
        args = prim.args
        self.arrays = [f"a{i}" for i in range(len(args))]
        self.typed = [i for i, arg in enumerate(args) if arg not in prim.fixed]
        self.traced = [i for i, rule in enumerate(prim.rules) if rule is not None]
        self.keywords = ", ".join(f"{p}={p}" for p in prim.params)
        self.named = "{" + ", ".join(f"{p!r}: {p}" for p in prim.params) + "}"
        self.packed = f"tensors, {self.named}"
        self.signature = ", ".join(["*tensors", *prim.params])
        if not prim.variadic:
            self.packed = f"({', '.join(args)},), {self.named}"
            self.signature = ", ".join([*args, *(["*", *prim.params] if prim.params else [])])
        self.slow = f"return _slow(_prim{tag}, {self.packed})"
        self.marked = f"mark({prim.hides}{', node.p_indices' * ('indices' in freed_numbers(prim))})"
        self.depth = 2  # the namespace is called by the library
        self.numbered = "next_sequence()"
        self.offset = "_frame.f_lasti"
        self.of_numbers = "type({}) in NUMBERS"
        self.look = f"_m.anomaly.look(_prim{tag}, {self.packed}, _out)"

    # -- applying rules ----------------------------------------------------------------------------

    def apply(self) -> list[str]:
        """Return the body of ``apply(node, g, keep, edges)`` for raw arrays."""
        prim = self.prim
        if prim.variadic:
            return [f"return tuple({self.rule(0, self._values(self.names(0)))})"]
        # a single argument, whose gradient is needed
        lines = [f"{', '.join(self.edges())}, = edges"] if len(prim.args) > 1 else []
        if prim.differentiable != 1:
            # zeros in place of missing cotangents
            lines += ["for _part in g:", "    if _part is None:"]
            lines += ["        return apply_rules(node, g, keep, edges)"]
        if prim.masks:
            lines.append(self.marked)
        for i, name in enumerate(prim.saved_args):
            lines += self.loaded(name, i)
        if "result" in prim.saved:
            lines += ["result = node.result", "if node.result_vc[0] != node.result_at:"]
            lines += ["    result = check_result(node)"]
        return [*lines, *self._released(), *self._results()]

    def apply_recorded(self) -> list[str]:
        """Return the body of ``apply_in(node, g, keep, edges)`` for tensors, recorded."""
        prim = self.prim
        lines = [
            "if g.__class__ is not Tensor or g._payload.__class__ not in PLAIN or g._level:",
            "    return apply_rules(node, g, keep, edges)",
            f"{', '.join(self.edges())}, = edges",
        ]
        if prim.masks:
            lines.append(self.marked)
        for i, name in enumerate(prim.saved_args):
            position = prim.args.index(name)
            lines += self.loaded(name, i)
            lines += [
                f"if s_{name} is not None:",
                f"    edge = s_{name}._edge",
                f"    if (s_{name} if edge is LEAF else edge) is not node.edges[{position}]:",
                f"        s_{name} = new_tensor(s_{name}._payload, node.edges[{position}], "
                f"s_{name}._vc)",
            ]
        if "result" in prim.saved:
            lines.append("result = unpack(node, 'result', False)")
        lines += [f"p_{name} = unpack(node, {name!r}, False)" for name in freed_numbers(prim)]
        return [*lines, *self._released(), *self._numbers(), *self._results(recorded=True)]

    def edges(self) -> list[str]:
        """Return the names of the edges to the arguments."""
        return [f"e{i}" for i in range(len(self.prim.args))]

    def loaded(self, name: str, i: int) -> list[str]:
        """Load ``s_name``, the saved argument number `i`, and check its version."""
        return [f"s_{name} = node.s_{name}", *self.checked(name, i)]

    def checked(self, name: str, i: int) -> list[str]:
        """Check that a saved argument has not been written to since."""
        always = all(name in self.prim.rules[j].names for j in self.traced)  # type: ignore[union-attr]
        saved = "" if always else f"s_{name} is not None and "
        return [
            f"if {saved}s_{name}._vc is not None and s_{name}._vc[0] "
            f"and s_{name}._vc[0] != version_then(node, {i}):",
            f"    s_{name} = check_saved(node, {name!r}, s_{name})",
        ]

    def _released(self) -> list[str]:
        freed = [f"node.s_{name} = FREED" for name in self.prim.saved_args]
        freed += self._freed_result()
        return ["if not keep:", *_within(freed)] if freed else []

    def _freed_result(self) -> list[str]:
        if "result" not in self.prim.saved:
            return []
        return ["node.result = FREED", "node.result_vc = FREED_CELL"]

    def _numbers(self) -> list[str]:
        """Release the saved numbers, unless they are kept."""
        freed = [f"node.p_{name} = FREED" for name in freed_numbers(self.prim)]
        return ["if not keep:", *_within(freed)] if freed else []

    def release(self) -> list[str]:
        """Return the body of ``release(node)``."""
        names = self.prim.saved_args
        freed = [f"if node.s_{name} is not None: node.s_{name} = FREED" for name in names]
        numbers = [f"node.p_{name} = FREED" for name in freed_numbers(self.prim)]
        return [*freed, *numbers, *self._freed_result()]

    def _values(self, names: tuple[str, ...], recorded: bool = False) -> dict[str, str]:
        """Return the arguments of a rule of `names`, by name."""
        prim = self.prim
        values = {"F": "F", "g": "g"}
        for name in names:
            if name in prim.args:
                values[name] = f"s_{name}" if recorded else f"s_{name}._payload"
            elif name == "result":
                values[name] = "result"
            else:
                own = f"p_{name}" if name in prim.params else name
                loaded = recorded and name in freed_numbers(prim)
                values[name] = own if loaded else f"node.{own}"
        return values

    def names(self, i: int) -> tuple[str, ...]:
        """Return the names that rule number `i` takes after `F`, `g` and what rules share."""
        return self.prim.rules[i].own  # type: ignore[union-attr]

    def rule(self, i: int, values: dict[str, str]) -> str:
        """Return rule number `i` as an expression."""
        return f"rule{i}({', '.join(values.values())})"

    def _results(self, recorded: bool = False) -> Iterator[str]:
        prim = self.prim
        names = ["None" if rule is None else f"g{i}" for i, rule in enumerate(prim.rules)]
        made = [name for name in names if name != "None"]
        results = list(names)
        common = {}
        if prim.shared is not None:
            given = self._values(prim.shared.names, recorded)
            yield f"_shared = shared({', '.join(given.values())})"
            common = {"shared": "_shared"}
        for i in self.traced:
            guard = "" if len(names) == 1 else f" if e{i} is not None else None"
            own = self._values(self.names(i), recorded)
            values = {"F": own.pop("F"), "g": own.pop("g"), **common, **own}
            called = Steps.rule(self, i, values) if recorded else self.rule(i, values)
            results[i] = f"{called}{guard}"
        numbers = [] if recorded else self._numbers()
        if not (is_diagonal(prim) or prim.broadcasts or numbers):
            yield f"return {', '.join(f'({text})' for text in results)},"
            return
        yield from (f"g{i} = {results[i]}" for i in self.traced)
        yield from numbers
        if is_diagonal(prim):
            yield "if INVALID:"
            yield from (f"    {name} = unmasked(F, g, {name})" for name in made)
        if prim.broadcasts and made:
            yield "shapes = node.shapes"
            yield "if shapes is not None:"
            for name in made:
                yield f"    if {name} is not None:"
                yield f"        {name} = sum_to({name}, shape=shapes[{name[1:]}])"
        yield f"return {', '.join(names)},"

    # -- recording ---------------------------------------------------------------------------------

    def recorder(self, form: Steps | None = None) -> list[str]:
        """Return the body of the function that computes the primitive on tensors and records it.

        A number on the right is handled by the `form` for numbers.
        """
        prim, tag = self.prim, self.tag
        if form is not None:
            # the first argument may not be a tensor
            form.slow, form.depth = self.slow, self.depth
            return [*form.for_number(*prim.args), *self.recorder()]
        if prim.variadic:
            return self._joining()
        outs = ["_out", *[f"_out{i}" for i in range(1, prim.outputs or 1)]]
        named = "_r = " if "result" in prim.saved else ""
        computed = [f"_out._payload = {named}{self.computed()}"]
        if len(outs) > 1:
            results = ["_r", *[f"_r{i}" for i in range(1, len(outs))]]
            computed = [f"{', '.join(results)} = {self.computed()}", "_out._payload = _r"]
            for out, result in zip(outs[1:], results[1:], strict=True):
                computed += [*self.made(out), *self.cut(out), f"{out}._payload = {result}"]
        returned = f"return {', '.join(outs)}"
        computed[:1] = self.tried(computed[0])
        if parts(prim):
            return [*self.opened(), f"_r = {self.computed()}", *self._parting()]
        lines = [*self._of_number(), *self.opened(), *self.made(), *computed]
        # the result has no edge; `attach_view` may set that of a view
        unrecorded = [] if prim.view else self.cut()
        if prim.view:
            lines += self.cut()
            given = f"{self.tensor(0)}, _out, _prim{tag}, {self.named}"
            lines.append(f"attach_view({given}, None, _m is None or _m.grad)")
        observe, noted = [], []
        if self._is_observed():
            observe = ["if _m is not None and _m is not NO_GRAD:", f"    {self.look}"]
            note = f"_m.anomaly.note(_node{tag}, _prim{tag}, {self.packed}, _out)"
            noted = ["if _m is not None:", f"    {note}"]
        if not self.traced:
            return [*lines, *unrecorded, *observe, returned]
        nothing = " and ".join(f"e{i} is None" for i in self.traced)
        return [
            *lines,
            *[f"e{i} = {self.tensor(i)}._edge" for i in self.traced],
            f"if (_m is not None and not _m.grad) or ({nothing}):",
            *_within([*unrecorded, *observe, returned]),
            *self.sited(),
            *self.node(saves_tensors(prim)),
            *self._attached(outs),
            *self._saving(saves_tensors(prim)),
            *noted,
            returned,
        ]

    def tried(self, computed: str) -> list[str]:
        """Compute the result; where that raises, the frame keeps no tensor without an array.

        Where it does not, `try` costs nothing.
        """
        slow = ["except ValueError:", "    del _out", f"    {self.slow}"]
        given_up = ["except BaseException:", "    del _out", "    raise"]
        return [f"try: {computed}", *(slow if self.prim.broadcasts else []), *given_up]

    def _attached(self, outs: list[str]) -> list[str]:
        """Make the node the history of the differentiable outputs."""
        count, node = self.prim.differentiable or 1, f"_node{self.tag}"
        if count == 1:
            return [f"_out._edge = {node}"]
        known = ", ".join(f"({out}._payload.shape, {out}._payload.dtype)" for out in outs[:count])
        edges = [f"{out}._edge = OutputEdge({node}, {i})" for i, out in enumerate(outs[:count])]
        return [*edges, f"{node}.outputs_meta = ({known})"]

    def tensor(self, i: int) -> str:
        """Return argument number `i`, a tensor, as an expression."""
        return self.prim.args[i]

    def opened(self) -> list[str]:
        """Load the mode and the arrays of the arguments; uncommon ones take the general path."""
        prim = self.prim
        load = [f"a{i} = {arg}._payload" for i, arg in enumerate(prim.args)]
        if prim.view:
            load.append(f"if type(a0) is not ndarray: a0 = {prim.args[0]}._array()")
        load.append(f"_dtype = a{self.typed[0]}.dtype")
        same = " or ".join(f"a{i}.dtype is not _dtype" for i in self.typed[1:])
        uncommon = "_dtype is not F32 and _dtype is not F64"
        if "f" in prim.refuses:
            uncommon = f"_dtype is None or not ({self.whole()})"
        elif self.whole():
            uncommon += f" and (_dtype is None or not ({self.whole()}))"
        observed = " and not _m.observed" if self._is_observed() else ""
        converted = ""
        if "dtype" in prim.params:
            # a result of another dtype may not be differentiable
            edges = " or ".join(f"{self.tensor(i)}._edge is not None" for i in self.traced)
            converted = f" or (dtype is not F32 and dtype is not F64 and ({edges or True}))"
        return [
            "_m = _mode()",
            # a `try` on a line of its own would be an additional instruction
            *(["try:", *_within(load)] if same or prim.view else [f"try: {'; '.join(load)}"]),
            *([f"    if {same}: _dtype = None"] if same else []),
            "except AttributeError:",
            "    _dtype = None",
            f"if ({uncommon}){converted} or (",
            f"    _m is not None and _m is not NO_GRAD{observed}",
            "):",
            f"    {self.slow}",
        ]

    def whole(self) -> str:
        """Return the test for arrays, not of floats, that are only computed; "" if unknown.

        Whole numbers and bools have no derivative; complex numbers have one if there are edges.
        """
        prim, array = self.prim, f"a{self.typed[0]}"
        tests = []
        if prim.of_number:
            if prim.promote != "float" and not prim.refuses:
                tests.append(_whole_with(prim.params[0]))
        elif prim.view or "f" in prim.refuses or prim.promote != "float":
            kinds = "" if "i" in prim.refuses else "iu"
            kinds += "" if prim.refuses.keys() & {"b", "any b"} else "b"
            if kinds:
                tests.append(f"type({array}) is ndarray and {array}.dtype.kind in {kinds!r}")
        if "c" not in prim.refuses:
            edges = "".join(f" and {self.tensor(i)}._edge is None" for i in self.traced)
            tests.append(f"type({array}) is ndarray and {array}.dtype.kind == 'c'{edges}")
        return " or ".join(f"({test})" for test in tests)

    def _is_observed(self) -> bool:
        """Return whether anomaly mode may check the result after the common path."""
        return self.prim.outputs == 1

    def computed(self) -> str:
        """Return the kernel's result, as an expression."""
        return self.prim.infix.format(*self.arrays) if self.prim.infix else self.kernel_call()

    def kernel_call(self) -> str:
        """Return a call of the kernel, as an expression."""
        given = ", ".join([*self.arrays, *([self.keywords] if self.keywords else [])])
        return f"_kernel{self.tag}({given})"

    def made(self, out: str = "_out") -> list[str]:
        """Make `out`, a new tensor without a payload or an edge."""
        return [f"{out} = _new(Tensor)", f"{out}._vc = {out}._ext = None"]

    def cut(self, out: str = "_out") -> list[str]:
        """Set the edge of `out` to None."""
        return [f"{out}._edge = None"]

    def created(self) -> list[str]:
        """Make ``_node``, a new empty node."""
        return [f"_node{self.tag} = Node{self.tag}()"]

    def sited(self) -> list[str]:
        """Load the user's ``_frame`` and its ``_code``, if nodes note them (see NOTE [sites])."""
        if not saves_tensors(self.prim):
            return []
        return [
            f"try: _frame = _getframe({self.depth}); _code = _frame.f_code",
            "except ValueError:",
            "    _frame = _getframe()",
            "    _code = _frame.f_code",
            # the last code object known to be the user's; repeated operations come from one
            # function
            "if _code is not _users:",
            "    try:",
            "        while LEADS[_code.co_filename]: _frame = _frame.f_back; _code = _frame.f_code",
            "    except AttributeError:",
            "        _frame = _getframe()",
            "        _code = _frame.f_code",
            "    _users = _code",
        ]

    def node(self, sited: bool = False) -> list[str]:
        """Make ``_node`` with its edges."""
        targets = [
            f"{self.tensor(i)} if e{i} is LEAF else e{i}" if i in self.traced else "None"
            for i in range(len(self.prim.args))
        ]
        return [*self.created(), *self._placed(f"({', '.join(targets)},)", sited)]

    def _placed(self, edges: str, sited: bool = False) -> list[str]:
        node = f"_node{self.tag}"
        lines = [f"{node}.edges = {edges}", f"{node}._ext = None", f"{node}._seq = {self.numbered}"]
        if sited:
            lines += [f"{node}.site = _code", f"{node}.versions = {self.offset}"]
        return lines

    def _saving(self, sited: bool = False, result: bool = True) -> Iterator[str]:
        prim = self.prim
        node = f"_node{self.tag}"
        for name in prim.saved_args:
            users = [f"e{i}" for i in self.traced if name in prim.rules[i].names]  # type: ignore[union-attr]
            text = self.tensor(prim.args.index(name))
            if len(users) < len(self.traced):
                text += f" if {' or '.join(f'{e} is not None' for e in users)} else None"
            yield f"{node}.s_{name} = {text}"
        if prim.saved_args:
            tensors = [self.tensor(prim.args.index(name)) for name in prim.saved_args]
            written = " or ".join(f"{tensor}._vc is not None" for tensor in tensors)
            versions = ", ".join(f"version_of({tensor})" for tensor in tensors)
            behind = f" {self.offset}," if sited else ""
            yield f"if {written}: {node}.versions = ({versions},{behind})"
        for name in prim.saved:
            if name == "result":
                if result:
                    yield f"{node}.result = _r"
                    yield f"_out._vc = {node}.result_vc = [0, None]"
                    yield f"{node}.result_at = 0"
            elif name in prim.params:
                yield f"{node}.p_{name} = {name}"
            elif name not in prim.args:
                arg, attribute = described(name)
                yield f"{node}.{name} = a{prim.args.index(arg)}.{attribute}"
        if prim.broadcasts:
            shapes = ", ".join(f"{a}.shape" for a in self.arrays)
            yield f"{node}.shapes = None if {self.alike()} else ({shapes},)"

    def alike(self) -> str:
        """Return the test whether all arrays have one shape, as an expression."""
        return " == ".join(f"{a}.shape" for a in self.arrays)

    def _parting(self) -> list[str]:
        """Return the rest of a recorder for several outputs, which are views."""
        node = f"_node{self.tag}"
        given = f"{self.tensor(0)}, _r, _prim{self.tag}, {self.named}"
        return [
            f"e0 = {self.tensor(0)}._edge",
            "if _m is not None or e0 is None:",
            f"    return attach_views({given}, None, _m is None)",
            *self.node(),
            *self._saving(),
            f"{node}.outputs_meta = tuple([(_part.shape, _part.dtype) for _part in _r])",
            f"return attach_views({given}, {node}, True)",
        ]

    def _joining(self) -> list[str]:
        """Return the recorder for any number of arguments."""
        prim, node = self.prim, f"_node{self.tag}"
        listed = "(e if (e := t._edge) is not LEAF else t) for t in tensors"
        shapes = [
            f"{node}.{name} = tuple([a.{name.rsplit('_', 1)[1]} for a in _arrays])"
            if name not in prim.params
            else f"{node}.p_{name} = {name}"
            for name in prim.saved
        ]
        return [
            "_m = _mode()",
            "try:",
            "    _arrays = [t._payload for t in tensors]",
            "    _dtype = _arrays[0].dtype",
            "    _plain = (_dtype is F32 or _dtype is F64) and (_m is None or _m is NO_GRAD)",
            "    for a in _arrays:",
            "        if a.dtype is not _dtype:",
            "            _plain = False",
            "except (AttributeError, IndexError):",
            "    _plain = False",
            "if not _plain:",
            f"    {self.slow}",
            f"_r = _kernel(*_arrays, {self.keywords})",
            *self.made(),
            *self.cut(),
            "_out._payload = _r",
            "if _m is not None:",
            "    return _out",
            f"_edges = tuple([{listed}])",
            "for _edge in _edges:",
            "    if _edge is not None:",
            "        break",
            "else:",
            "    return _out",
            *self.created(),
            *self._placed("_edges"),
            *shapes,
            f"_out._edge = {node}",
            "return _out",
        ]

    # -- operators and writing ---------------------------------------------------------------------

    def operator(self, form: Steps | None = None) -> list[str]:
        """Return the body of an operator: like the recorder's, but called by the user."""
        self.depth = 1
        if form is None:
            return self.recorder()
        form.depth = 1
        return [*form.for_number(*self.prim.args), *self.recorder()]

    def _of_number(self) -> list[str]:
        """Return the steps of a comparison with a number on the right."""
        prim = self.prim
        bits = "f" in prim.refuses
        if prim.infix is None or prim.is_differentiable or len(prim.args) != 2 or bits:
            return []
        self_, other = prim.args
        return [
            f"if {self.of_numbers.format(other)}:",
            "    _m = _mode()",
            f"    a0 = getattr({self_}, '_payload', None)",
            "    if (_m is None or _m is NO_GRAD) and type(a0) in PLAIN and (",
            f"        a0.dtype in SAME or {_whole_with(other)}",
            "    ):",
            *_within(_within([*self.made(), *self.cut()])),
            f"        _out._payload = {prim.infix.format('a0', other)}",
            "        return _out",
        ]

    def reflected(self, form: Steps) -> list[str]:
        """Return the body of an operator whose tensor is on the right; `form` handles numbers."""
        form.depth = 1
        return [
            *form.for_number("self", "other"),
            f"return _slow(_prim{self.tag}, (other, self), {{}})",
        ]

    def for_number(self, tensor: str, other: str) -> list[str]:
        """Return the steps of a form for numbers, where the argument `other` is a number."""
        names = ((self.prim.args[0], tensor), (self.prim.params[0], other))
        renamed = [f"{name} = {given}" for name, given in names if name != given]
        return [
            f"if {self.of_numbers.format(other)}:",
            *_within([*renamed, *self.recorder()]),
        ]

    def node_factory(self) -> list[str]:
        """Return the body of the function that makes a node for an in-place write."""
        args = self.prim.args
        same = "".join(f" or a{i}.dtype is not _dtype" for i in self.typed[1:])
        return [
            *[f"a{i} = {arg}._payload" for i, arg in enumerate(args)],
            f"_dtype = a{self.typed[0]}.dtype",
            f"if (_dtype is not F32 and _dtype is not F64){same}:",
            "    return None",
            *[f"e{i} = {args[i]}._edge" for i in self.traced],
            *self.node(),
            *self._saving(result=False),
            "return _node",
        ]
