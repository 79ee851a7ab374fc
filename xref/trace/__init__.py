"""Recorded compilations: recording one (launch, collect), its file (runfile), and laying it over an index (join)."""
