"""What Python registers besides FFI functions: a row that is missed is an operator that nobody legalizes, a tag that
nobody defines, a converter that nobody finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from python_case import Names, index

from xref.model import FileFacts

TVM = {
    "python/tvm/__init__.py": "from . import ir, target\n",
    "python/tvm/ir/__init__.py": "from .op import Op, register_op_attr, register_intrin_lowering\n",
    "python/tvm/ir/op.py": (
        "class Op:\n"
        "    @staticmethod\n"
        "    def get(op_name): ...\n"
        "def register_op_attr(op_name, attr_key, value=None, level=10): ...\n"
        "def register_intrin_lowering(op_name, target, *, f=None, level=10): ...\n"
    ),
    "python/tvm/target/__init__.py": "from .tag import register_tag\nclass Target: ...\n",
    "python/tvm/target/tag.py": "def register_tag(name, config, override=False): ...\n",
    "python/tvm/common.py": (
        "import tvm\n"
        "_NAME = 'FLegalize'\n"
        "def register_legalize(op_name, legal_func=None):\n"
        "    return tvm.ir.register_op_attr(op_name, _NAME, legal_func)\n"
    ),
}


@pytest.fixture(name="scratch")
def scratch_fixture(tmp_path: Path) -> Path:
    (tmp_path / "scratch").mkdir()
    return tmp_path


def _facts(scratch: Path, code: str, path: str = "python/tvm/x.py") -> tuple[FileFacts, Names]:
    for name, text in (TVM | {path: code}).items():
        (scratch / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (scratch / "tree" / name).write_text(text, "utf-8")
    facts = index(scratch / "tree", scratch / "scratch")
    return facts[path], Names(facts.values())


def _keys(scratch: Path, code: str, path: str = "python/tvm/x.py") -> list[tuple[str, str, int, str]]:
    facts, names = _facts(scratch, code, path)
    return sorted((k.registry, k.name, k.line, names.of(k.symbol)) for k in facts.key_defs)


def test_a_setter_of_attributes_is_known_by_what_it_hands_on(scratch: Path) -> None:
    """relax/transform/legalize_ops/common.py:125; Relay alone had thirty such functions. What a call returns is what
    the key runs, if that is a function which the callee makes; never the callee."""
    code = (
        "import tvm\n"
        "from .common import register_legalize\n"
        "def _binary(te):\n"
        "    def call(bb, call): ...\n"
        "    return call\n"
        "register_legalize('relax.add', _binary(max))\n"
        "def _wrapped(te):\n"
        "    return lambda bb, call: te(call)\n"
        "register_legalize('relax.abs', _wrapped(max))\n"
        "def _either(te):\n"
        "    return te if te else _wrapped(te)\n"
        "register_legalize('relax.sub', _either(max))\n"
        "def _changed(te):\n"
        "    def call(bb, call): ...\n"
        "    call = te(call)\n"
        "    return call\n"
        "register_legalize('relax.mul', _changed(max))\n"
        "@register_legalize('relax.nn.conv2d')\n"
        "def _conv2d(bb, call): ...\n"
        "for name in ('relax.exp', 'relax.log'):\n"
        "    tvm.ir.register_op_attr(name, 'FPurity', _conv2d)\n"
        "tvm.ir.register_intrin_lowering('tirx.exp', target='opencl', f=_conv2d)\n"
    )
    assert _keys(scratch, code) == [
        ("op_attr", "relax.abs:FLegalize", 9, "tvm.x._wrapped.<lambda>"),
        ("op_attr", "relax.add:FLegalize", 6, "tvm.x._binary.call"),
        ("op_attr", "relax.exp:FPurity", 20, "tvm.x._conv2d"),
        ("op_attr", "relax.log:FPurity", 20, "tvm.x._conv2d"),
        ("op_attr", "relax.mul:FLegalize", 17, "-"),
        ("op_attr", "relax.nn.conv2d:FLegalize", 18, "tvm.x._conv2d"),
        ("op_attr", "relax.sub:FLegalize", 12, "-"),
        ("op_attr", "tirx.exp:opencl.FLowerIntrinsic", 22, "tvm.x._conv2d"),
    ]


def test_names_that_loops_and_helpers_complete_are_evaluated(scratch: Path) -> None:
    """backend/hexagon/target_tags.py (a loop over a table), backend/cuda/target_tags.py (a helper)."""
    code = (
        "from tvm.target import register_tag\n"
        "VERSIONS = {\n"
        "    'v65': {'vtcm': 2**18},\n"
        "    'v66': {'vtcm': 2**19},\n"
        "}\n"
        "for version, info in VERSIONS.items():\n"
        "    register_tag('qcom/hexagon-' + version, {'vtcm': info['vtcm']})\n"
        "def _cuda(name, arch, **extra):\n"
        "    register_tag(f'nvidia/{name}', {'arch': arch} | extra)\n"
        "_cuda('a100', 'sm_80')\n"
        "_cuda('h100', arch='sm_90a', cache=1)\n"
        "def later(name):\n"
        "    register_tag(name, {})\n"
    )
    facts, _ = _facts(scratch, code)
    assert sorted((k.name, k.line) for k in facts.key_defs) == [
        ("nvidia/a100", 10), ("nvidia/h100", 11), ("qcom/hexagon-v65", 3), ("qcom/hexagon-v66", 4),
    ]  # fmt: skip
    assert [(u.line, u.text) for u in facts.unresolved if "tag" in u.reason] == [(13, "name")]


def test_a_table_of_objects_in_another_module_names_what_is_registered(scratch: Path) -> None:
    """backend/cuda/ptx: table.py holds the rows, engine.py registers an operator for each, __init__.py joins them."""
    files = {
        "table.py": (
            "from dataclasses import dataclass\n"
            "def _check(m): ...\n"
            "@dataclass(frozen=True)\n"
            "class Entry:\n"
            "    name: str\n"
            "    operands: tuple = ()\n"
            "    mnemonic: str | None = None\n"
            "    @property\n"
            "    def op_name(self) -> str:\n"
            "        'The operator.'\n"
            "        return f'tirx.ptx.{self.name}'\n"
            "    @property\n"
            "    def family(self) -> str:\n"
            "        return (self.mnemonic or self.name).replace('.', '_')\n"
            "_ROWS = [\n"
            "    Entry('fns', (1, 2)),\n"
            "    *[Entry(name='cp' + ('_bulk' if bulk else ''), mnemonic='cp.async', operands=check)\n"
            "      for bulk, check in ((False, _check), (True, None))],\n"
            "]\n"
            "TABLE: dict[str, Entry] = {e.name: e for e in _ROWS}\n"
        ),
        "engine.py": (
            "from tvm.ir.op import register_op_attr\n"
            "def register_table(table):\n"
            "    for entry in table.values():\n"
            "        register_op_attr(entry.op_name, 'TIRxOpCategory', 'device')\n"
        ),
        "__init__.py": "from .engine import register_table\nfrom .table import TABLE\nregister_table(TABLE)\n",
    }
    folder = scratch / "tree/python/tvm/ptx"
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    for name, text in TVM.items():
        (scratch / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (scratch / "tree" / name).write_text(text, "utf-8")
    engine = index(scratch / "tree", scratch / "scratch")["python/tvm/ptx/engine.py"]
    assert [(k.name, k.line, k.note) for k in engine.key_defs] == [
        ("tirx.ptx.fns:TIRxOpCategory", 4, "for the row at python/tvm/ptx/table.py:16"),
        ("tirx.ptx.cp:TIRxOpCategory", 4, "for the row at python/tvm/ptx/table.py:17"),
        ("tirx.ptx.cp_bulk:TIRxOpCategory", 4, "for the row at python/tvm/ptx/table.py:17"),
    ]
    assert [u for u in engine.unresolved if "operator" in u.reason] == []


@pytest.mark.parametrize(
    "value",
    [
        "'a' * 10**9",
        "'%1000000000d' % 1",
        "'{:>1000000000}'.format(1)",
        "str(range(10**12))",
        "X",
        "str([*range(10**9)])",
        "'-'.join([str(b) for a in range(4000) for b in range(4000)])",
    ],
)
def test_no_expression_of_a_stranger_fills_the_memory(scratch: Path, value: str) -> None:
    """The tree is a stranger's: a string that cannot be told is unresolved, whatever it would cost to tell it."""
    doubled = "".join(f"X{i + 1} = X{i} + X{i}\n" for i in range(60))
    code = f"from tvm.target import register_tag\nX0 = 'ab'\n{doubled}X = X60\nregister_tag({value}, {{}})\n"
    facts, _ = _facts(scratch, code)
    assert [k for k in facts.key_defs if len(k.name) > 5000] == []


def test_tables_of_converters_answer_which_function_converts(scratch: Path) -> None:
    """relax/frontend/onnx/onnx_frontend.py:5750 (classes), torch/exported_program_translator.py:1884 (methods)."""
    rows = "".join(f"            'op{i}': self._unary,\n" for i in range(8))
    code = (
        "class Importer:\n"
        "    def _conv2d(self, node): ...\n"
        "    def _unary(self, node): ...\n"
        "    def create_convert_map(self):\n"
        f"        return {{\n            'conv2d.default': self._conv2d,\n{rows}        }}\n"
    )
    keys = _keys(scratch, code, "python/tvm/relax/frontend/torch/translator.py")
    assert keys[0] == (
        "frontend", "torch:conv2d.default", 6, "tvm.relax.frontend.torch.translator.Importer._conv2d",
    )  # fmt: skip
    assert len(keys) == 9


def test_a_converter_leads_to_the_method_of_each_version(scratch: Path) -> None:
    """relax/frontend/onnx/onnx_frontend.py: which function converts Conv is a matter of the model's opset."""
    rows = "".join(f"        'Op{i}': Base,\n" for i in range(8))
    code = (
        "class Base:\n"
        "    def _impl_v1(cls, node): ...\n"
        "    def _implement(cls, node): ...\n"
        "class Conv(Base):\n"
        "    def _impl_v11(cls, node): ...\n"
        f"def _get_convert_map():\n    return {{\n        'Conv': Conv,\n{rows}    }}\n"
    )
    facts, names = _facts(scratch, code, "python/tvm/relax/frontend/onnx/onnx_frontend.py")
    module = "tvm.relax.frontend.onnx.onnx_frontend"
    assert [(names.of(k.symbol), k.note) for k in facts.key_defs if k.name == "onnx:Conv"] == [
        (f"{module}.Conv", ""),
        (f"{module}.Base._impl_v1", "from opset 1 on"),
        (f"{module}.Conv._impl_v11", "from opset 11 on"),
    ]


def test_a_visitor_leads_to_the_methods_that_handle_nodes(scratch: Path) -> None:
    """relax/backend/metal/coreml.py:281: C++ calls the handlers back, no call of theirs is in the file."""
    functor = "class PyExprVisitor:\n    def visit_expr(self, e): ...\n    def visit_call_(self, op): ...\n"
    (scratch / "tree/python/tvm/relax").mkdir(parents=True)
    (scratch / "tree/python/tvm/relax/__init__.py").write_text("")
    (scratch / "tree/python/tvm/relax/expr_functor.py").write_text(functor)
    code = (
        "from tvm.relax.expr_functor import PyExprVisitor\n"
        "class Collector(PyExprVisitor):\n"
        "    def visit_call_(self, op: Call): ...\n"
        "    def visit_tuple_(self, op): ...\n"
        "    def run(self, e):\n"
        "        return self.visit_expr(e)\n"
    )
    facts, names = _facts(scratch, code)
    assert sorted(k.name for k in facts.key_defs) == ["tvm.x.Collector:Call", "tvm.x.Collector:Tuple"]
    edges = {(names.of(c.caller), names.of(c.callee), c.line) for c in facts.calls if c.evidence == "dispatch"}
    assert edges == {
        ("tvm.x.Collector.run", "tvm.x.Collector.visit_call_", 6),
        ("tvm.x.Collector.run", "tvm.x.Collector.visit_tuple_", 6),
    }


def test_attributes_and_symbols_are_joined_by_their_value(scratch: Path) -> None:
    """s_tir/meta_schedule/tune_context.py:52; contrib/cutlass/build.py:808."""
    code = (
        "def f(func, target, vm, table: 'dict'):\n"
        "    func = func.with_attr('global_symbol', 'main')\n"
        "    if func.attrs['Composite'] and target.attrs.get('mcpu'):\n"
        "        vm['invoke_stateful'](1)\n"
        "    return table['plain']\n"
    )
    facts, _ = _facts(scratch, code)
    assert sorted((u.registry, u.name, u.line, u.calls) for u in facts.key_uses) == [
        ("attr", "Composite", 3, False),
        ("attr", "global_symbol", 2, False),
        ("symbol", "invoke_stateful", 4, True),
        ("target_option", "*:mcpu", 3, False),
    ]


def test_a_pipeline_leads_from_its_name_to_its_passes(scratch: Path) -> None:
    """tvm/relax/pipeline.py:213, s_tir/backend/adreno/pipeline.py:124: the road from tvm.compile to any pass."""
    code = (
        "def zero(): ...\n"
        "def other(): ...\n"
        "PIPELINE_MAP = {'zero': zero}\n"
        "PIPELINE_MAP['other'] = other\n"
        "def get_pipeline(name='zero', **kwargs):\n"
        "    return PIPELINE_MAP[name](**kwargs)\n"
        "def build():\n"
        "    return get_pipeline('zero')\n"
    )
    facts, names = _facts(scratch, code, "python/tvm/relax/pipeline.py")
    assert [(k.name, names.of(k.symbol)) for k in facts.key_defs] == [
        ("relax:zero", "tvm.relax.pipeline.zero"), ("relax:other", "tvm.relax.pipeline.other"),
    ]  # fmt: skip
    assert sorted((u.name, u.line, u.calls) for u in facts.key_uses) == [("relax:*", 6, True), ("relax:zero", 8, False)]


def test_methods_that_cpp_calls_back_are_keys(scratch: Path) -> None:
    """s_tir/meta_schedule/postproc/postproc.py:144: the order of the constructor's parameters decides, not names."""
    code = (
        "class _PyPostproc:\n"
        "    def __init__(self, name, f_initialize_with_tune_context=None, f_as_string=None): ...\n"
        "class PyPostproc:\n"
        "    _tvm_metadata = {\n"
        "        'cls': _PyPostproc,\n"
        "        'fields': ['name'],\n"
        "        'methods': ['_initialize_with_tune_context', '__str__', 'clone'],\n"
        "    }\n"
        "    def clone(self): ...\n"
    )
    facts, names = _facts(scratch, code)
    assert [(k.registry, k.name, k.note, names.of(k.symbol)) for k in facts.key_defs] == [
        ("callback", "tvm.x._PyPostproc:f_initialize_with_tune_context",
         "_initialize_with_tune_context of tvm.x.PyPostproc", "-"),
        ("callback", "tvm.x._PyPostproc:f_as_string", "__str__ of tvm.x.PyPostproc", "-"),
        ("callback", "tvm.x._PyPostproc:f_clone", "clone of tvm.x.PyPostproc", "tvm.x.PyPostproc.clone"),
    ]  # fmt: skip
