"""Which options build a source file, from CMakeLists.txt and the modules it includes, without running CMake.

Lists of sources are followed from globs through variables, macros and included files into targets; the conditions on
the way are the file's guard. What this reader does not know (generated files, build-time expressions) is passed over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from xref.tree.cmake_lists import ROOT, Item, anchored, end_of, filtered, glob_regex, implies, merged
from xref.tree.cmake_logic import (
    ALWAYS,
    Argument,
    Clause,
    Command,
    Condition,
    both,
    commands,
    in_words,
    negate,
    parse_condition,
)

NO_RULE = "no CMake rule"
"""The guard of a unit that no statement of the build names."""

_MAX_STEPS = 200_000
_MAX_DEPTH = 24
_MAX_VALUES = 4096
_GLOB_WORDS = frozenset(("CONFIGURE_DEPENDS", "FOLLOW_SYMLINKS"))
_TARGET_WORDS = frozenset((
    "STATIC", "SHARED", "OBJECT", "MODULE", "INTERFACE", "EXCLUDE_FROM_ALL", "PRIVATE", "PUBLIC", "WIN32",
    "MACOSX_BUNDLE",
))  # fmt: skip
_REFERENCE = re.compile(r"\$\{([\w.+/-]+)\}")


class ReadText(Protocol):
    """Reads a tree-relative file; "" when there is none."""

    def __call__(self, path: str) -> str: ...


class _Block(NamedTuple):
    """An open if(): what held outside, and what none of its branches so far has claimed."""

    outside: Condition
    unclaimed: Condition


class _Return(Exception):  # noqa: N818 - control flow, not an error
    """return() under no further condition: the rest of the file, or function, is not read."""


def build_guards(paths: Iterable[str], read: ReadText) -> dict[str, str]:
    """Source path -> the option conditions that build it, in words ("USE_CUDA and USE_NCCL"); paths built by default
    are left out, and units that no rule names have `NO_RULE`.

    `paths` are tree-relative; `read` gives the text of a CMake file. Empty when the tree has no CMakeLists.txt.
    """
    text = read("CMakeLists.txt")
    if not text:
        return {}
    reader = _Reader(tuple(paths), read)
    reader.enter("")
    reader.run_file("CMakeLists.txt", text)
    guards = {path: in_words(clauses) for path, clauses in reader.built.items()}
    if reader.built:
        guards |= {path: NO_RULE for path in reader.paths if path not in reader.built}
    return {path: guard for path, guard in guards.items() if guard}


class _Reader:
    """The state of one pass: variables, options, macros, and the clauses under which each path is built."""

    def __init__(self, paths: tuple[str, ...], read: ReadText) -> None:
        self.paths = paths
        self.read = read
        self.built: dict[str, set[Clause]] = {}
        self.values: dict[str, list[Item]] = {}
        self.options: dict[str, str] = {}
        self.macros: dict[str, tuple[tuple[str, ...], list[Command], bool]] = {}
        self.folder = ""
        self.when: Condition = ALWAYS
        self.blocks: list[_Block] = []
        self.steps = 0
        self.depth = 0
        self._aliases: dict[str, str] = {}
        self._by_pattern: dict[str, list[str]] = {}

    def run_file(self, path: str, text: str) -> None:
        """Read one file in the scope of its includer; a return() ends it."""
        if self.depth >= _MAX_DEPTH:
            return
        when, blocks = self.when, self.blocks
        self.blocks = []
        self.depth += 1
        self.values["CMAKE_CURRENT_LIST_DIR"] = [Item(anchored(os.path.dirname(path)), ALWAYS)]
        try:
            self.run(list(commands(text)))
        except _Return:
            pass
        finally:
            self.depth -= 1
            self.when, self.blocks = when, blocks

    def run(self, body: Sequence[Command]) -> None:
        """Execute commands in order; definitions and loops take their body along."""
        position = 0
        while position < len(body):
            self.steps += 1
            if self.steps > _MAX_STEPS:
                raise _Return
            command = body[position]
            position += 1
            if command.name in ("macro", "function", "foreach", "while"):
                end = end_of(body, position, command.name)
                self._compound(command, list(body[position:end]))
                position = end + 1
            elif self.when:
                self._step(command)
            elif command.name in ("if", "elseif", "else", "endif"):
                self._branch(command)

    def _compound(self, command: Command, body: list[Command]) -> None:
        words = [argument.text for argument in command.arguments]
        if command.name in ("macro", "function") and words:
            if words[0].lower() not in _COMMANDS:
                self.macros[words[0].lower()] = (tuple(words[1:]), body, command.name == "function")
        elif command.name == "foreach" and words and "RANGE" not in words and self.when:
            self._foreach(words[0], command.arguments[1:], body)

    def _foreach(self, name: str, arguments: Sequence[Argument], body: list[Command]) -> None:
        if arguments and arguments[0].text == "IN":
            arguments = [
                Argument(f"${{{argument.text}}}") if argument.text in self.values else argument
                for argument in arguments[1:]
                if argument.text not in ("LISTS", "ITEMS")
            ]
        saved = self.when
        for item in self._expand(arguments):
            self.values[name] = [Item(item.text, ALWAYS)]
            self.when = both(saved, item.when)
            self.run(body)
        self.when = saved

    def _step(self, command: Command) -> None:
        if command.name in ("if", "elseif", "else", "endif"):
            self._branch(command)
        elif command.name == "return":
            self._return()
        elif command.name in _COMMANDS:
            _COMMANDS[command.name](self, command.arguments)
        elif command.name in self.macros:
            self._call(command)

    def _branch(self, command: Command) -> None:
        if command.name == "if":
            condition = self._condition(command.arguments)
            self.blocks.append(_Block(self.when, negate(condition)))
            self.when = both(self.when, condition)
        elif not self.blocks:
            return
        elif command.name == "endif":
            self.when = self.blocks.pop().outside
        else:
            block = self.blocks.pop()
            condition = self._condition(command.arguments) if command.name == "elseif" else ALWAYS
            self.when = both(block.outside, both(block.unclaimed, condition))
            self.blocks.append(_Block(block.outside, both(block.unclaimed, negate(condition))))

    def _return(self) -> None:
        """What follows a return() in this file holds only where its condition did not."""
        if not self.blocks:
            raise _Return
        outer = self.blocks[0].outside
        left = negate(self.when) if self.when != outer else ()
        self.blocks = [_Block(both(block.outside, left), both(block.unclaimed, left)) for block in self.blocks]
        self.when = ()

    def _condition(self, arguments: Sequence[Argument]) -> Condition:
        """The arguments of an if(); a macro's parameter that was given as ${OPTION} speaks of that option."""
        named = [Argument(_REFERENCE.sub(self._alias, argument.text), argument.quoted) for argument in arguments]
        return parse_condition(named, self._default, lambda name: name in self.options)

    def _alias(self, reference: re.Match[str]) -> str:
        return f"${{{self._aliases.get(reference[1], reference[1])}}}"

    def _default(self, name: str) -> str | None:
        """A variable's value when nothing is configured: of an option its initial value, else what the build sets."""
        if name in self.options:
            return self.options[name]
        items = [
            item.text
            for item in self.values.get(name, ())
            if any(all(literal.by_default for literal in clause) for clause in item.when)
        ]
        return ";".join(items) if items else None

    def _call(self, command: Command) -> None:
        parameters, body, is_function = self.macros[command.name]
        if self.depth >= _MAX_DEPTH:
            return
        given = command.arguments
        bound = {name: [given[at]] if at < len(given) else [] for at, name in enumerate(parameters)}
        bound["ARGN"] = list(given[len(parameters) :])
        bound["ARGV"] = list(given)
        expanded = {name: self._expand(arguments) for name, arguments in bound.items()}
        saved = {name: self.values.get(name) for name in expanded}
        aliases = self._aliases
        references = {name: _REFERENCE.fullmatch(given[at].text) for at, name in enumerate(parameters[: len(given)])}
        self._aliases = {name: aliases.get(found[1], found[1]) for name, found in references.items() if found}
        when, blocks = self.when, self.blocks
        self.values |= expanded
        self.depth += 1
        if is_function:
            self.blocks = []
        try:
            self.run(body)
        except _Return:
            if not is_function:
                raise
        finally:
            self.depth -= 1
            self._aliases = aliases
            self.when, self.blocks = when, blocks
            for name, value in saved.items():
                if value is None:
                    self.values.pop(name, None)
                else:
                    self.values[name] = value

    def _expand(self, arguments: Iterable[Argument]) -> list[Item]:
        """Arguments with their references replaced; an unquoted list becomes its elements."""
        result: list[Item] = []
        for argument in arguments:
            if len(result) > _MAX_VALUES:
                break
            result += self._substitute(argument.text, argument.quoted)
        return result

    def _substitute(self, text: str, quoted: bool, depth: int = 0) -> list[Item]:
        reference = _REFERENCE.search(text)
        if reference is None or depth > 4:
            parts = [text] if quoted else text.split(";")
            return [Item(part, ALWAYS) for part in parts if part]
        items = self.values.get(reference[1], [])
        if reference[1] in self.options and not items:
            items = [Item(self.options[reference[1]], ALWAYS)]
        if reference[0] == text:
            return list(items)
        head, tail = text[: reference.start()], text[reference.end() :]
        result: list[Item] = []
        for item in items[:_MAX_VALUES] or [Item("", ALWAYS)]:
            result += [
                Item(inner.text, both(item.when, inner.when))
                for inner in self._substitute(head + item.text + tail, quoted, depth + 1)
            ]
        return result

    def _store(self, name: str, items: Iterable[Item]) -> None:
        """Set a variable under the present conditions; values from outside them stay, as another branch would see."""
        new = [Item(item.text, both(item.when, self.when)) for item in items]
        kept = (
            []
            if self.when == ALWAYS
            else [item for item in self.values.get(name, ()) if not implies(item.when, self.when)]
        )
        self.values[name] = merged([*kept, *new])

    def do_set(self, arguments: Sequence[Argument]) -> None:
        names = self._expand(arguments[:1])
        cut = next(
            (at for at, argument in enumerate(arguments) if argument.text in ("CACHE", "PARENT_SCOPE")), len(arguments)
        )
        if names:
            self._store(names[0].text, self._expand(arguments[1:cut]))

    def do_list(self, arguments: Sequence[Argument]) -> None:
        if len(arguments) < 2:
            return
        action, names = arguments[0].text, self._expand(arguments[1:2])
        if not names:
            return
        name = names[0].text
        known = self.values.get(name, [])
        if action in ("APPEND", "PREPEND"):
            new = [Item(item.text, both(item.when, self.when)) for item in self._expand(arguments[2:])]
            self.values[name] = merged([*known, *new])
        elif action == "REMOVE_ITEM" and self.when == ALWAYS:
            gone = {self._path(item.text) for item in self._expand(arguments[2:])}
            self.values[name] = [item for item in known if self._path(item.text) not in gone]
        elif action == "FILTER" and self.when == ALWAYS and len(arguments) > 4:
            self.values[name] = filtered(known, arguments[4].text, arguments[2].text == "INCLUDE")

    def do_glob(self, arguments: Sequence[Argument]) -> None:
        """file(GLOB|GLOB_RECURSE VAR patterns): the variable holds the paths of the tree that match."""
        if len(arguments) < 2 or arguments[0].text not in ("GLOB", "GLOB_RECURSE"):
            return
        names = self._expand(arguments[1:2])
        patterns = self._expand([argument for argument in arguments[2:] if argument.text not in _GLOB_WORDS])
        found = [
            Item(anchored(path), pattern.when)
            for pattern in patterns
            for path in self._matching(self._path(pattern.text), recursive=arguments[0].text == "GLOB_RECURSE")
        ]
        if names:
            self._store(names[0].text, found)

    def do_target(self, arguments: Sequence[Argument]) -> None:
        """add_library, add_executable, target_sources: what their sources need is now known."""
        words = [argument.text for argument in arguments[:3]]
        if "ALIAS" in words or "IMPORTED" in words:
            return
        for item in self._expand(arguments[1:]):
            if item.text not in _TARGET_WORDS:
                path = self._path(item.text)
                if path:
                    self.built.setdefault(path, set()).update(both(item.when, self.when))

    def do_include(self, arguments: Sequence[Argument]) -> None:
        for item in self._expand(arguments[:1]):
            path = self._path(item.text)
            text = self.read(path) if path else ""
            if text:
                self.run_file(path, text)

    def do_subdirectory(self, arguments: Sequence[Argument]) -> None:
        """A sub-project sees a copy of the variables, and its own folder as the current one."""
        for item in self._expand(arguments[:1]):
            folder = self._path(item.text)
            text = self.read(f"{folder}/CMakeLists.txt") if folder else ""
            if not text:
                continue
            saved, values = self.folder, dict(self.values)
            self.enter(folder)
            self.run_file(f"{folder}/CMakeLists.txt", text)
            self.folder, self.values = saved, values

    def do_option(self, arguments: Sequence[Argument]) -> None:
        """option(NAME "text" [value]) and TVM's tvm_option(NAME "text" value [IF condition]); OFF without a value.

        AUTO counts as on: the build takes the library when it finds it.
        """
        if arguments:
            given = [item.text for item in self._expand(arguments[2:3])]
            self.options.setdefault(arguments[0].text, given[0] if given and given[0] not in ("IF", "if") else "OFF")

    def enter(self, folder: str) -> None:
        """Make `folder` the current one; a sub-folder with a CMakeLists.txt is taken as a project of its own."""
        self.folder = folder
        here = [Item(anchored(folder), ALWAYS)]
        self.values |= {"CMAKE_CURRENT_SOURCE_DIR": here, "PROJECT_SOURCE_DIR": here,
                        "CMAKE_SOURCE_DIR": [Item(ROOT, ALWAYS)]}  # fmt: skip

    def _path(self, text: str) -> str:
        """A path as written, tree-relative; "" for one that lies elsewhere or is not known before the build."""
        if "$" in text or text.startswith("/"):
            return ""
        joined = (
            text[len(ROOT) + 1 :] if text.startswith(f"{ROOT}/") else f"{self.folder}/{text}" if self.folder else text
        )
        normal = os.path.normpath(joined) if joined else ""
        return "" if normal.startswith("..") or normal == "." else normal

    def _matching(self, pattern: str, recursive: bool) -> list[str]:
        """The tree's paths that a GLOB pattern names: `*` stays in one folder; a recursive one looks into all below."""
        if not pattern:
            return []
        regex = glob_regex(pattern, recursive)
        if regex not in self._by_pattern:
            matches = re.compile(regex).fullmatch  # a hundred patterns against a thousand paths
            self._by_pattern[regex] = [path for path in self.paths if matches(path)]
        return self._by_pattern[regex]


_COMMANDS = {
    "set": _Reader.do_set, "list": _Reader.do_list, "file": _Reader.do_glob, "tvm_file_glob": _Reader.do_glob,
    "add_library": _Reader.do_target, "add_executable": _Reader.do_target, "target_sources": _Reader.do_target,
    "cuda_add_library": _Reader.do_target, "include": _Reader.do_include, "option": _Reader.do_option,
    "add_subdirectory": _Reader.do_subdirectory, "tvm_option": _Reader.do_option,
}  # fmt: skip
