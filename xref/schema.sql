-- The store's tables. Inner names are singular and free to change; the plural views below are the public contract
-- (docs/sql.md), versioned by PRAGMA user_version. Lines and columns are 1-based, 0 is "unknown". Rows with a file_id
-- are facts read from that file, unless `step` names the step of the linker that derived them (xref/link/step.py).

CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE file(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, lang TEXT NOT NULL, lines INTEGER NOT NULL,
    sha256 TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    status TEXT NOT NULL CHECK(status IN ('ok', 'degraded', 'failed', 'skipped')), detail TEXT NOT NULL,
    guard TEXT NOT NULL DEFAULT '');

CREATE TABLE symbol(
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, lang TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    qualname TEXT NOT NULL, file_id INTEGER, line INTEGER NOT NULL, col INTEGER NOT NULL, end_line INTEGER NOT NULL,
    signature TEXT NOT NULL, doc TEXT NOT NULL, parent_id INTEGER, is_definition INTEGER NOT NULL,
    linkage TEXT NOT NULL, access TEXT NOT NULL);

CREATE TABLE location(
    symbol_id INTEGER NOT NULL, kind TEXT NOT NULL, file_id INTEGER NOT NULL, line INTEGER NOT NULL,
    col INTEGER NOT NULL, end_line INTEGER NOT NULL);

-- All that is said of a symbol which more than one place declares: the best of it is the symbol's row.
CREATE TABLE claim(
    symbol_id INTEGER NOT NULL, file_id INTEGER NOT NULL, lang TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    qualname TEXT NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL, end_line INTEGER NOT NULL,
    signature TEXT NOT NULL, doc TEXT NOT NULL, parent_id INTEGER, is_definition INTEGER NOT NULL,
    linkage TEXT NOT NULL, access TEXT NOT NULL);

CREATE TABLE relation(
    from_id INTEGER NOT NULL, kind TEXT NOT NULL, to_id INTEGER NOT NULL, file_id INTEGER NOT NULL,
    step TEXT NOT NULL DEFAULT '', PRIMARY KEY(from_id, kind, to_id, file_id, step)) WITHOUT ROWID;

CREATE TABLE include(file_id INTEGER NOT NULL, line INTEGER NOT NULL, target_path TEXT NOT NULL);

CREATE TABLE ref(
    symbol_id INTEGER NOT NULL, file_id INTEGER NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL,
    role TEXT NOT NULL, in_symbol_id INTEGER);

CREATE TABLE call(
    caller_id INTEGER NOT NULL, callee_id INTEGER NOT NULL, evidence TEXT NOT NULL, file_id INTEGER NOT NULL,
    line INTEGER NOT NULL, col INTEGER NOT NULL, via TEXT NOT NULL, step TEXT NOT NULL DEFAULT '');

CREATE TABLE unresolved_call(
    file_id INTEGER NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL, in_symbol_id INTEGER,
    text TEXT NOT NULL, reason TEXT NOT NULL, step TEXT NOT NULL DEFAULT '');

CREATE TABLE dependent_call(
    file_id INTEGER NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL, in_symbol_id INTEGER,
    name TEXT NOT NULL, receiver TEXT NOT NULL, argument TEXT NOT NULL, text TEXT NOT NULL, parameter TEXT NOT NULL);

CREATE TABLE instance(
    file_id INTEGER NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL, caller_id INTEGER NOT NULL,
    callee_id INTEGER NOT NULL, bindings TEXT NOT NULL, inside INTEGER NOT NULL);

CREATE TABLE virtual_method(file_id INTEGER NOT NULL, symbol_id INTEGER NOT NULL);

-- What constructors, assignments and destructors run for the parts of an object though nobody wrote it
-- (xref/link/constructions.py).
CREATE TABLE part(
    file_id INTEGER NOT NULL, owner_id INTEGER NOT NULL, use TEXT NOT NULL, part_id INTEGER NOT NULL,
    callee_id INTEGER NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL, via TEXT NOT NULL);

-- What the linker's value-flow analysis needs of a Python file (xref/python/flow/summary.py).
CREATE TABLE flow(file_id INTEGER PRIMARY KEY, summary BLOB NOT NULL);

-- What the next run needs of a Python file, and of all Python together, to read one file again (xref/python/kept.py).
CREATE TABLE kept_python(file_id INTEGER PRIMARY KEY, said BLOB NOT NULL);
CREATE TABLE kept_tree(value BLOB NOT NULL);

CREATE TABLE key_def(
    registry TEXT NOT NULL, name TEXT NOT NULL, side TEXT NOT NULL, file_id INTEGER NOT NULL, line INTEGER NOT NULL,
    symbol_id INTEGER, guard TEXT NOT NULL, note TEXT NOT NULL, step TEXT NOT NULL DEFAULT '');

CREATE TABLE key_use(
    registry TEXT NOT NULL, name TEXT NOT NULL, side TEXT NOT NULL, file_id INTEGER NOT NULL, line INTEGER NOT NULL,
    col INTEGER NOT NULL, in_symbol_id INTEGER, calls INTEGER NOT NULL, optional INTEGER NOT NULL, status TEXT NOT NULL,
    binding TEXT NOT NULL DEFAULT '', candidates TEXT NOT NULL DEFAULT '', evidence TEXT NOT NULL DEFAULT 'direct', step TEXT NOT NULL DEFAULT '');

CREATE TABLE attribute_read(
    name TEXT NOT NULL, receiver_id INTEGER, file_id INTEGER NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL,
    in_symbol_id INTEGER);

CREATE TABLE key_relation(
    registry TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, other TEXT NOT NULL, file_id INTEGER,
    step TEXT NOT NULL DEFAULT '');

-- What the index was made from, for the next time: see xref/records.py.
CREATE TABLE source(id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    sha256 TEXT NOT NULL, resolution TEXT NOT NULL);
CREATE TABLE unit(id INTEGER PRIMARY KEY, record TEXT NOT NULL, sources TEXT NOT NULL);

CREATE TABLE run(
    id TEXT PRIMARY KEY, command TEXT NOT NULL, started TEXT NOT NULL, tvm_version TEXT NOT NULL,
    python_version TEXT NOT NULL, note TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE observed_call(
    run_id TEXT NOT NULL, caller_id INTEGER, callee_id INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK(kind IN ('python', 'ffi', 'callback', 'native')),
    file_id INTEGER, line INTEGER NOT NULL, thread INTEGER NOT NULL, count INTEGER NOT NULL, total_ns INTEGER);

CREATE TABLE pass_run(
    run_id TEXT NOT NULL, seq INTEGER NOT NULL, depth INTEGER NOT NULL, name TEXT NOT NULL, symbol_id INTEGER,
    start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, changed INTEGER, PRIMARY KEY(run_id, seq)) WITHOUT ROWID;

CREATE TABLE unmatched_event(run_id TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL,
    reason TEXT NOT NULL);

CREATE TABLE tensor_crossing(
    run_id TEXT NOT NULL, caller_id INTEGER, callee_id INTEGER, name TEXT NOT NULL, file_id INTEGER,
    line INTEGER NOT NULL, thread INTEGER NOT NULL, same INTEGER NOT NULL, different INTEGER NOT NULL,
    passed INTEGER NOT NULL, made INTEGER NOT NULL);

CREATE VIEW files AS SELECT id, path, lang, lines, sha256, status, detail FROM file;

CREATE VIEW symbols AS
    SELECT s.id, s.key, s.lang, s.kind, s.name, s.qualname, f.path, s.line, s.col, s.end_line, s.signature, s.doc,
           s.parent_id, s.is_definition, s.linkage, s.access
    FROM symbol s LEFT JOIN file f ON f.id = s.file_id;

CREATE VIEW locations AS
    SELECT l.symbol_id, l.kind, f.path, l.line, l.col, l.end_line FROM location l JOIN file f ON f.id = l.file_id;

-- Once, however many files and steps say it; DISTINCT would keep SQLite from looking a relation up by its index.
CREATE VIEW relations AS
    SELECT from_id, kind, to_id FROM relation r WHERE NOT EXISTS (
        SELECT 1 FROM relation o WHERE o.from_id = r.from_id AND o.kind = r.kind AND o.to_id = r.to_id
            AND (o.file_id, o.step) < (r.file_id, r.step));

CREATE VIEW includes AS SELECT f.path, i.line, i.target_path FROM include i JOIN file f ON f.id = i.file_id;

CREATE VIEW refs AS
    SELECT r.symbol_id, f.path, r.line, r.col, r.role, r.in_symbol_id FROM ref r JOIN file f ON f.id = r.file_id;

CREATE VIEW calls AS
    SELECT c.caller_id, c.callee_id, c.evidence, f.path, c.line, c.col, c.via
    FROM call c JOIN file f ON f.id = c.file_id;

CREATE VIEW unresolved AS
    SELECT f.path, u.line, u.col, u.in_symbol_id, u.text, u.reason
    FROM unresolved_call u JOIN file f ON f.id = u.file_id;

CREATE VIEW keys AS
    SELECT registry, name FROM key_def UNION SELECT registry, name FROM key_use WHERE status <> 'wildcard';

-- A key stands behind the build option of its file and the #if around it.
CREATE VIEW key_defs AS
    SELECT k.registry, k.name, k.side, f.path, k.line, k.symbol_id,
           CASE WHEN f.guard = '' THEN k.guard WHEN k.guard = '' THEN f.guard ELSE f.guard || ' and ' || k.guard END
               AS guard, k.note
    FROM key_def k JOIN file f ON f.id = k.file_id;

CREATE VIEW key_uses AS
    SELECT k.registry, k.name, k.side, f.path, k.line, k.in_symbol_id, k.status, k.evidence
    FROM key_use k JOIN file f ON f.id = k.file_id;

CREATE VIEW key_relations AS SELECT DISTINCT registry, name, kind, other FROM key_relation;

CREATE VIEW runs AS SELECT id, command, started, tvm_version, python_version, note FROM run;

CREATE VIEW observed_calls AS
    SELECT o.run_id, o.caller_id, o.callee_id, o.kind, f.path, o.line, o.thread, o.count, o.total_ns
    FROM observed_call o LEFT JOIN file f ON f.id = o.file_id;

CREATE VIEW passes_run AS
    SELECT run_id, seq, depth, name, symbol_id, start_ns, duration_ns, changed FROM pass_run;

CREATE VIEW tensor_crossings AS
    SELECT t.run_id, t.caller_id, t.callee_id, t.name, f.path, t.line, t.thread, t.same, t.different, t.passed, t.made
    FROM tensor_crossing t LEFT JOIN file f ON f.id = t.file_id;

CREATE VIEW unmatched AS SELECT run_id, kind, name, count, reason FROM unmatched_event;
