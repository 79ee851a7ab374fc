"""Value flow: which functions, classes and objects reach a call, an operator or an attribute of the Python code.

Each file yields a summary of constraints from its syntax alone (build.py); the link stage solves the summaries of the
whole tree together (solver.py), with the calls that the type checker resolved as further constraints.
"""
