"""Versions of a dataset: release, comparison, verification."""
