"""The preprocessor's side of a unit: macro definitions, expansions, includes. Clang lists them before the tree."""

from __future__ import annotations

import bisect
from collections.abc import Mapping

from xref.cpp import kinds
from xref.cpp.clang import CONTINUE, CXCursor, file_location, text
from xref.cpp.walk import Hooks, Walk
from xref.model import FileFacts, Id, Include, Ref, Role, Symbol, symbol_id


class Macros(Walk):
    """Handlers of preprocessing cursors."""

    def __init__(
        self,
        root: str,
        known: frozenset[str],
        owned: Mapping[str, FileFacts],
        sources: Mapping[str, bytes],
        hooks: Hooks,
        seen_externals: set[str],
    ) -> None:
        super().__init__(root, known, owned, sources, hooks, seen_externals)
        self._macro_refs: list[tuple[str, Id, int, int]] = []

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
            self.facts[file].externals.append(
                Symbol(key, "macro", name, name, 0, 0, 0, is_definition=False, path=macro_file)
            )
        self._macro_refs.append((file, symbol_id(key), offset, len(self.facts[file].refs)))
        self.facts[file].refs.append(Ref(symbol_id(key), line, col, Role.MACRO, None))
        return CONTINUE

    def _place_macro_references(self) -> None:
        """Macro uses come before the tree is walked; say now in which function each of them stands."""
        for ranges in self.function_ranges.values():
            ranges.sort()
        starts = {file: [r[0] for r in ranges] for file, ranges in self.function_ranges.items()}
        by_start: dict[str, dict[int, Id]] = {}
        for file, _, offset, _ in self._macro_refs:
            ranges = self.function_ranges.get(file, [])
            i = bisect.bisect_right(starts.get(file, []), offset) - 1
            while i >= 0 and ranges[i][1] < offset and i > len(ranges) - 400:
                i -= 1
            if i >= 0 and ranges[i][0] <= offset <= ranges[i][1]:
                by_start.setdefault(file, {})[offset] = ranges[i][2]
        for file, symbol, offset, index in self._macro_refs:
            within = by_start.get(file, {}).get(offset)
            refs = self.facts[file].refs
            if within is not None and index < len(refs) and refs[index].symbol == symbol:
                refs[index] = refs[index]._replace(within=within)

    def _inclusion(self, cursor: CXCursor, _parent: CXCursor) -> int:
        file, line, _ = self.position(cursor)
        handle = self.library.clang_getIncludedFile(cursor)
        target = self.paths.relative(handle) if handle else ""
        self.facts[file].includes.append(Include(line, target))
        return CONTINUE
