"""xref: a cross-reference indexer for Apache TVM."""
