"""A file of the site, as its maker hands it to whoever writes it.

A maker that can say cheaply what a file shows gives its mark; where the site in place has the file with the same mark,
it is neither rendered nor written again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from xref.site.assets import digest, render, script_data


class Output(NamedTuple):
    """A file to write: its address below the site's folder, its text or what makes it, and a mark of what it shows.

    Without a mark ("") it is always written.
    """

    url: str
    text: str | Callable[[], str]
    mark: str = ""

    def content(self) -> str:
        """The text."""
        return self.text if isinstance(self.text, str) else self.text()


def page(url: str, template: str, finish: Callable[[str], str] = str, **values: Any) -> Output:
    """A page whose mark covers all that its template is given; `finish` changes the text, by the address alone.

    `values` are plain data: what has no `repr` of its own would differ in every build, and cost only time.
    """
    return Output(url, lambda: finish(render(template, **values)), digest((template, sorted(values.items()))))


def data(url: str, value: object) -> Output:
    """A data file with a mark."""
    return Output(url, partial(script_data, url, value), digest(value))
