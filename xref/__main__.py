"""`python -m xref`, and the command `xref`: imports the verbs, so that Ctrl-C is answered from the first moment on."""

from __future__ import annotations

import sys
from typing import NoReturn

_INTERRUPTED = 130
"""ExitCode.INTERRUPTED of xref.model, which may be what is being imported."""


def main() -> NoReturn:
    """Run one verb and exit with its code."""
    try:
        from xref.cli.verbs import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("xref: interrupted: nothing was changed\n")
        sys.exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
