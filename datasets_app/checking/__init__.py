"""Checks of a dataset, kept as a report."""
