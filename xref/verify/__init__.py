"""Compares an index with the registries of an installed TVM."""
