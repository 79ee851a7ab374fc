"""A file of the site, as its maker hands it to whoever writes it."""

from __future__ import annotations

from typing import NamedTuple


class Output(NamedTuple):
    """A file to write: its address below the site's folder, and its text."""

    url: str
    text: str
