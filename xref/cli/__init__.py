"""The command line: verbs, thin over the features."""
