"""The state and tools of one walk over a unit's syntax tree: where things stand, what encloses them, what is emitted.

Each scope (class, function, lambda, static initialiser) and each call is walked by a nested visit, so that what is met
inside knows its encloser. The handlers are in xref.cpp.declares, .calls and .macros; xref.cpp.visitor joins them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from ctypes import c_void_p
from typing import TYPE_CHECKING, NamedTuple, Protocol

from xref.cpp import kinds
from xref.cpp.clang import CONTINUE, RECURSE, VISITOR, CXCursor, children, file_location, load, text
from xref.cpp.comments import clean_comment
from xref.cpp.names import Declaration, Declarations, Paths
from xref.cpp.stack import run_on_thread
from xref.cpp.written import call_at, is_call
from xref.model import FileFacts, Id, Ref, Role, Symbol, Unresolved, shorten
from xref.special_members import special_of

if TYPE_CHECKING:
    from xref.registry.cpp_look_ups import Forward

BREAK = 0
_DEPTH_OF_A_THREAD = 100
"""Nested visits of one thread. Each takes four of the 1,000 frames that Python allows by default, and some of the C
calls that 3.12 and 3.13 allow whatever the stack (3.13 ended at 3,300 visits)."""
_STACK_BYTES = 16 << 20
"""Virtual memory for the stack of such a thread."""

Handler = Callable[[CXCursor, CXCursor], int]


class Hooks(Protocol):
    """What looks at the tree for string-keyed registries (xref/registry)."""

    def on_call(self, walk: Walk, call: CXCursor, callee: Declaration) -> None:
        """Look at a resolved call, before the walk goes down into it."""

    def on_variable(self, walk: Walk, cursor: CXCursor, variable: Declaration) -> None:
        """Look at a variable that is not local."""

    def finish(self, walk: Walk, root: CXCursor) -> None:
        """Look at the whole unit once more, after the walk."""

    def on_function(self, walk: Walk, cursor: CXCursor, function: Declaration) -> None:
        """Look at the definition of a function, before the walk goes down into it."""


class OpenCall:
    """A call whose parts are being walked: its callee, or the candidates, and where the callee is named."""

    __slots__ = ("callee", "candidates", "col", "declared", "file", "line", "name", "named_at")

    def __init__(self, callee: Declaration | None) -> None:
        self.callee = callee
        self.candidates: list[Declaration] = []
        self.declared: list[CXCursor] = []
        """The cursors of the candidates."""
        self.file = ""
        self.line = self.col = 0
        self.named_at = 0
        """The token of the overload set that a dependent call names; 0 for none."""
        self.name = ""
        """The name of that overload set."""


class Inputs(NamedTuple):
    """What a walk is given: the tree's absolute path and the tree-relative paths of its files, and for the unit the
    files whose facts the walk collects, the bytes of its sources (both by tree-relative path), what looks for
    registries, and the keys of the external symbols that other walks of the process have told already."""

    root: str
    known: frozenset[str]
    owned: Mapping[str, FileFacts]
    sources: Mapping[str, bytes]
    hooks: Hooks
    seen_externals: set[str]


class Walk:
    """One walk. Everything outside the owned files is only named."""

    def __init__(self, inputs: Inputs) -> None:
        self.library = load()
        self.paths = Paths(inputs.root, inputs.known)
        self.declarations = Declarations(self.paths)
        self.facts = inputs.owned
        self.hooks = inputs.hooks
        self.seen_externals = inputs.seen_externals
        self.scopes: list[Declaration] = []
        self.in_definition: list[bool] = []
        """For each open scope: whether it is a definition, so that its parameters are symbols."""
        self.open_calls: list[OpenCall] = []
        self.roles: dict[int, Role] = {}
        """What is done with the references ahead that are not merely read, by their token."""
        self.variable_values: dict[int, list[Declaration]] = {}
        """The lambdas that a variable was given, by libclang's address of the variable."""
        self.assigned: dict[int, list[CXCursor]] = {}
        """The values that a local variable is assigned after its declaration, by libclang's address of the variable."""
        self.extended: dict[int, list[CXCursor]] = {}
        """What is appended to a string (`name += kind`), by libclang's address of the variable."""
        self.forwards: list[Forward] = []
        """Look-ups of keys that a parameter holds (xref/registry/cpp_look_ups.py)."""
        self.registered: set[int] = set()
        """Tokens that give a function to a registry: the registering code does not call it."""
        self.consumed: set[int] = set()
        """Tokens of calls that a registry has read as part of a longer chain."""
        self.computed: dict[int, tuple[str, Unresolved]] = {}
        """By token: registrations whose names are computed, each with its file and what to say if that fails."""
        self.functors: dict[Id, bool] = {}
        """By class: whether it fills a table of handlers from its virtual methods; see xref.registry."""
        self.op_parameters: dict[Id, int] = {}
        """By function: which of its parameters names an operator that it builds a call of; see xref.registry."""
        self.function_ranges: dict[str, list[tuple[int, int, Id]]] = {}
        """(first, last byte offset, id) of the functions, lambdas and initialisers in each owned file."""
        self.template_parameters: dict[Id, set[str]] = {}
        """The names of the parameters of each template that the walk has entered."""
        self.walked: list[tuple[int, int]] = []
        """(first, last byte offset) of values that libclang lists once more, in parts: of the init-captures of the
        lambdas around."""
        self.hidden: list[tuple[str, int, int]] = []
        """(file, first, last byte offset) of code that libclang shows nothing of; read by tokens (xref/cpp/lost.py)."""
        self.needs_instances = False
        """Whether a registry must see the bodies of instances, which the parse has left out."""
        self.call_expressions = 0
        self.handlers: dict[int, Handler] = {}
        self._sources = inputs.sources
        self._emitted: set[tuple[str, Id, int, int]] = set()
        self._mentioned: dict[Id, Declaration] = {}
        self._failure: BaseException | None = None
        self._depth = 0
        self._callback = VISITOR(self._visit)
        self._callback_pointer = ctypes.cast(self._callback, c_void_p)

    def walk(self, root: CXCursor) -> None:
        """Visit the whole unit. Exceptions of handlers propagate."""
        self.descend(root)
        if self._failure is not None:
            raise self._failure
        for facts in self.facts.values():  # a macro may make one and the same call twice
            facts.unresolved[:] = dict.fromkeys(facts.unresolved)
            facts.dependent[:] = dict.fromkeys(facts.dependent)
        declared = {symbol for _, symbol, _, _ in self._emitted}
        some_file = next(iter(self.facts.values()))
        while self._mentioned:
            id_, declaration = self._mentioned.popitem()
            if id_ not in declared:  # what the compiler declares by itself: implicit constructors, assignments
                declared.add(id_)
                self._name_only(declaration, self.facts.get(declaration.file, some_file))

    def _visit(self, cursor: CXCursor, parent: CXCursor, _data: object) -> int:
        try:
            handler = self.handlers.get(cursor.kind)
            if parent.kind == kinds.TRANSLATION_UNIT and (
                self.position(cursor)[0] not in self.facts or self._is_instantiation(cursor)
            ):
                return CONTINUE
            if self.walked and self._has_been_walked(cursor):
                return CONTINUE
            return RECURSE if handler is None else handler(cursor, parent)
        except BaseException as error:  # noqa: BLE001  # ctypes would print and drop it
            self._failure = self._failure or error
            return BREAK

    def _has_been_walked(self, cursor: CXCursor) -> bool:
        at = file_location(self.library.clang_getCursorLocation(cursor))[3]
        return any(first <= at < last for first, last in self.walked)

    def _is_instantiation(self, cursor: CXCursor) -> bool:
        """Clang lists the functions that it instantiates beside the unit's own top-level declarations."""
        if cursor.kind not in kinds.FUNCTION_LIKE:
            return False
        if self.library.clang_getCursorLexicalParent(cursor).kind not in (kinds.TRANSLATION_UNIT, *kinds.TRANSPARENT):
            return True
        return self.declarations.template_of(cursor) is not None

    def walk_from(self, cursor: CXCursor, parent: CXCursor) -> None:
        """Visit the cursor, which libclang does not list below `parent`, and what is below it."""
        if self._visit(cursor, parent, None) == RECURSE:
            self.descend(cursor)

    def descend(self, cursor: CXCursor) -> None:
        """Visit what is below the cursor. Python limits how deep C code may call it, per thread: hence more threads."""
        self._depth += 1
        if self._depth % _DEPTH_OF_A_THREAD:
            self.library.clang_visitChildren(cursor, self._callback_pointer, None)
        else:
            visit = self.library.clang_visitChildren
            run_on_thread(lambda: visit(cursor, self._callback_pointer, None), _STACK_BYTES)
        self._depth -= 1

    def descend_into(self, scope: Declaration, cursor: CXCursor, is_definition: bool = True) -> None:
        self.scopes.append(scope)
        self.in_definition.append(is_definition)
        calls, self.open_calls = self.open_calls, []
        self.descend(cursor)
        self.open_calls = calls
        self.in_definition.pop()
        self.scopes.pop()

    def position(self, cursor: CXCursor) -> tuple[str, int, int]:
        """(tree-relative file or "", line, column) of the cursor's token, or of the macro invocation that made it."""
        handle, line, column, _ = file_location(self.library.clang_getCursorLocation(cursor))
        return self.paths.relative(handle), line, column

    def token(self, cursor: CXCursor) -> int:
        """libclang's own encoding of the cursor's location: tells tokens of one macro expansion apart."""
        offset: int = self.library.clang_getCursorLocation(cursor).offset
        return offset

    @property
    def scope(self) -> Declaration | None:
        """The innermost enclosing symbol."""
        return self.scopes[-1] if self.scopes else None

    def within(self) -> Id | None:
        return self.scopes[-1].id if self.scopes else None

    def extent(self, cursor: CXCursor) -> tuple[int, int]:
        """(first, last byte offset) of the cursor's text; of what a macro makes, of the invocation."""
        extent = self.library.clang_getCursorExtent(cursor)
        start = file_location(self.library.clang_getRangeStart(extent))[3]
        return start, file_location(self.library.clang_getRangeEnd(extent))[3]

    def note_range(self, declaration: Declaration, cursor: CXCursor, file: str) -> None:
        """Remember the text that a function, lambda or initialiser takes up."""
        start, end = self.extent(cursor)
        self.function_ranges.setdefault(file, []).append((start, end, declaration.id))

    def end_line(self, cursor: CXCursor) -> int:
        extent = self.library.clang_getCursorExtent(cursor)
        return file_location(self.library.clang_getRangeEnd(extent))[1]

    def source_of(self, file: str) -> bytes:
        """The content of an owned file."""
        return self._sources.get(file, b"")

    def source_text(self, cursor: CXCursor) -> str:
        """The cursor's text as written, shortened; "" when it spans files."""
        extent = self.library.clang_getCursorExtent(cursor)
        start = file_location(self.library.clang_getRangeStart(extent))
        end = file_location(self.library.clang_getRangeEnd(extent))
        source = self._sources.get(self.paths.relative(start[0]))
        if source is None or start[0] != end[0]:
            return ""
        return shorten(source[start[3] : min(end[3], start[3] + 400)].decode("utf-8", "replace"))

    def is_called_in_text(self, cursor: CXCursor, name: str) -> bool:
        """Whether the name at the cursor is written as a call's: `name(` or `name<..>(`.

        Clang keeps no call where an argument did not compile, only the names in it.
        """
        handle, _, _, offset = file_location(self.library.clang_getCursorLocation(cursor))
        return is_call(self.source_of(self.paths.relative(handle)), offset, name)

    def written_call(self, cursor: CXCursor, name: str) -> str:
        """The text of the call that begins with `name` at the cursor, to the bracket that closes its arguments;
        `name(..)` where a macro makes the call."""
        handle, _, _, offset = file_location(self.library.clang_getCursorLocation(cursor))
        return call_at(self.source_of(self.paths.relative(handle)), offset, name)

    def note_unreadable(self, file: str, line: int, col: int, cursor: CXCursor, reason: str) -> None:
        """Record what a registry could not read, with the code as written."""
        self.facts[file].unresolved.append(Unresolved(line, col, self.within(), self.source_text(cursor), reason))

    def note_computed(self, call: CXCursor, reason: str) -> None:
        """Remember a registration whose name the walk cannot tell; it is unreadable unless evaluation tells it."""
        file, line, col = self.position(call)
        if file in self.facts:
            row = Unresolved(line, col, self.within(), self.source_text(call), reason)
            self.computed[self.token(call)] = (file, row)

    def emit_symbol(self, declaration: Declaration, cursor: CXCursor, is_definition: bool, signature: str = "") -> bool:
        """Store the symbol and the reference that its name is; False when its file is not owned or it is known."""
        file, line, col = self.position(cursor)
        facts = self.facts.get(file)
        if facts is None:
            return False
        mark = (file, declaration.id, line, col)
        if mark in self._emitted:
            return False
        self._emitted.add(mark)
        local = declaration.symbol_kind in ("parameter", "local", "template_parameter")
        comment = "" if local else text(self.library.clang_Cursor_getRawCommentText(cursor))
        parent = declaration.parent
        facts.symbols.append(
            Symbol(
                declaration.key,
                declaration.symbol_kind,
                declaration.name,
                declaration.qualname,
                line,
                col,
                self.end_line(cursor),
                signature,
                clean_comment(comment),
                parent.id if parent is not None else None,
                is_definition,
                declaration.linkage,
                kinds.ACCESS.get(self.library.clang_getCXXAccessSpecifier(cursor), "") if not local else "",
            )
        )
        role = Role.DEFINITION if is_definition else Role.DECLARATION
        self.add_ref(facts, declaration.id, line, col, role)
        return True

    def add_ref(self, facts: FileFacts, symbol: Id, line: int, col: int, role: Role) -> None:
        facts.refs.append(Ref(symbol, line, col, role, self.within()))

    def mention(self, declaration: Declaration, facts: FileFacts) -> None:
        """Name a symbol that this walk may not declare, once per process (of an owned file: once, after the walk)."""
        if declaration.file in self.facts or declaration.linkage == "none":
            self._mentioned[declaration.id] = declaration
            return
        if declaration.key in self.seen_externals:
            return
        self.seen_externals.add(declaration.key)
        self._name_only(declaration, facts)

    def _name_only(self, declaration: Declaration, facts: FileFacts) -> None:
        parent, special = declaration.parent, special_of(declaration.key)
        signature = special.signature_in(parent.name) if parent is not None and special is not None else ""
        while parent is not None and parent.kind != kinds.NAMESPACE:
            self.mention(parent, facts)
            parent = parent.parent
        facts.externals.append(
            Symbol(
                declaration.key,
                declaration.symbol_kind,
                declaration.name,
                declaration.qualname,
                0,
                0,
                0,
                signature,
                parent=declaration.parent.id if declaration.parent is not None else None,
                is_definition=False,
                linkage=declaration.linkage,
            )
        )

    def written_name(self, callee: CXCursor) -> str:
        """The name of a member as written; see xref.cpp.dependent."""
        raise NotImplementedError

    def name_default(self, parameter: CXCursor) -> None:
        """Walk the value of a parameter; see xref.cpp.unevaluated."""
        raise NotImplementedError

    def find_lambda(self, cursor: CXCursor) -> CXCursor | None:
        """The lambda that the expression is, through casts and conversions; None for any other expression."""
        while cursor.kind != kinds.LAMBDA_EXPR:
            if cursor.kind not in (kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR, kinds.CALL_EXPR, kinds.FUNCTIONAL_CAST,
                                   kinds.STATIC_CAST, kinds.INIT_LIST_EXPR, kinds.MEMBER_REF_EXPR,
                                   kinds.UNARY_OPERATOR):  # fmt: skip
                return None
            if cursor.kind == kinds.CALL_EXPR:
                referenced = self.library.clang_getCursorReferenced(cursor)
                if referenced.decl and referenced.kind not in (kinds.CONSTRUCTOR, kinds.CONVERSION):
                    callee = self.declarations.of(referenced)
                    if callee is None or callee.symbol_kind not in ("constructor", "conversion"):
                        return None
            inner = [c for c in children(cursor) if c.kind in kinds.EXPRESSIONS]
            if len(inner) != 1:
                return None
            cursor = inner[0]
        return cursor

    def declare_lambda(self, cursor: CXCursor, purpose: str, scope: Declaration | None = None) -> Declaration:
        """The symbol of a lambda, made now if the walk has not reached it yet. `scope`: where no function is around."""
        return self.declarations.declare_lambda(cursor, self.scope or scope, self.position(cursor)[0], purpose)

    def give_lambda(self, cursor: CXCursor, variable: int, purpose: str, scope: Declaration | None = None) -> None:
        """When the expression is a lambda, call it by the variable at that address, and let that stand for it."""
        found = self.find_lambda(cursor)
        if found is not None:
            values = self.variable_values.setdefault(variable, [])
            declaration = self.declare_lambda(found, purpose, scope)
            if declaration not in values:
                values.append(declaration)

    def in_function(self) -> bool:
        scope = self.scope
        return scope is not None and (scope.is_function or scope.symbol_kind == "static_init")

    def in_template(self) -> bool:
        """Whether the code is a template's, or a generic lambda's."""
        for scope in reversed(self.scopes):
            at: Declaration | None = scope
            while at is not None:
                if at.kind in kinds.TEMPLATES or at.is_generic:
                    return True
                at = at.parent
        return False
