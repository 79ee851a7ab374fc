"""The tree's folders: a page for each, and the subsystems that the overview lists."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field

from xref.site import urls
from xref.site.outputs import Output, page
from xref.site.plan import SitePlan
from xref.site.source_pages import crumbs

_SHARE = 0.12
"""A folder with a larger share of a language's files is shown by its subfolders."""
_FEW = 30
_TINY = 2
"""A subfolder with so few files counts with the folder around it."""


@dataclass(slots=True)
class Size:
    """What a folder or a file holds, subfolders included."""

    files: int = 0
    lines: int = 0
    symbols: int = 0

    def add(self, other: Size) -> None:
        """Count `other` too."""
        self.files += other.files
        self.lines += other.lines
        self.symbols += other.symbols


@dataclass(slots=True)
class Folder:
    """A folder: names of its subfolders, positions of its files, sizes by language ("" for all)."""

    path: str
    folders: set[str] = field(default_factory=set)
    files: list[int] = field(default_factory=list)
    sizes: dict[str, Size] = field(default_factory=dict)

    @property
    def total(self) -> Size:
        """All languages together."""
        result = Size()
        for size in self.sizes.values():
            result.add(size)
        return result


class Folders:
    """All folders of the files that have a page."""

    def __init__(self, plan: SitePlan) -> None:
        self._plan = plan
        self.by_path: dict[str, Folder] = {"": Folder("")}
        for position, file in enumerate(plan.files):
            size = self._size(position)
            path = posixpath.dirname(file.path)
            self._folder(path).files.append(position)
            while True:
                self.by_path[path].sizes.setdefault(file.lang, Size()).add(size)
                if not path:
                    break
                path = posixpath.dirname(path)

    def _size(self, position: int) -> Size:
        return Size(1, self._plan.files[position].lines, len(self._plan.in_file.get(position, ())))

    def _folder(self, path: str) -> Folder:
        if path not in self.by_path:
            self.by_path[path] = Folder(path)
            self._folder(posixpath.dirname(path)).folders.add(posixpath.basename(path))
        return self.by_path[path]

    def subsystems(self, lang: str) -> list[tuple[str, Size]]:
        """The folders that divide a language's files into parts that a person can survey, in path order."""
        root = self.by_path[""]
        if lang not in root.sizes:
            return []
        most = max(_FEW, int(root.sizes[lang].files * _SHARE))
        result: list[tuple[str, Size]] = []

        def visit(folder: Folder) -> None:
            inner = [self.by_path[posixpath.join(folder.path, name)] for name in sorted(folder.folders)]
            inner = [each for each in inner if lang in each.sizes]
            own = [self._size(at) for at in folder.files if self._plan.files[at].lang == lang]
            if len(inner) == 1 and not own:
                visit(inner[0])
                return
            if folder.sizes[lang].files <= most or not inner:
                result.append((folder.path, folder.sizes[lang]))
                return
            rest = Size()
            for size in (*own, *(each.sizes[lang] for each in inner if each.sizes[lang].files <= _TINY)):
                rest.add(size)
            if rest.files:
                result.append((folder.path, rest))
            for each in inner:
                if each.sizes[lang].files > _TINY:
                    visit(each)

        visit(root)
        return sorted(result)

    def pages(self, site: str) -> Iterator[Output]:
        """A page for each folder."""
        for path, folder in sorted(self.by_path.items()):
            url = urls.folder_url(path)
            inner = [
                (name, urls.folder_url(posixpath.join(path, name)), self.by_path[posixpath.join(path, name)].total)
                for name in sorted(folder.folders)
            ]
            files = [
                (file, urls.source_url(file.path), len(self._plan.in_file.get(position, ())))
                for position, file in ((at, self._plan.files[at]) for at in folder.files)
            ]
            yield page(
                url, "folder.html.j2", title=path or "Files", site=site, root=urls.root_of(url), path=path,
                crumbs=crumbs(path) if path else [], name=posixpath.basename(path), folders=inner, files=files,
                total=folder.total,
            )  # fmt: skip
