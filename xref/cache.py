"""Where xref keeps what can be made or fetched again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Where downloads are kept: $XREF_CACHE, else xref/ below $XDG_CACHE_HOME or ~/.cache."""
    chosen = os.environ.get("XREF_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "xref"


def pch_folder() -> Path:
    """Where precompiled headers are kept from one run to the next: $XREF_PCH_CACHE, else pch/ in `cache_folder`."""
    chosen = os.environ.get("XREF_PCH_CACHE")
    return Path(chosen) if chosen else cache_folder() / "pch"


def toolchain_file() -> Path:
    """Where the compiler's headers that were found last are kept: toolchain.json beside the precompiled headers."""
    return pch_folder() / "toolchain.json"
