"""Identity of C++ declarations: from a cursor to the written key, the id and the qualified name.

Upholds docs/design.md, "Names and identity": an instantiation is its template, a key holds no byte offset, and two
internal functions of one name in two files of one basename stay two symbols.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, file_location, load, text
from xref.model import CALL_OPERATOR, Id, symbol_id
from xref.special_members import Special, key_of

_HAS_OFFSET = re.compile(r"@\d+(@|$)")
_WORD = re.compile(r"\w+")
_INTERNAL_LINKAGE = (2, 3)
_MAX_TEMPLATE_STEPS = 8
RVALUE_REFERENCE = 104  # CXType_RValueReference
_KIND_OF = {"constructor": kinds.CONSTRUCTOR, "destructor": kinds.DESTRUCTOR, "method": kinds.METHOD}
_MAY_BE_IMPLICIT = frozenset(_KIND_OF.values())
UNNAMED_PARAMETER = "type-parameter-"
"""How libclang spells a template's parameter where it has lost the name: `operator type-parameter-0-0`."""
CLOSURE_PREFIX = "(lambda at "
"""How libclang spells the class of a lambda; path, line and column follow."""


class Declaration:
    """What xref knows of one declaration of a unit; `kind` is libclang's, `symbol_kind` ours."""

    __slots__ = (
        "file",
        "first_parameter",
        "id",
        "is_function",
        "is_generic",
        "key",
        "kind",
        "linkage",
        "name",
        "parent",
        "qualname",
        "symbol_kind",
        "usr",
    )

    def __init__(
        self, key: str, usr: str, kind: int, symbol_kind: str, name: str, qualname: str, linkage: str,
        parent: Declaration | None, file: str,
    ) -> None:  # fmt: skip
        self.key, self.usr, self.kind, self.symbol_kind = key, usr, kind, symbol_kind
        self.id: Id = symbol_id(key)
        self.name, self.qualname, self.linkage, self.parent = name, qualname, linkage, parent
        self.is_function = kind in kinds.FUNCTION_LIKE or symbol_kind == "lambda"
        self.is_generic = False
        """For a lambda: a parameter of type auto makes its body a template."""
        self.first_parameter: str = ""
        """Of a candidate of an overload set: the class that its first parameter names, "" for none."""
        self.file = file
        """The tree-relative file of the declaration; "" outside the tree."""


def class_of_base(base: CXCursor) -> CXCursor:
    """The class that a base specifier names; the template, where it depends on a template parameter."""
    library = load()
    kind = library.clang_getCanonicalType(library.clang_getCursorType(base))
    class_: CXCursor = library.clang_getTypeDeclaration(kind)
    named: CXCursor = library.clang_getCursorReferenced(base)
    return class_ if class_.decl else named


class Paths:
    """Turns libclang's file handles of one unit into tree-relative paths ("" outside the tree)."""

    def __init__(self, root: str, known: frozenset[str]) -> None:
        self._root = root.rstrip("/") + "/"
        self._known = known
        self._by_handle: dict[int, str] = {0: ""}

    def absolute(self, path: str) -> str:
        """The file name of a tree-relative path."""
        return self._root + path

    def relative(self, handle: int) -> str:
        """The path of the file that `handle` stands for. `/../` is normalised, which libclang leaves in."""
        path = self._by_handle.get(handle)
        if path is None:
            path = self._by_handle[handle] = self.relative_name(text(load().clang_getFileName(handle)))
        return path

    def relative_name(self, name: str) -> str:
        """The tree-relative form of an absolute file name, "" when it is no source file of the tree."""
        name = os.path.normpath(name)
        if not name.startswith(self._root):
            return ""
        relative = name[len(self._root) :]
        return relative if relative in self._known else ""


class Declarations:
    """The declarations of one unit, by libclang's declaration address.

    Local names (parameters, local variables, lambdas, local classes) have no name that survives outside their function;
    the visitor announces them with `define_local`, in source order, and their key is the enclosing key plus the name
    plus an ordinal among equal names.
    """

    def __init__(self, paths: Paths) -> None:
        self._library = load()
        self._paths = paths
        self._by_address: dict[int, Declaration | None] = {}
        self._lambdas: dict[int, Declaration] = {}
        self._specials: dict[tuple[Id, Special], Declaration] = {}
        self._ordinals: dict[str, int] = {}

    def is_known(self, cursor: CXCursor) -> bool:
        """Whether the declaration has been met."""
        return cursor.decl in self._by_address

    def of(self, cursor: CXCursor) -> Declaration | None:
        """The declaration that `cursor` is, folded to its template; None for the root and for what has no identity."""
        address = cursor.decl
        if not address or kinds.TRANSLATION_UNIT <= cursor.kind <= kinds.INCLUSION:
            return None
        try:
            return self._by_address[address]
        except KeyError:
            pass
        self._by_address[address] = None  # a template whose parameter refers to the template itself
        result = self._by_address[address] = self._make(cursor)
        if result is None and cursor.kind in kinds.FUNCTION_LIKE:
            del self._by_address[address]  # the call of a lambda that the walk has not reached yet
        return result

    def template_of(self, cursor: CXCursor) -> CXCursor | None:
        """The template that `cursor` was instantiated from; None for anything written, an explicit specialisation too.

        An instantiation stands where its template stands: at any of its declarations, or at the definition that a class
        template's member has out of line (there from the moment that its body is instantiated). A member template of
        a class template takes two steps: to the member template of the instantiated class, then to the written one.
        """
        library = self._library
        here = library.clang_getCursorLocation(cursor).offset
        at = cursor
        for _ in range(_MAX_TEMPLATE_STEPS):
            template: CXCursor = library.clang_getSpecializedCursorTemplate(at)
            if not template.decl or template.decl == at.decl:
                return None
            definition, first = library.clang_getCursorDefinition(template), library.clang_getCanonicalCursor(template)
            for written in (template, definition, first):
                if written.decl and library.clang_getCursorLocation(written).offset == here:
                    return template
            at = template
        return None

    def is_closure(self, cursor: CXCursor) -> bool:
        """Whether `cursor` is the class that the compiler makes of a lambda: it has no identity, the lambda has."""
        if cursor.kind != kinds.CLASS:
            return False
        return text(self._library.clang_getCursorSpelling(cursor)).startswith(CLOSURE_PREFIX)

    def _make(self, cursor: CXCursor) -> Declaration | None:
        library, kind = self._library, cursor.kind
        if kind in kinds.TRANSPARENT and not text(library.clang_getCursorSpelling(cursor)):
            return self.of(library.clang_getCursorSemanticParent(cursor))
        symbol_kind = "variable" if kind == kinds.UNEXPOSED_DECL else kinds.SYMBOL_KIND.get(kind)
        if symbol_kind is None:
            return None
        template = self.template_of(cursor)
        if template is not None:
            return self.of(template)
        name = self._name(cursor, symbol_kind)
        if name.startswith(CLOSURE_PREFIX):
            return None
        parent_cursor: CXCursor = library.clang_getCursorSemanticParent(cursor)
        parent = self.of(parent_cursor)
        if parent is None and self.is_closure(parent_cursor):
            here = library.clang_getCursorLocation(parent_cursor).offset
            return self._lambdas.get(here) if name == CALL_OPERATOR else None
        if parent is not None and kind in _MAY_BE_IMPLICIT:
            if (special := self._special_member(cursor, parent_cursor)) is not None:
                return self.special(parent, special)
            if kind == kinds.CONSTRUCTOR and name != parent.name:
                inherited = self._inherited(cursor, parent_cursor)
                if inherited is not None:
                    return self.of(inherited)
        return self._declared(cursor, symbol_kind, name, parent_cursor, parent)

    def _special_member(self, cursor: CXCursor, class_: CXCursor) -> Special | None:
        """Which member of the class it is that the compiler declares, at the class's place; None for a written one."""
        library = self._library
        if library.clang_getCursorLocation(cursor).offset != library.clang_getCursorLocation(class_).offset:
            return None
        if cursor.kind == kinds.DESTRUCTOR:
            return Special.DESTRUCTOR
        signature = library.clang_getCursorType(cursor)
        if library.clang_getNumArgTypes(signature) < 1:
            return Special.DEFAULT
        moves = library.clang_getArgType(signature, 0).kind == RVALUE_REFERENCE
        if cursor.kind == kinds.CONSTRUCTOR:
            return Special.MOVE if moves else Special.COPY
        return Special.MOVE_ASSIGNMENT if moves else Special.COPY_ASSIGNMENT

    def special(self, class_: Declaration, special: Special) -> Declaration:
        """The member that the compiler declares in the class."""
        known = self._specials.get((class_.id, special))
        if known is None:
            name, kind = special.name_in(class_.name), _KIND_OF[special.kind]
            known = self._specials[class_.id, special] = Declaration(
                key_of(class_.key, special), "", kind, special.kind, name, f"{class_.qualname}::{name}", class_.linkage,
                class_, class_.file,
            )  # fmt: skip
        return known

    def _declared(
        self, cursor: CXCursor, symbol_kind: str, name: str, parent_cursor: CXCursor, parent: Declaration | None
    ) -> Declaration:
        """The declaration of what stands in the source itself: named by its USR, or within its function."""
        library, kind = self._library, cursor.kind
        file = self._paths.relative(file_location(library.clang_getCursorLocation(cursor))[0])
        if parent is not None and (parent.is_function or parent.linkage == "none"):
            return self._local(kind, symbol_kind, name, parent, file)
        usr = self._usr(cursor, name, parent_cursor, parent)
        if symbol_kind == "function" and parent is not None and parent.kind in kinds.TYPE_LIKE:
            if name.split("<", 1)[0] == parent.name:
                symbol_kind, name = "constructor", parent.name
            else:
                symbol_kind = "conversion" if name.startswith("operator ") else "method"
        qualname = f"{parent.qualname}::{name}" if parent is not None else name
        linkage = library.clang_getCursorLinkage(cursor)
        if linkage in _INTERNAL_LINKAGE or (parent is not None and parent.linkage == "internal"):
            word = "internal"
        else:
            word = "external"
        if not usr or _HAS_OFFSET.search(usr):
            return self._local(kind, symbol_kind, name, parent, file, word)
        key = f"cpp:{usr}" if word == "external" else f"cpp:{file}#{usr}"
        return Declaration(key, usr, kind, symbol_kind, name, qualname, word, parent, file)

    def _usr(self, cursor: CXCursor, name: str, parent_cursor: CXCursor, parent: Declaration | None) -> str:
        """libclang's name for the declaration across units, with its instantiated class folded to the template."""
        if cursor.kind == kinds.UNEXPOSED_DECL:  # a variable template: instantiations differ by their USR alone
            return f"{parent.usr if parent is not None else 'c:'}@{name}"
        usr = text(self._library.clang_getCursorUSR(cursor))
        if parent is not None and parent.usr:
            # a field, typedef or enumerator of an instantiation: libclang names no template for it
            own_parent = text(self._library.clang_getCursorUSR(parent_cursor))
            if own_parent and own_parent != parent.usr and usr.startswith(own_parent):
                return parent.usr + usr[len(own_parent) :]
        return usr

    def _inherited(self, constructor: CXCursor, derived: CXCursor) -> CXCursor | None:
        """The base class's constructor that `using Base::Base` gave to `derived`, where it stands once more."""
        library = self._library
        shown = text(library.clang_getCursorDisplayName(constructor))
        name = text(library.clang_getCursorSpelling(constructor))
        pending, seen, fitting = [derived], set(), list[CXCursor]()
        while pending:
            at = pending.pop(0)
            if at.decl in seen:
                continue
            seen.add(at.decl)
            template = library.clang_getSpecializedCursorTemplate(at)  # libclang shows an instance without members
            inside = children(library.clang_getCursorDefinition(template if template.decl else at))
            parameters = [
                text(library.clang_getCursorSpelling(c)) for c in inside if c.kind in kinds.TEMPLATE_PARAMETERS
            ]
            for child in inside:
                if child.kind == kinds.BASE_SPECIFIER:
                    pending.append(class_of_base(child))
                elif at is not derived and text(library.clang_getCursorSpelling(child)).partition("<")[0] == name:
                    if text(library.clang_getCursorDisplayName(child)) == shown:
                        return child
                    if self._may_be(constructor, child, parameters):
                        fitting.append(child)
        return fitting[0] if len(fitting) == 1 else None

    def _may_be(self, constructor: CXCursor, written: CXCursor, names: Iterable[str]) -> bool:
        """Whether the constructor, of an instance, may be the one that is written with template parameters: its own,
        and those of its class, which have these names."""
        library = self._library
        if written.kind not in (kinds.CONSTRUCTOR, kinds.FUNCTION_TEMPLATE):
            return False
        own = {
            text(library.clang_getCursorSpelling(c)) for c in children(written) if c.kind in kinds.TEMPLATE_PARAMETERS
        }
        given, wanted = library.clang_getCursorType(constructor), library.clang_getCursorType(written)
        count = library.clang_getNumArgTypes(given)
        if count != library.clang_getNumArgTypes(wanted):
            return False
        for i in range(count):
            spelled = [text(library.clang_getTypeSpelling(library.clang_getArgType(one, i))) for one in (given, wanted)]
            if spelled[0] != spelled[1] and own.union(names).isdisjoint(_WORD.findall(spelled[1])):
                return False
        return True

    def _name(self, cursor: CXCursor, symbol_kind: str) -> str:
        name = text(self._library.clang_getCursorSpelling(cursor))
        if symbol_kind in ("constructor", "destructor"):
            name = name.split("<", 1)[0]
        if UNNAMED_PARAMETER in name and name.startswith("operator "):  # `operator T()`: what is written is its result
            name = (
                f"operator {text(self._library.clang_getTypeSpelling(self._library.clang_getCursorResultType(cursor)))}"
            )
        if symbol_kind == "namespace" or not name or "(anonymous" in name or "(unnamed" in name:
            return name if name and "(" not in name else "(anonymous)"
        return name

    def _local(
        self, kind: int, symbol_kind: str, name: str, parent: Declaration | None, file: str, linkage: str = "none"
    ) -> Declaration:
        scope, outer = (parent.key, f"{parent.qualname}::") if parent is not None else (f"cpp:{file}", "")
        written = self._ordinal(f"{scope}/{symbol_kind}:{name}")
        return Declaration(written, "", kind, symbol_kind, name, outer + name, linkage, parent, file)

    def _ordinal(self, key: str) -> str:
        count = self._ordinals[key] = self._ordinals.get(key, 0) + 1
        return key if count == 1 else f"{key}#{count}"

    def define_local(self, cursor: CXCursor, symbol_kind: str, scope: Declaration, file: str) -> Declaration:
        """The declaration of a local variable, parameter or template parameter that stands in `scope`."""
        name = text(self._library.clang_getCursorSpelling(cursor))
        result = self._local(cursor.kind, symbol_kind, name, scope, file)
        self._by_address[cursor.decl] = result
        return result

    def rename(self, cursor: CXCursor, declaration: Declaration) -> None:
        """From now on `cursor` is `declaration`: what a macro defines has another name than the macro gave it."""
        self._by_address[cursor.decl] = declaration

    def declare_lambda(self, cursor: CXCursor, scope: Declaration | None, file: str, purpose: str) -> Declaration:
        """The symbol of the lambda at `cursor`, made on first sight; calls of its closure lead to it from then on."""
        here = self._library.clang_getCursorLocation(cursor).offset
        known = self._lambdas.get(here)
        if known is None:
            known = self._lambdas[here] = self.define("lambda", "lambda", scope, file, purpose)
        return known

    def lambda_at(self, location: int) -> Declaration | None:
        """The lambda at libclang's encoding of its location, when the walk has met it."""
        return self._lambdas.get(location)

    def define(self, symbol_kind: str, name: str, scope: Declaration | None, file: str, purpose: str) -> Declaration:
        """A symbol that C++ gives no name: a lambda or a static initialiser, called by its purpose ("" for none)."""
        outer = f"{scope.qualname}::" if scope is not None else ""
        if scope is None or scope.kind == kinds.NAMESPACE:  # a namespace is many files, what stands in it is of one
            where = f"cpp:{file}#{outer}"
        else:
            where = scope.key
        if purpose:
            key = self._ordinal(f"{where}/{symbol_kind}:{purpose}")
            label = f"{{{name}: {purpose}}}"
        else:
            key = self._ordinal(f"{where}/{symbol_kind}")
            label = f"{{{name}#{key.rsplit('#', 1)[1] if '#' in key[len(where) :] else 1}}}"
        linkage = "internal" if symbol_kind == "static_init" else "none"
        return Declaration(key, "", 0, symbol_kind, label, outer + label, linkage, scope, file)
