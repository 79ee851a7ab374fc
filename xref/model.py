"""The words of xref as types: symbols, references, calls, keys, and the facts one file yields.

Extractors produce these, the store keeps them, nothing here does I/O. A fact is a plain named tuple, so that a worker
process can send a hundred thousand of them; the vocabularies below are closed, and the store rejects any other word.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple

Id = int
"""A symbol's id: 63 bits, positive, see `symbol_id`."""


class Lang(StrEnum):
    CPP = "cpp"
    PYTHON = "python"
    CYTHON = "cython"


class Status(StrEnum):
    """How far a file could be read; anything but `OK` comes with a detail that says why."""

    OK = "ok"
    DEGRADED = "degraded"
    FAILED = "failed"
    SKIPPED = "skipped"


class Evidence(StrEnum):
    """Why we believe that a call edge exists."""

    DIRECT = "direct"
    """Resolved by the compiler or the type checker."""
    VIRTUAL = "virtual"
    """May dispatch to this override of the method named at the site."""
    TEMPLATE = "template"
    """A candidate of an overload set in dependent code."""
    VALUE = "value"
    """A function stored or passed, then called."""
    REGISTRY = "registry"
    """Through a key of a string-keyed table."""
    DISPATCH = "dispatch"
    """Through a functor table: node type -> method."""
    NAME = "name"
    """A guess: the only method of that name, or one of several that an object may have; off in drawings."""


class Role(StrEnum):
    """What a reference does with the symbol."""

    DEFINITION = "definition"
    DECLARATION = "declaration"
    READ = "read"
    WRITE = "write"
    CALL = "call"
    ADDRESS = "address"
    TYPE = "type"
    MACRO = "macro"
    INCLUDE = "include"
    IMPORT = "import"
    DECORATOR = "decorator"
    ANNOTATION = "annotation"


class UseStatus(StrEnum):
    """What the linker found for one use of a key."""

    RESOLVED = "resolved"
    GUARDED = "guarded"
    """Every definition stands behind a build option or #if."""
    OPTIONAL = "optional"
    """No definition, and the use says that there may be none (`allow_missing=True`, a checked pointer)."""
    WILDCARD = "wildcard"
    """A prefix built at run time; linked to every key below it."""
    DANGLING = "dangling"


class Symbol(NamedTuple):
    """A named thing, as one file declares or defines it. Lines and columns are 1-based; 0 is "unknown".

    `key` is the written identity that `symbol_id` hashes; see docs/design.md, "Names and identity".
    `parent` is the id of the enclosing symbol. `access` is public, protected, private or "".
    """

    key: str
    kind: str
    name: str
    qualname: str
    line: int
    col: int
    end_line: int
    signature: str = ""
    doc: str = ""
    parent: Id | None = None
    is_definition: bool = True
    linkage: str = ""
    access: str = ""


class Ref(NamedTuple):
    """A use of `symbol` at line:col of the file that owns the fact, inside `within` (None: no enclosing symbol)."""

    symbol: Id
    line: int
    col: int
    role: Role
    within: Id | None


class Call(NamedTuple):
    """`caller` calls `callee` at line:col. `via` names the key, the functor or the virtual's static type."""

    caller: Id
    callee: Id
    evidence: Evidence
    line: int
    col: int
    via: str = ""


class Unresolved(NamedTuple):
    """A call that could not be resolved: its text as written (shortened), and the reason."""

    line: int
    col: int
    within: Id | None
    text: str
    reason: str


CALL_OPERATOR = "operator()"
"""The name of what `object(..)` calls: the object's call operator, a lambda's too."""
CONSTRUCTION = "()"
"""Begins the name of what `T(x)` and `T x;` call in a template, T's constructor: the number of arguments follows, where
that is known, and where the one argument is a T itself, which constructor that is (xref/special_members.py)."""
DESTRUCTION = "~()"
"""The name of what `delete p` and `p->~T()` call in a template: T's destructor."""
METHOD_POINTER = "->*"
"""The name of what `(object->*method)(..)` calls: a method."""
QUALIFIED = "::"
"""Ends the class of `Base::name(..)`: such a call runs what that class has, whatever class the object is of."""
BY_ARGUMENT = "(..)"
"""Ends the class of a range-for's `begin` and `end` where it has no such member: functions that take it are called."""
SAME = "*"
"""The bindings of a call within a class template: its parameters stand for themselves."""


class Dependent(NamedTuple):
    """A call in a template whose callee depends on the template's arguments: `x.name(..)`, `T::name(..)`.

    `receiver` is the qualified name of x's class where clang knows it (`this`, a template's own type), else "". It ends
    in `::` where the call names the class (`Base::name(..)`), and in `(..)` where x is the argument of functions.
    `argument` is the class that the first argument is known to have ("" for none), `text` the call as written.
    `parameter` is the template parameter that x's type is, or T; "" for none. Of a call through what holds a function
    it is the holder (xref/cpp/holders.py). A name for readers may follow, after a blank.
    """

    line: int
    col: int
    within: Id | None
    name: str
    receiver: str
    argument: str
    text: str
    parameter: str = ""


class Instance(NamedTuple):
    """A call that gives something for template parameters of `callee` or of its class.

    `bindings` is `*` (a call within a class template: its parameters stand for themselves) or `name=value` joined by
    commas; how values are written says xref/cpp/bindings.py. A name is that of a parameter, with `^` before a class
    template's; `#i` is the i-th parameter of a function, `@` what a field, variable or member type is, `~` what the
    function returns. `inside`: the call itself stands in a template, and runs what the callee runs.
    """

    line: int
    col: int
    caller: Id
    callee: Id
    bindings: str
    inside: bool


class PartUse(StrEnum):
    """What a constructor, assignment or destructor does with a part of its object: a field, a base class, or an
    anonymous struct or union."""

    RUNS = "runs"
    """Makes it by its initialiser or default constructor, unless the constructor sets it itself."""
    GIVES = "gives"
    """The same of a function that is its value: `std::function<int()> f = g;`."""
    MAY_RUN = "may run"
    """The same of a candidate in a template."""
    COPIES = "copies"
    MOVES = "moves"
    """Makes it so where the compiler copies or moves the whole object."""
    ASSIGNS = "assigns"
    MOVE_ASSIGNS = "move assigns"
    """Does so where the compiler assigns the whole object."""
    ENDS = "ends"
    """Destroys it, as every destructor does behind its body."""
    SETS = "sets"
    """The constructor has an initialiser of its own for it."""
    HOLDS = "holds"
    """The part is anonymous: its own parts are as good as parts of the whole."""
    INHERITS = "inherits"
    """Makes it by a constructor of that base (`using Base::Base`)."""
    DECLARES = "declares"
    """No part: the compiler declares the constructor `callee` in the class (owner and part), which runs something."""
    DEFAULTED = "defaulted"
    """`= default`: the constructor or assignment (owner and part) does what the compiler's own would."""


class Part(NamedTuple):
    """What making, assigning or ending an object of class `owner` (of SETS, INHERITS and DEFAULTED: by the member
    `owner`) runs for its `part`.

    `callee` is called at line:col, or named there, for GIVES; it is 0 for SETS, HOLDS, INHERITS and DEFAULTED. `via` is
    that of a call.
    """

    owner: Id
    use: PartUse
    part: Id
    callee: Id = 0
    line: int = 0
    col: int = 0
    via: str = ""


class Relation(NamedTuple):
    """`source` stands in `kind` to `target`: base | overrides | specializes | alias | counterpart."""

    source: Id
    kind: str
    target: Id


class Include(NamedTuple):
    """An #include directive: its line, and the tree-relative path it resolved to ("" outside the tree)."""

    line: int
    target: str


class KeyDef(NamedTuple):
    """A definition of `name` in `registry`. `symbol` is what the key runs or names; `guard` the #if around it.

    `side` is "cpp" or "python".
    """

    registry: str
    name: str
    side: str
    line: int
    symbol: Id | None = None
    guard: str = ""
    note: str = ""


class KeyUse(NamedTuple):
    """A use of `name` in `registry` at line:col, inside `within`.

    `name` ends in `*` for a prefix completed at run time. `calls` says that reaching the use runs the key's function
    (a call, or a look-up whose result is called), so that the linker makes call edges of it. `optional` says that the
    code copes with a missing key.
    """

    registry: str
    name: str
    side: str
    line: int
    col: int
    within: Id | None
    calls: bool = False
    optional: bool = False
    binding: str = ""
    """For a call from Python: which part of the language binding runs the function (xref/registry/bindings.py)."""
    candidates: str = ""
    """The names that this may be a use of, joined by `|`, where several may be: the linker takes the last that is
    defined, as a module keeps the attribute that it is given last. `name` is the first."""


class AttributeRead(NamedTuple):
    """Python reads the attribute `name` of an object of the class `receiver` (None: its class is unknown)."""

    name: str
    receiver: Id | None
    line: int
    col: int
    within: Id | None


@dataclass(slots=True)
class FileFacts:
    """All that one file yields. `path` is relative to the tree, with forward slashes.

    `externals` are symbols that the file uses and does not declare: those of other projects (std::, builtins, LLVM),
    without a position, and those of other files of the tree, in case nothing better is known of them (a constructor
    that the compiler declares by itself). `lines` is the file's number of lines. A file may be delivered more
    than once (a header seen by two units): the store keeps the union.
    """

    path: str
    lang: Lang
    status: Status = Status.OK
    detail: str = ""
    lines: int = 0
    symbols: list[Symbol] = field(default_factory=list)
    refs: list[Ref] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    unresolved: list[Unresolved] = field(default_factory=list)
    dependent: list[Dependent] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    virtual_methods: list[Id] = field(default_factory=list)
    includes: list[Include] = field(default_factory=list)
    key_defs: list[KeyDef] = field(default_factory=list)
    key_uses: list[KeyUse] = field(default_factory=list)
    attribute_reads: list[AttributeRead] = field(default_factory=list)
    externals: list[Symbol] = field(default_factory=list)
    flow: bytes = b""
    """Python: the value-flow constraints of the file (xref.python.flow), for the linker to solve with all others."""
    kept: bytes = b""
    """Python: the file's text and what the type checker said of it (xref.python.kept), for the next run."""


def symbol_id(key: str) -> Id:
    """The 63-bit id of a symbol's written key (blake2b, 8 bytes, top bit cleared). The store checks for collisions."""
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogateescape"), digest_size=8).digest(), "big") >> 1


def shorten(text: str, limit: int = 120) -> str:
    """`text` on one line, cut to `limit` characters with an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def duration(nanoseconds: int | None) -> str:
    """Nanoseconds in the unit that people read: "12.3 ms"; "" when unknown."""
    if nanoseconds is None:
        return ""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:,.3g} {unit}" if nanoseconds < 1000 * size else f"{nanoseconds / size:,.0f} s"
    return f"{nanoseconds} ns"


class XrefError(Exception):
    """A failure that the user can act on: a message that names the file and the remedy, and the exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class ExitCode:
    """Exit codes of every verb (docs/design.md)."""

    DONE = 0
    NOTHING = 1
    USAGE = 2
    NO_INDEX = 3
    FILES_FAILED = 4
    UNUSABLE_INPUT = 5
    INTERRUPTED = 130
