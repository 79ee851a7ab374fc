"""Edits to time a re-index by: what they change in a tree, chosen by size and by dependents, never by name."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

_CPP = """
namespace xref_bench {{
inline int added_{0}(int n) {{ return n + 1; }}
inline int caller_{0}() {{ return added_{0}(2); }}
}}
"""
_PYTHON = "\n\ndef xref_bench_added_{0}():\n    return xref_bench_added_{0}\n"


@dataclass(frozen=True)
class Edit:
    """A change of one file. `units` is the number of C++ units that see it: 0 of a Python module."""

    name: str
    path: str
    units: int

    @property
    def is_cpp(self) -> bool:
        """Whether an indexer of C++ has to act."""
        return not self.path.endswith(".py")

    def apply(self, root: Path) -> None:
        """Append a function and a call of it to the file under `root`."""
        number = sum(self.path.encode())
        with (root / self.path).open("a", encoding="utf-8") as stream:
            stream.write((_CPP if self.is_cpp else _PYTHON).format(number))


def choose(db: Path) -> list[Edit]:
    """An edit of each kind for the tree that the index at `db` describes; a kind that the tree lacks is left out.

    The unit and the Python module are those of median length, the header is the one with the median number of units
    among those under src.
    """
    with closing(sqlite3.connect(db)) as connection:

        def files(where: str) -> list[str]:
            ordered = f"SELECT path FROM files WHERE status = 'ok' AND {where} ORDER BY lines, path"
            return [path for (path,) in connection.execute(ordered)]

        units, modules = files("path LIKE 'src/%.cc'"), files("path LIKE '%.py'")
        dependents = _dependents(connection)
    private = sorted((count, path) for path, count in dependents.items() if path.startswith("src/"))
    edits = []
    if units:
        edits.append(Edit("a unit", units[len(units) // 2], 1))
    if private:
        count, path = private[len(private) // 2]
        edits.append(Edit("a private header", path, count))
    if modules:
        edits.append(Edit("a Python module", modules[len(modules) // 2], 0))
    return edits


def _dependents(connection: sqlite3.Connection) -> dict[str, int]:
    """Header of the tree -> the number of .cc files that include it, directly or through others."""
    includers: dict[str, list[str]] = {}
    for path, included in connection.execute("SELECT path, target_path FROM includes"):
        includers.setdefault(included, []).append(path)
    found = {}
    for header in includers:
        seen, left = {header}, [header]
        while left:
            new = set(includers.get(left.pop(), ())) - seen
            seen |= new
            left.extend(new)
        count = sum(path.endswith(".cc") for path in seen)
        if count and header.endswith(".h"):
            found[header] = count
    return found
