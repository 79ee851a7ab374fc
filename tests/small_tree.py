"""A small project on disk: some of the C++ cases with their shared headers, and Python that calls them by key."""

from __future__ import annotations

import shutil
from pathlib import Path

CASES = Path(__file__).parent / "cases" / "cpp"
TAKEN = ("passes.cc", "lambdas.cc", "macros.cc", "static_init_block.cc", "static_init.cc", "templates.cc",
         "visitors.cc", "same_names", "headers")  # fmt: skip
"""Enough units include one header that there is a precompiled one."""

PYTHON = {
    "__init__.py": '"""A package on top of tvm-ffi."""\nfrom .passes import FuseTIR\n',
    "_ffi_api.py": 'import tvm_ffi\n\ntvm_ffi.init_ffi_api("relax.transform", __name__)\n',
    "passes.py": (
        'from . import _ffi_api\n\n\ndef FuseTIR():\n    """Fuse."""\n    return _ffi_api.FuseTIR()\n\n\n'
        "def fold():\n    return _ffi_api.FoldConstant()\n\n\nclass Pipeline:\n    def run(self):\n"
        "        return [step() for step in (FuseTIR, fold)]\n"
    ),
    "lookups.py": (
        "import tvm_ffi\n\n\ndef known():\n    return tvm_ffi.get_global_func('tirx.Fold')(1)\n\n\n"
        "def missing():\n    return tvm_ffi.get_global_func('nobody.defines.it')()\n\n\n"
        "@tvm_ffi.register_global_func('from.python')\ndef registered(x):\n    return (lambda y: y + x)(1)\n"
    ),
}


def make_tree(root: Path) -> Path:
    """Write the project below `root`, which must not exist."""
    shutil.copytree(CASES / "include", root / "include")
    (root / "src").mkdir()
    for name in TAKEN:
        if (CASES / name).is_dir():
            shutil.copytree(CASES / name, root / "src" / name)
        else:
            shutil.copy(CASES / name, root / "src" / name)
    package = root / "python" / "pkg"
    package.mkdir(parents=True)
    for name, text in PYTHON.items():
        (package / name).write_text(text, "utf-8")
    return root
