"""Benchmarks: each prints a table, with ratios to a floor measured in the same process."""
