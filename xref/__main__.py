"""`python -m xref`: the same as the command `xref`."""

from xref.cli.verbs import main

if __name__ == "__main__":
    main()
