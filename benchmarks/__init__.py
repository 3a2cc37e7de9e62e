"""Benchmarks: each prints a number together with the machine, the versions and the load it was taken under.

`python -m benchmarks list` names them, `python -m benchmarks run NAME` runs one. A new one is a module with
a `measure`, and a line in `benchmarks.scenarios`.
"""
