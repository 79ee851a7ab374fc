"""What runs inside the traced interpreter, which need not have xref: standard library only, Python 3.9 or newer.

`xref trace` copies this folder beside its sitecustomize.py. Nothing here prints, raises into the script, starts a
thread, or imports a module that the script could have replaced: at startup only built-in modules are used (not even
typing), and ctypes only once tvm_ffi, which needs it, is there.
"""
