"""Solves the constraints of a whole program: what each call, operator and attribute may run.

Flow of objects along edges to a fixed point (Andersen's analysis, field-sensitive, with abstract objects per class and
per place). Functions whose result depends on what they are given are analysed for each call site, others once; what a
function returns as it got it, or from an attribute of a parameter, flows from the argument of the same call only. Rules
that hold only when nothing else is known (`deferred`) are applied after a fixed point, which then is continued.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from xref.python.flow import summary as ops
from xref.python.flow.accessors import WRITING
from xref.python.flow.calls import Site
from xref.python.flow.candidates import Verdict
from xref.python.flow.classes import Classes, Klass
from xref.python.flow.filters import Filters
from xref.python.flow.graph import (
    CONSTANT,
    CONTAINER,
    DECLARED,
    FUNCTION,
    KLASS,
    OBJECT,
    SUPER_OF,
    Graph,
)
from xref.python.flow.invoke import Invoker
from xref.python.flow.program import Program
from xref.python.flow.summary import LEVEL_BITS, NODE_MASK, NOTHING, Summary, at_frames

MAX_CLONES = 600
"""Call sites for which one function is analysed separately; further ones share one analysis."""
_CONSTRAINT_BITS = 20
CONSTRAINT_MASK = (1 << _CONSTRAINT_BITS) - 1
"""What of a site's number is the place of its constraint in its code, counted from 1."""
_MAX_ROUNDS = 12
_MAX_JUDGEMENTS = 60
"""Times that calls are judged whose receiver is not sure: each may depend on what the one before makes."""


class Sure(NamedTuple):
    """What was found before any guess ran: see `Attributes.edges`, `constructions` and `handed_over`."""

    edges: frozenset[tuple[int, int, int]] = frozenset()
    constructions: frozenset[tuple[int, int, int]] = frozenset()
    handed_over: frozenset[tuple[int, int, int, str]] = frozenset()


class Solver(Filters, Invoker):
    """The analysis of one program; `solve`, then read `edges`, `constructions`, `verdicts`; `sure` is the sure part."""

    def __init__(self, summaries: Sequence[Summary]) -> None:
        graph = Graph()
        self.program = Program(summaries, graph)
        tops = frozenset(module.partition(".")[0] for module in self.program.modules)
        super().__init__(graph, self.program, Classes(graph, tops))
        self._frames: dict[tuple[int, tuple[int, ...], int], int] = {}
        self._clones: dict[int, int] = {}
        self._generic: list[tuple[int, tuple[int, ...]]] = []
        self.hints: list[tuple[int, int, tuple[tuple[int, int], ...]]] = []
        """(file, position, pairs): see `FileContext.hints`."""
        self.doubtful: list[tuple[int, int, tuple[tuple[int, int, str, str], ...]]] = []
        """(file, position, calls as (caller, callee, evidence, via)): see `FileContext.doubtful`."""
        self.first_functions: dict[int, int] = {}
        """Code -> the function object of its first frame."""
        self._decorated_classes: list[tuple[int, int]] = []
        self._decorated: set[int] = set()
        self._undecorated: set[tuple[int, int]] = set()
        """(given, result) of decorators of which nothing is known."""
        self.decorations: set[tuple[int, int]] = set()
        """(code, position) of decorators."""
        self._results: list[tuple[int, int, int]] = []
        self.call_sites: list[Site] = []
        self.sure = Sure()
        self.verdicts: list[Verdict] = []
        self._keyed: list[tuple[int, int, int, Site]] = []
        self._apply = (
            self._func, self._class, self._const, self._import, self._global, self._attr, self._setattr, self._sub,
            self._setsub, self._call, self._iter, self._with, self._operator, self._super, self._raise, self._new,
            self._instance, self._await, self._slice, self._unpack, self._named, self._hint, self._match,
            self._filter, self._expect, self._delattr, self._known,
        )  # fmt: skip

    def solve(self) -> None:
        """Run to the end."""
        finder = BaseFinder(self.program.summaries)
        bases = finder.find()
        self._start()
        self.classes.inherit(bases, finder.metaclasses())
        self._complete()
        self.sure = Sure(frozenset(self.edges), frozenset(self.constructions), frozenset(self.handed_over))
        verdicts = list(self.candidates.judge(self))
        self.candidates.is_guessing = True
        self._complete()
        self.verdicts = [*verdicts, *self.candidates.guesses(self)]
        self._report_full()
        self.report_undispatched()

    def _complete(self) -> None:
        """Run until no rule adds anything. Calls that wait are judged when nothing else is left to be known."""
        for _ in range(_MAX_JUDGEMENTS):
            self._run()
            for _ in range(_MAX_ROUNDS):
                if not self._deferred():
                    break
                self._run()
            if not self._release() and not self._unknown_decorators():
                break

    def _report_full(self) -> None:
        """A call of what was kept out of a full node would run more than is told."""
        cut = self.graph.cut()
        for site in self.call_sites:
            if site.position and site.callee in cut:
                self.cuts.add(
                    (site.code, site.position, "the callee may be more functions or classes than are followed")
                )

    def _run(self) -> None:
        self.graph.run()
        while self.let_through():
            self.graph.run()

    def _release(self) -> bool:
        """Let calls run that were judged; False when there are none."""
        ready = self.candidates.release(self)
        for call in ready:
            self.run_function(*call)
        return bool(ready)

    def _start(self) -> None:
        for module, root in self.program.roots.items():
            self._instantiate(self.program.first_code[self.program.modules[module]], (root,))

    # frames

    def frame(self, code_number: int, around: tuple[int, ...], site: int) -> int:
        """The first node of the frame in which a code runs for a call site (0: for any)."""
        code = self.program.places[code_number].code
        if not code.cloned or not site:
            site = 0
        key = (code_number, around, site)
        found = self._frames.get(key)
        if found is not None:
            return found
        if site:
            if self._clones.get(code_number, 0) >= MAX_CLONES:
                return self.frame(code_number, around, 0)
            self._clones[code_number] = self._clones.get(code_number, 0) + 1
        base = self._frames[key] = self.graph.nodes(code.nodes)
        self._instantiate(code_number, (base, *around))
        return base

    def _instantiate(self, code_number: int, frames: tuple[int, ...]) -> None:
        code = self.program.places[code_number].code
        flow, apply = self.graph.flow, self._apply
        base = frames[0]
        for source, target in code.copies:
            flow(
                base + source if source <= NODE_MASK else frames[source >> LEVEL_BITS] + (source & NODE_MASK),
                base + target if target <= NODE_MASK else frames[target >> LEVEL_BITS] + (target & NODE_MASK),
            )
        parameters = code.parameters
        if code.kind != "class":
            for node, kind in ((parameters.rest, "list"), (parameters.words, "dict")):
                if node != NOTHING:
                    self.graph.put(base + node, self.graph.object(CONTAINER, (base + node, kind), kind))
            if code.returns != NOTHING:
                self._results.append((code_number, base + code.result, at_frames(code.returns, (base, *frames[1:]), 1)))
        number = code_number << _CONSTRAINT_BITS
        for row in code.constraints:
            number += 1
            apply[row[0]](row, frames, code_number, number)

    # one method for each kind of constraint: (row, frames, code, number of the constraint)

    def _func(self, row: Any, frames: tuple[int, ...], code_number: int, _number: int) -> None:
        inner = code_number - self.program.places[code_number].number + row[2]
        form = row[4]
        item = self.graph.object(FUNCTION, inner, (frames, form))
        self.first_functions.setdefault(inner, item)
        self.graph.put(frames[0] + row[1], item)
        code = self.program.places[inner].code
        for node, default in row[3]:
            self.defaults.setdefault(inner, {})[node] = at_frames(default, frames)
        if code.cloned:
            self._generic.append((inner, frames))
        else:
            self._entry(inner, frames, form, self.frame(inner, frames, 0))

    def _entry(self, code_number: int, frames: tuple[int, ...], form: str, base: int) -> None:
        """A function may be called by anybody: with its defaults, and a method with an object of its class."""
        code = self.program.places[code_number].code
        for node, default in self.defaults.get(code_number, {}).items():
            self.graph.flow(default, base + node)
        owner = self.classes.by_frame.get(frames[0])
        if owner is None or not code.parameters.positional or form == "static":
            return
        first = base + code.parameters.positional[0][1]
        self.graph.put(first, self.graph.object(KLASS if form == "class" else OBJECT, owner))

    def _class(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        inner = code_number - self.program.places[code_number].number + row[2]
        code = self.program.places[inner].code
        key = (inner, frames, 0)
        if key in self._frames:
            return
        base = self._frames[key] = self.graph.nodes(code.nodes)
        bases = tuple(at_frames(node, frames) for node in row[3])
        klass = self.classes.make(inner, code, base, bases, (code_number, row[5]))
        item = self.graph.object(KLASS, klass.number)
        self.first_classes.setdefault(inner, klass.number)
        self.foreign.first_classes = self.first_classes
        for kind, container in self.foreign.types.containers.items():
            if container == inner:
                self.containers_of_objects[kind] = klass.number
        self.graph.put(frames[0] + row[1], item)
        self._instantiate(inner, (base, *frames))
        site = Site(number, code_number, row[5], self.graph.node())
        site = site._replace(keywords=tuple((name, at_frames(node, frames)) for name, node in row[4]))
        self.define_class(klass, site)

    def _const(self, row: Any, frames: tuple[int, ...], _code: int, _number: int) -> None:
        self.graph.put(frames[0] + row[1], self.graph.object(CONSTANT, row[2], type(row[2]).__name__))

    def _import(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        target = frames[0] + row[1]
        self.graph.flow(self.program.imported(row[2], row[3]), target)
        own = self.program.summaries[self.program.places[code_number].file].module
        if row[2] == own and row[3]:  # `from . import part` binds the submodule to what the package calls by its name
            part = self.program.module(f"{own}.{row[3]}")
            if part is not None:
                self.graph.put(target, part)
        if row[3]:
            site = Site(number, code_number, row[4], target)
            self.missing_member(row[2], row[3], site)
            self._ask_for_path(row[2], site)

    def _ask_for_path(self, module: str, site: Site) -> None:
        """`from module import name` looks for `module.__path__` (PyImport_ImportModuleLevelObject), which only packages
        have: the `__getattr__` of any other module runs.
        """
        file = self.program.modules.get(module)
        if file is None or self.program.summaries[file].is_package:
            return
        if "__getattr__" in self.program.summaries[file].codes[0].names:
            asked = site._replace(target=self.graph.node())
            self.graph.when(self.program.member(module, "__getattr__"), self.invoke, asked)

    def _global(self, row: Any, frames: tuple[int, ...], code_number: int, _number: int) -> None:
        file = self.program.places[code_number].file
        self.graph.flow(self.program.global_name(file, row[2]), frames[0] + row[1])

    def _attr(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        if row[2] != NOTHING:
            site = Site(number, code_number, row[4], frames[0] + row[1])
            self.graph.when(at_frames(row[2], frames), self.load, (row[3], site))

    def _setattr(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        if row[1] != NOTHING:
            source = at_frames(row[3], frames) if row[3] != NOTHING else NOTHING
            site = Site(number, code_number, row[4], NOTHING, (source,))
            self.graph.when(at_frames(row[1], frames), self.save, (row[2], source, site))
            if row[5] != NOTHING:
                self.graph.when(at_frames(row[1], frames), self.save_named, (at_frames(row[5], frames), source, site))

    def _delattr(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        site = Site(number, code_number, row[3], self.graph.node())
        self.graph.when(at_frames(row[1], frames), self.remove, (row[2], site))

    def _known(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        if row[2] in self.program.property_names:
            self.graph.when(
                at_frames(row[1], frames), self.read_known, (row[2], Site(number, code_number, row[3], NOTHING))
            )

    def _sub(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        if row[2] == NOTHING:
            return
        key = at_frames(row[4], frames) if row[4] != NOTHING else NOTHING
        site = Site(number, code_number, row[5], frames[0] + row[1], (key,))
        self.graph.when(at_frames(row[2], frames), self.get_item, (row[3], key, site))

    def _setsub(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        if row[1] == NOTHING:
            return
        key = at_frames(row[3], frames) if row[3] != NOTHING else NOTHING
        value = at_frames(row[4], frames) if row[4] != NOTHING else NOTHING
        site = Site(number, code_number, row[5], NOTHING, (key, value))
        self.graph.when(at_frames(row[1], frames), self.set_item, (row[2], key, value, site))

    def _call(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        callee = at_frames(row[2], frames) if row[2] != NOTHING else NOTHING
        site = Site(
            number, code_number, row[7], frames[0] + row[1],
            tuple([at_frames(node, frames) if node != NOTHING else NOTHING for node in row[3]]),
            tuple([(name, at_frames(node, frames)) for name, node in row[4] if node != NOTHING]) if row[4] else (),
            tuple([at_frames(node, frames) for node in row[5] if node != NOTHING]) if row[5] else (),
            tuple([at_frames(node, frames) for node in row[6] if node != NOTHING]) if row[6] else (),
            callee, bool(row[8]),
        )  # fmt: skip
        if row[8] == ops.CLASS_DECORATION:
            made = self.graph.node()
            self.graph.when(made, self._put_class, (site.positional[0], site.target))
            site = site._replace(target=made)
            self._decorated_classes.append((site.positional[0], frames[0] + row[1]))
            if site.positional[0] != NOTHING:
                self.graph.when(site.positional[0], self._note_decorated, None)
        if row[8] and row[7]:
            self.decorations.add((code_number, row[7]))
        self.call_sites.append(site)
        if callee != NOTHING:
            self.graph.when(callee, self.invoke, site)

    def _note_decorated(self, item: int, _payload: None) -> None:
        self._decorated.add(item)

    def _put_class(self, item: int, payload: tuple[int, int]) -> None:
        """What a decorator makes of a class is that class or a new one: whatever else it may return belongs to other
        uses of it.
        """
        given, target = payload
        if self.graph.kinds[item] == KLASS and (item not in self._decorated or item in self.graph.held(given)):
            self.graph.put(target, item)

    def _iter(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        if row[2] != NOTHING:
            site = Site(number, code_number, row[3], frames[0] + row[1])
            self.graph.when(at_frames(row[2], frames), self.iterate, (site, row[4]))

    def _with(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        if row[2] != NOTHING:
            site = Site(number, code_number, row[3], frames[0] + row[1])
            self.graph.when(at_frames(row[2], frames), self.enter, (site, row[4]))

    def _operator(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        left, right = (at_frames(node, frames) if node != NOTHING else NOTHING for node in row[4:6])
        site = Site(number, code_number, row[2], frames[0] + row[1])
        if len(row[3]) > 3:
            site = site._replace(follows=row[3][3])
        elif len(row[3]) > 2:
            self.candidates.text(site, row[3][0].partition("|")[0])
        self.ask_operands(row[3], left, right, site)

    def _super(self, row: Any, frames: tuple[int, ...], _code: int, _number: int) -> None:
        owner = self.classes.by_frame.get(frames[row[2]])
        if owner is not None:
            self.graph.when(at_frames(row[3], frames), self._make_super, (owner, frames[0] + row[1]))

    def _make_super(self, item: int, payload: tuple[int, int]) -> None:
        if self.graph.kinds[item] in (OBJECT, DECLARED, KLASS):
            self.graph.put(payload[1], self.graph.object(SUPER_OF, payload[0], item))

    def _raise(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        self.graph.when(at_frames(row[1], frames), self.raised, Site(number, code_number, row[2], self.graph.node()))

    def _new(self, row: Any, frames: tuple[int, ...], _code: int, _number: int) -> None:
        target = frames[0] + row[1]
        item = self.graph.object(CONTAINER, (target, row[2]), row[2])
        self.graph.put(target, item)
        for key, node in row[3]:
            if node != NOTHING:
                self.graph.flow(at_frames(node, frames), self.slot(item, key))

    def _instance(self, row: Any, frames: tuple[int, ...], _code: int, _number: int) -> None:
        self.graph.when(at_frames(row[2], frames), self.declare, frames[0] + row[1])

    def _await(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        if row[2] != NOTHING:
            site = Site(number, code_number, row[3], frames[0] + row[1])
            self.graph.when(at_frames(row[2], frames), self.awaited, site)

    def _slice(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        if row[2] != NOTHING:
            if row[5] and "__index__" in self.program.special_names:
                site = Site(number, code_number, row[6], self.graph.node())
                self.graph.when(
                    at_frames(row[2], frames), self.bounded, (tuple(at_frames(one, frames) for one in row[5]), site)
                )
            self.graph.when(at_frames(row[2], frames), self.sliced, (frames[0] + row[1], row[3], row[4]))

    def _unpack(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        site = Site(number, code_number, row[4], frames[0] + row[1])
        self.graph.when(at_frames(row[2], frames), self.unpacked, (row[3], site))

    def _named(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        if row[2] != NOTHING and row[3] != NOTHING:
            site = Site(number, code_number, row[4], frames[0] + row[1])
            self.graph.when(at_frames(row[2], frames), self.load_named, (at_frames(row[3], frames), site))

    def _hint(self, row: Any, _frames: tuple[int, ...], code_number: int, _number: int) -> None:
        file = self.program.places[code_number].file
        if row[2]:
            self.hints.append((file, row[1], row[2]))
        if row[3]:
            self.doubtful.append((file, row[1], row[3]))

    def _filter(self, row: Any, frames: tuple[int, ...], _code: int, _number: int) -> None:
        classes = tuple(at_frames(node, frames) if node != NOTHING else NOTHING for node in row[3])
        self.graph.when(at_frames(row[2], frames), self.sift, (frames[0] + row[1], classes, row[4], row[5]))

    def _expect(self, row: Any, frames: tuple[int, ...], _code: int, _number: int) -> None:
        self.graph.when(at_frames(row[2], frames), self.expect, at_frames(row[1], frames))

    def _match(self, row: Any, frames: tuple[int, ...], code_number: int, number: int) -> None:
        site = Site(number, code_number, 0, frames[0] + row[1])
        self.graph.when(at_frames(row[2], frames), self.matched, (row[3], site))

    # rules for when nothing else is known

    def _deferred(self) -> bool:
        """Apply them; False when none applied."""
        before = (len(self.graph.kinds), self._reported(), self._count())
        self._unseen_functions()
        self._declared_results()
        self._reflected_operators()
        self.deferred_results()
        self.deferred_constructions()
        self.deferred_exits()
        self.deferred_news()
        self.deferred_attributes()
        self.deferred_sets()
        self.deferred_keys()
        self.deferred_lacking()
        self.deferred_dispatch()
        self.deferred_calls(self.call_sites)
        return (len(self.graph.kinds), self._reported(), self._count()) != before

    def _reported(self) -> int:
        return len(self.edges) + self.candidates.count

    def _count(self) -> int:
        return len(self.graph.holds) + self.applied

    def _unseen_functions(self) -> None:
        """A function that would be analysed per call site, and that nobody calls, is analysed by itself."""
        pending, self._generic = self._generic, []
        for code_number, frames in pending:
            if not self._clones.get(code_number):
                for item_form in ("", "static", "class", "property", *WRITING):
                    if (FUNCTION, code_number, (frames, item_form)) in self.graph.interned:
                        base = self.frame(code_number, frames, 0)
                        self._entry(code_number, frames, item_form, base)
                        break

    def _unknown_decorators(self) -> bool:
        """What a decorator makes is what it was given, as far as we know, when we know nothing of its result: after all
        else, since a decorator may be an object whose `__call__` waits to be judged. Returns whether anything is new.
        """
        sites = ((site.positional[0], site.target) for site in self.call_sites if site.is_decoration)
        new = False
        for given, target in (*sites, *self._decorated_classes):
            if given != NOTHING and not self.graph.held(target) and (given, target) not in self._undecorated:
                self._undecorated.add((given, target))
                self.apply_flow(given, target)
                new = True
        return new

    def _declared_results(self) -> None:
        for _, result, declared in self._results:
            if not self.graph.held(result):
                self.apply_flow(declared, result)

    def _reflected_operators(self) -> None:
        """`left op right` asks the right operand when the left one does not have the operator, or declines."""
        pending, self.reflected = self.reflected, []
        for right, name, site in pending:
            if site.number not in self.operated or site.number in self.declined:
                self.applied += 1
                self.graph.when(right, self.operate, (name, site))
            else:
                self.reflected.append((right, name, site))


class BaseFinder(Solver):
    """Finds the bases of the classes of modules beforehand, because what a method call reaches depends on them.

    It only looks at what a name stands for when a module is imported: no function runs, and a decorator is taken to
    give back its class.
    """

    def __init__(self, summaries: Sequence[Summary]) -> None:
        super().__init__(summaries)
        used = {ops.CLASS, ops.IMPORT, ops.GLOBAL, ops.ATTR, ops.CALL}
        self._apply = tuple(method if number in used else _ignore for number, method in enumerate(self._apply))  # type: ignore[assignment]

    def find(self) -> dict[int, tuple[list[int], list[str]]]:
        """Code of a class -> codes of its base classes in the tree, and names of those outside."""
        self._start()
        self.graph.run()
        found = {}
        for klass in self.classes.all:
            bases = [self.classes.all[base].code_number for at in sorted(klass.bases) for base in klass.bases[at]]
            found[klass.code_number] = (bases, klass.outside)
        return found

    def _call(self, row: Any, frames: tuple[int, ...], _code: int, _number: int) -> None:
        if row[8] and row[3][0] != NOTHING:
            self.graph.flow(at_frames(row[3][0], frames), frames[0] + row[1])

    def define_class(self, klass: Klass, site: Site) -> None:
        """Nothing runs."""
        for name, node in site.keywords:
            if name == "metaclass":
                self.graph.when(node, self._note_metaclass, klass)

    def _note_metaclass(self, item: int, klass: Klass) -> None:
        if self.graph.kinds[item] == KLASS:
            klass.meta = self.graph.firsts[item]

    def metaclasses(self) -> dict[int, int]:
        """Code of a class -> code of the metaclass that its statement names, after `find`."""
        classes = self.classes.all
        return {klass.code_number: classes[klass.meta].code_number for klass in classes if klass.meta >= 0}


def _ignore(_row: Any, _frames: tuple[int, ...], _code: int, _number: int) -> None:
    """A constraint that does not matter here."""
