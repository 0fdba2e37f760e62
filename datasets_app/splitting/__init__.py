"""Splits a dataset or a file."""
