"""Sources whose calls are compared with what runs: see tests/python/test_python_ran.py."""
