"""Questions and answers, on the shape of FuseTIR: what a user asks must be understood, what is shown must be true."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from conftest import (
    BUILDER,
    CALLERS,
    CREATOR,
    EMIT,
    FUSE_TIR_CC,
    INNER,
    KEY,
    TRANSFORM_PY,
    WRAPPER,
    build,
    cpp,
    id_of,
    py,
)

from xref.model import Call, Evidence, FileFacts, KeyDef, Lang, Relation, XrefError
from xref.query.json import answer_object
from xref.query.language import TERMS, Answer, Options, ask, parse_question, run
from xref.query.names import find
from xref.query.text import WIDTH, answer_lines, shorten_name, trouble_lines
from xref.store import open_index


def text_of(answer: Answer, limit: int = 0) -> str:
    return "\n".join(answer_lines(answer, limit))


def found(db: sqlite3.Connection, text: str, lang: str | None = None) -> list[str]:
    return [f"{symbol.qualname} {symbol.signature}".strip() for symbol in find(db, text, lang).symbols]


# the language


@pytest.mark.parametrize(("phrase", "verb"), TERMS)
def test_every_phrase_leads_to_its_verb(phrase: str, verb: str) -> None:
    text = phrase.replace("{a}", "relax::FuseTIR").replace("{b}", "f(const CallNode* op)")
    expected = ("relax::FuseTIR", "f(const CallNode* op)") if "{b}" in phrase else ("relax::FuseTIR",)
    assert parse_question(text) == (verb, expected)
    assert parse_question(text.upper().replace("RELAX::FUSETIR", "relax::FuseTIR") + " ?")[0] == verb


def test_small_words_around_a_name_do_not_matter() -> None:
    assert parse_question("Who  calls the C++ function `FuseTIR`?") == ("callers", ("FuseTIR",))
    assert parse_question("what is key relax.transform.FuseTIR") == ("key", ("relax.transform.FuseTIR",))


def test_a_bare_name_asks_for_the_overview() -> None:
    assert parse_question("A::VisitExpr_(const CallNode* op)") == ("overview", ("A::VisitExpr_(const CallNode* op)",))
    assert parse_question("X::operator bool") == ("overview", ("X::operator bool",))


@pytest.mark.parametrize("text", ["make me a sandwich", "who sings FuseTIR", ""])
def test_what_cannot_be_read_says_what_can_be_asked(text: str) -> None:
    with pytest.raises(XrefError, match="who calls X") as error:
        parse_question(text)
    assert error.value.exit_code == 2


# who calls FuseTIR


def test_who_calls_fuse_tir(db: sqlite3.Connection) -> None:
    """The answer that xref is for: both C++ functions, the key, the wrapper, its callers, and why no C++ caller."""
    lines = text_of(ask(db, "who calls FuseTIR")).splitlines()
    text = "\n".join(lines)
    for place in (
        f"{FUSE_TIR_CC}:1271",
        f"{FUSE_TIR_CC}:1264",
        f"{FUSE_TIR_CC}:1290  registers ffi key {KEY}",
        f"{FUSE_TIR_CC}:1273  direct  ",
        f"{TRANSFORM_PY}:815",
        f"{TRANSFORM_PY}:823  registry  tvm.relax.transform.transform.FuseTIR",
        f"{TRANSFORM_PY}:823  calls key {KEY}",
        *(f"{path}:{line}  direct  " for path, (_, line) in CALLERS.items()),
    ):
        assert re.search(rf"^ *{re.escape(place)}", text, re.MULTILINE), place
    assert f"no C++ caller: it is reached only through the ffi key {KEY} registered at {FUSE_TIR_CC}:1290" in (
        " ".join(text.split())
    )
    assert text.count("  direct  ") == 8
    assert max(map(len, lines)) <= WIDTH


def test_who_calls_fuse_tir_as_json(db: sqlite3.Connection) -> None:
    answer = answer_object(ask(db, "who calls FuseTIR"))
    assert (answer["schema"], answer["question"]) == (1, "who calls FuseTIR")
    matches = {match["symbol"]: match for match in answer["matches"]}
    creator = matches[CREATOR.qualname]
    assert (creator["lang"], creator["path"], creator["line"], creator["keys"]) == ("cpp", FUSE_TIR_CC, 1271, [KEY])
    assert creator["callers"] == [
        {
            "name": WRAPPER.qualname,
            "path": TRANSFORM_PY,
            "line": 823,
            "col": 12,
            "evidence": "registry",
            "via": KEY,
            "runs": {},
            "run_ns": {},
        }
    ]
    assert creator["why_none"].startswith("no C++ caller: it is reached only through the ffi key")
    assert matches[INNER.qualname]["why_none"] is None
    wrapper = matches[WRAPPER.qualname]
    assert wrapper["public"] == "tvm.relax.transform.FuseTIR"
    assert {(c["path"], c["line"]) for c in wrapper["callers"]} == {(p, line) for p, (_, line) in CALLERS.items()}
    assert wrapper["crossings"][0]["registered"] == f"{FUSE_TIR_CC}:1290"


def test_the_wrapper_is_shown_though_only_the_cpp_function_was_named(db: sqlite3.Connection) -> None:
    answer = ask(db, f"who calls {CREATOR.qualname}")
    assert [(match.symbol.qualname, match.through) for match in answer.matches] == [
        (CREATOR.qualname, ""),
        (WRAPPER.qualname, KEY),
    ]
    assert len(answer.matches[1].calls) == 7


def test_a_wrapper_that_is_a_constructor_is_shown_as_its_class(tmp_path: Path) -> None:
    """TVM's Python nodes call their key in `__init__`; their users write `While(...)`."""
    runs = cpp("lambda", "n::{init: n.While}::{lambda: n.While}", 3)
    node = py("class", "n.stmt.While", 1)
    init = py("method", "n.stmt.While.__init__", 2, "__init__(self)", parent=id_of(node))
    user = py("function", "n.stmt.visit", 9)
    cc = FileFacts("a.cc", Lang.CPP, symbols=[runs], key_defs=[KeyDef("ffi", "n.While", "cpp", 3, id_of(runs))])
    calls = [
        Call(id_of(init), id_of(runs), Evidence.REGISTRY, 2, 9, "n.While"),
        Call(id_of(user), id_of(init), Evidence.DIRECT, 9, 1),
    ]
    build(tmp_path / "x.db", [cc, FileFacts("n/stmt.py", Lang.PYTHON, symbols=[node, init, user], calls=calls)])
    db = open_index(tmp_path / "x.db")
    for question in ("who calls n.While", "who calls {lambda: n.While}"):
        lambda_, wrapper = ask(db, question).matches
        assert lambda_.why_none is not None
        assert wrapper.symbol.qualname == "n.stmt.While"
        assert [use.registered for use in wrapper.uses] == ["a.cc:3"]
        assert [site.name for site in wrapper.calls] == ["n.stmt.visit"]
    db.close()


def test_a_virtual_method_is_called_through_its_base(db: sqlite3.Connection) -> None:
    calls = ask(db, "callers of FusedTIRConstructor::VisitExpr_(const CallNode*)").matches[0].calls
    assert [(site.name, site.line, site.evidence) for site in calls] == [
        ("tvm::relax::ExprVisitor::VisitExpr", 155, "virtual")
    ], "the super call at line 300 dispatches nowhere"


def test_a_call_on_another_branch_of_the_hierarchy_cannot_reach_a_method(tmp_path: Path) -> None:
    base, left, right = (cpp("class", f"n::{name}", line) for line, name in enumerate(("Base", "Left", "Right"), 1))
    f, g = (cpp("method", f"{c.qualname}::f", 9 + c.line, "void f()", parent=id_of(c)) for c in (base, left))
    caller = cpp("function", "n::use", 30)
    facts = FileFacts("a.cc", Lang.CPP, symbols=[base, left, right, f, g, caller])
    facts.relations = [
        Relation(id_of(left), "base", id_of(base)),
        Relation(id_of(right), "base", id_of(base)),
        Relation(id_of(g), "overrides", id_of(f)),
    ]
    facts.calls = [
        Call(id_of(caller), id_of(f), Evidence.DIRECT, 31, 1, "n::Right"),
        Call(id_of(caller), id_of(f), Evidence.DIRECT, 32, 1, "n::Base"),
        Call(id_of(caller), id_of(g), Evidence.VIRTUAL, 32, 1, "n::Base"),
        Call(id_of(caller), id_of(f), Evidence.DIRECT, 33, 1, "n::Left"),
    ]
    build(tmp_path / "x.db", [facts])
    db = open_index(tmp_path / "x.db")
    calls = ask(db, "who calls Left::f").matches[0].calls
    assert [(site.line, site.evidence, site.via) for site in calls] == [
        (32, "virtual", "n::Base"),
        (33, "virtual", "n::Left"),
    ]
    db.close()


def test_calling_a_class_runs_its_constructor(db: sqlite3.Connection) -> None:
    (match,) = ask(db, "who calls TIRFuseMutator").matches
    assert [(site.name, site.line) for site in match.calls] == [("tvm::relax::TIRFuseMutator::Transform", 1062)]


def test_kinds_of_evidence_can_be_asked_for(db: sqlite3.Connection) -> None:
    (match,) = run(
        db, "callers", ("FusedTIRConstructor::VisitExpr_(TupleNode)",), Options(evidence=("direct",))
    ).matches
    assert match.calls == []
    assert match.why_none == "none with evidence direct; 1 with other evidence"


def test_callers_of_callers(db: sqlite3.Connection) -> None:
    (match, _) = run(db, "callers", (CREATOR.qualname,), Options(depth=2)).matches
    assert [site.depth for site in match.calls] == [1] + [2] * 7
    assert {site.toward for site in match.calls[1:]} == {WRAPPER.qualname}


# other verbs


def test_callees_include_those_of_the_lambdas(db: sqlite3.Connection) -> None:
    (match,) = ask(db, f"what does {CREATOR.qualname} call").matches
    assert [(site.name, site.place, site.inside) for site in match.calls] == [
        (INNER.qualname, f"{FUSE_TIR_CC}:1264", "{lambda: pass_func}")
    ]
    assert "1 call from it" in text_of(ask(db, f"callees of {CREATOR.qualname}"))


def test_callees_tell_what_is_missing(db: sqlite3.Connection) -> None:
    text = text_of(ask(db, "callees of CollectBuffers"))
    assert "no resolved call: 1 could not be resolved" in " ".join(text.split())
    text = text_of(ask(db, "callees of TIRFuseMutator::Transform"))
    assert f"{FUSE_TIR_CC}:101  unresolved  MyCollectBuffersOf(x)" in text


def test_where_lists_definition_and_declaration(db: sqlite3.Connection) -> None:
    lines = text_of(ask(db, "where is transform::FuseTIR()")).splitlines()
    assert [line.split("  ")[:2] for line in lines if line[0] != " "] == [
        [f"{FUSE_TIR_CC}:1271", "definition"],
        ["include/tvm/relax/transform.h:556", "declaration"],
        [f"{TRANSFORM_PY}:815", "definition"],
    ]


def test_refs_have_their_roles(db: sqlite3.Connection) -> None:
    (match,) = ask(db, f"references to {CREATOR.qualname}").matches
    assert [(ref.path, ref.line, ref.role) for ref in match.refs] == [
        ("include/tvm/relax/transform.h", 556, "declaration"),
        (FUSE_TIR_CC, 1271, "definition"),
        (FUSE_TIR_CC, 1290, "address"),
    ]
    (match,) = run(db, "refs", (CREATOR.qualname,), Options(roles=("address",))).matches
    assert [ref.line for ref in match.refs] == [1290]


def test_path_goes_from_python_to_cpp(db: sqlite3.Connection) -> None:
    answer = ask(db, "how does tvm.relax.transform.FuseTIR reach TIRFuseMutator::Transform")
    lines = text_of(answer).splitlines()
    assert lines[0] == "4 calls"
    assert f"  {TRANSFORM_PY}:823  registry  tvm::relax::transform::FuseTIR()" in lines
    assert answer_object(answer)["hops"][0]["via"] == KEY


def test_a_class_whose_construction_is_not_reached_is_reached_through_its_methods(db: sqlite3.Connection) -> None:
    """Factories, static methods and objects on the stack: a reader asks for the class all the same."""
    answer = run(db, "path", ("tvm::relax::FuseTIR", "TIRFuseMutator"), Options(max_hops=1))
    assert text_of(answer).startswith("1 call")
    assert "TIRFuseMutator::Transform" in text_of(answer)


def test_no_path_says_so(db: sqlite3.Connection) -> None:
    answer = ask(db, "path from TIRFuseMutator::Transform to tvm.relax.transform.FuseTIR")
    assert answer.exit_code == 1
    text = text_of(answer)
    assert text.startswith("no path: all 5 symbols that the first leads to were searched, the second is none of them\n")
    assert f"    {FUSE_TIR_CC}:101  MyCollectBuffersOf(x)  (dependent on a template parameter)" in text
    assert text_of(run(db, "path", ("tvm.relax.transform.FuseTIR", "TIRFuseMutator"), Options(max_hops=1))).startswith(
        "no path: none within 1 calls (--max-hops)"
    )
    assert "same symbol" in text_of(ask(db, "path from TIRFuseMutator to TIRFuseMutator"))


def test_key_shows_definition_use_and_what_it_runs(db: sqlite3.Connection) -> None:
    assert text_of(ask(db, "who registers FuseTIR")).splitlines() == [
        f"ffi key  {KEY}",
        f"  {FUSE_TIR_CC}:1290  defined in C++",
        f"    {FUSE_TIR_CC}:1271  function  tvm::relax::transform::FuseTIR()",
        f"  {TRANSFORM_PY}:823  resolved use  tvm.relax.transform.transform.FuseTIR",
    ]


def test_a_key_knows_the_prefixes_that_reach_it(db: sqlite3.Connection) -> None:
    (key,) = run(db, "key", ("ffi:relax.ext.coreml",)).keys
    assert [(use.line, use.status) for use in key.uses] == [(90, "wildcard")]


def test_a_key_that_nothing_defines_is_answered(db: sqlite3.Connection) -> None:
    assert text_of(ask(db, "who calls _ffi_api.gone")) == text_of(ask(db, "key relax.gone"))
    answer = ask(db, "who calls relax.gone")
    assert answer.exit_code == 0
    assert "no definition in the tree" in text_of(answer)
    assert answer_object(answer)["keys"][0]["uses"][0]["status"] == "dangling"


def test_the_overview_counts_and_names_the_import_path(db: sqlite3.Connection) -> None:
    text = text_of(ask(db, "tvm.relax.transform.FuseTIR"))
    assert "imported as tvm.relax.transform.FuseTIR" in text
    assert "calls of it: 7; calls from it: 1" in text
    assert "doc: Fuse primitive relax function into a larger TIR function if possible\n" in text


# many, none, near


def _many(tmp_path: Path, names: list[str]) -> sqlite3.Connection:
    symbols = [cpp("method", name, line, f"void f({'int, ' * line}int)") for line, name in enumerate(names, 1)]
    build(tmp_path / "x.db", [FileFacts("a.cc", Lang.CPP, symbols=symbols)])
    return open_index(tmp_path / "x.db")


def test_too_many_meanings_are_listed_not_answered(tmp_path: Path) -> None:
    db = _many(tmp_path, [f"n::C{number}::f" for number in range(7)])
    answer = ask(db, "who calls f")
    assert answer.exit_code == 1
    assert text_of(answer).splitlines()[0] == "a.cc:1  C++ method  n::C0::f(int, int)"
    assert "7 symbols are called f: ask again with a longer name" in "\n".join(trouble_lines(answer))
    assert len(answer_object(answer)["candidates"]) == 7
    assert ask(db, "where is f").exit_code == 0, "places of all of them fit in one answer"
    db.close()


def test_overloads_of_one_name_are_answered_together(tmp_path: Path) -> None:
    db = _many(tmp_path, ["n::C::f"] * 7)
    assert len(ask(db, "who calls f").matches) == 7
    db.close()


# runs


def test_runs_add_their_counts_to_the_static_call(index_with_runs: Path) -> None:
    db = open_index(index_with_runs)
    matches = {match.symbol.qualname: match for match in ask(db, "who calls FuseTIR").matches}
    counts = {(site.path, site.line): site.runs for site in matches[WRAPPER.qualname].calls if site.runs}
    assert counts == {
        ("python/tvm/relax/pipeline.py", 69): {"zero": 2},
        ("python/tvm/relax/backend/cuda/pipeline.py", 40): {"tune": 5},  # its line was not observed
    }
    assert matches[CREATOR.qualname].calls[0].runs == {"zero": 2}
    assert "zero: 2x" in text_of(ask(db, "who calls FuseTIR"))
    db.close()


def test_a_call_that_only_a_run_saw_is_a_caller(index_with_runs: Path) -> None:
    db = open_index(index_with_runs)
    (match,) = ask(db, f"who calls {INNER.qualname}").matches
    assert [(s.name, s.evidence, s.via, s.runs) for s in match.calls if s.runs] == [
        (EMIT.qualname, "observed", "native", {"tune": 7})
    ]
    (match,) = ask(db, f"what does {EMIT.qualname} call").matches
    assert [(s.name, s.evidence, s.place) for s in match.calls] == [(INNER.qualname, "observed", f"{FUSE_TIR_CC}:1264")]
    (match,) = ask(db, "who calls FusedTIRConstructor::VisitExpr_(const CallNode*)").matches
    assert ("(outside the index)", {"tune": 3}) in [(s.name, s.runs) for s in match.calls]
    db.close()


# text


@pytest.mark.parametrize(
    ("name", "room", "short"),
    [
        ("tvm.relax.backend.cuda.pipeline.legalize_passes", 60, "tvm.relax.backend.cuda.pipeline.legalize_passes"),
        ("tvm.relax.backend.cuda.pipeline.legalize_passes", 28, "…pipeline.legalize_passes"),
        ("tvm::relax::Fused::VisitExpr_(const CallNode*)", 30, "…Fused::VisitExpr_(const CallNode*)"),
    ],
)
def test_long_names_lose_their_leading_parts(name: str, room: int, short: str) -> None:
    assert shorten_name(name, room) == short


def test_long_lists_say_how_much_they_leave_out(db: sqlite3.Connection) -> None:
    assert "… 4 more (--limit 0 shows all)" in text_of(ask(db, f"who calls {WRAPPER.qualname}"), limit=3)
    assert answer_object(ask(db, f"who calls {WRAPPER.qualname}"), 3)["matches"][0]["total"] == 7


def test_answers_are_indexed_queries(index_that_looks_large: Path) -> None:
    """No scan of symbols, references, calls or locations: on a whole TVM one would take the half second a user has."""
    db = open_index(index_that_looks_large)
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    for question in ("who calls FuseTIR", "callees of FuseTIR", "refs FuseTIR", "where is FuseTIR", "FuseTIR"):
        ask(db, question)
    ask(db, "path from tvm.relax.transform.FuseTIR to TIRFuseMutator")
    ask(db, f"who calls {BUILDER.qualname}")
    db.set_trace_callback(None)
    scans = {
        step
        for statement in set(statements)
        for *_, step in db.execute("EXPLAIN QUERY PLAN " + statement)
        if re.match(r"SCAN (symbol|ref|call|location|relation|s|r|c|l)\b", step)
    }
    db.close()
    assert scans == set()
