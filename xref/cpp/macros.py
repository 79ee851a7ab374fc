"""The preprocessor's side of a unit: macro definitions, expansions, includes. Clang lists them before the tree."""

from __future__ import annotations

from xref.cpp import kinds
from xref.cpp.clang import CONTINUE, CXCursor, file_location, text
from xref.cpp.walk import Inputs, Walk
from xref.model import Id, Include, Ref, Role, Symbol, symbol_id


class Macros(Walk):
    """Handlers of preprocessing cursors."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._macro_refs: list[tuple[str, int, int]] = []
        """(file, byte offset, index among the file's references) of each macro use."""

    def _macro_id(self, cursor: CXCursor) -> tuple[str, str, str]:
        """(key, name, tree-relative file or "") of the macro that `cursor` defines."""
        name = text(self.library.clang_getCursorSpelling(cursor))
        file = self.position(cursor)[0]
        return f"cpp-macro:{file}:{name}", name, file

    def _macro_definition(self, cursor: CXCursor, _parent: CXCursor) -> int:
        key, name, file = self._macro_id(cursor)
        _, line, col = self.position(cursor)
        facts = self.facts[file]
        facts.symbols.append(Symbol(key, "macro", name, name, line, col, self.end_line(cursor)))
        facts.refs.append(Ref(symbol_id(key), line, col, Role.DEFINITION, None))
        return CONTINUE

    def _macro_expansion(self, cursor: CXCursor, _parent: CXCursor) -> int:
        definition = self.library.clang_getCursorReferenced(cursor)
        if definition.kind != kinds.MACRO_DEFINITION:
            return CONTINUE
        key, name, macro_file = self._macro_id(definition)
        handle, line, col, offset = file_location(self.library.clang_getCursorLocation(cursor))
        file = self.paths.relative(handle)
        if macro_file not in self.facts and key not in self.seen_externals:
            self.seen_externals.add(key)
            self.facts[file].externals.append(Symbol(key, "macro", name, name, 0, 0, 0, is_definition=False))
        self._macro_refs.append((file, offset, len(self.facts[file].refs)))
        self.facts[file].refs.append(Ref(symbol_id(key), line, col, Role.MACRO, None))
        return CONTINUE

    def _place_macro_references(self) -> None:
        """Macro uses come before the tree is walked; say now in which function, lambda or initialiser each stands.

        What a macro makes stands at its invocation: the invocation itself is not inside of it.
        """
        by_file: dict[str, list[tuple[int, int]]] = {}
        for file, offset, index in self._macro_refs:
            by_file.setdefault(file, []).append((offset, index))
        for file, uses in by_file.items():
            ranges = sorted(self.function_ranges.get(file, ()), key=lambda r: (-r[0], r[1]))  # the next one is last
            refs = self.facts[file].refs
            open_ranges: list[tuple[int, int, Id]] = []
            for offset, index in sorted(uses):
                while ranges and ranges[-1][0] < offset:
                    open_ranges.append(ranges.pop())
                while open_ranges and open_ranges[-1][1] < offset:
                    open_ranges.pop()
                if open_ranges:
                    refs[index] = refs[index]._replace(within=open_ranges[-1][2])

    def _inclusion(self, cursor: CXCursor, _parent: CXCursor) -> int:
        file, line, _ = self.position(cursor)
        handle = self.library.clang_getIncludedFile(cursor)
        target = self.paths.relative(handle) if handle else ""
        self.facts[file].includes.append(Include(line, target))
        return CONTINUE
