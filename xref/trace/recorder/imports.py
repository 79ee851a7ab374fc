"""Tells the recorder when a module has been imported, or could not be.

A finder in front of sys.meta_path lends the module a loader that reports and then steps back: once the module has run,
its loader is the one that it would have had anyway.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Told = Callable[[Any, BaseException | None], None]
    """Called with the module, and with the exception when its code raised one."""


class ImportWatch:
    """A meta path finder. `wanted` maps a module's name to who is told, once."""

    def __init__(self, wanted: dict[str, Told]) -> None:
        self._wanted = wanted

    def start(self) -> None:
        """Watch from now on; what is there already is told at once."""
        for name in [name for name in self._wanted if name in sys.modules]:
            self._wanted.pop(name)(sys.modules[name], None)
        sys.meta_path.insert(0, self)

    def stop(self) -> None:
        """Watch no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The spec that the other finders have, with a loader that reports; None for modules not wanted."""
        if name not in self._wanted:
            return None
        told = self._wanted.pop(name)
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if finder is not self and find is not None else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, told)
                return spec
        self._wanted[name] = told
        return None


class _Loader:
    """Runs a module by its own loader, then reports."""

    def __init__(self, loader: Any, told: Told) -> None:
        self._loader = loader
        self._told = told

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        """As the module's own loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """As the module's own loader does; the module sees that loader only."""
        module.__spec__.loader = module.__loader__ = self._loader
        try:
            self._loader.exec_module(module)
        except BaseException as error:
            self._told(module, error)
            raise
        self._told(module, None)
