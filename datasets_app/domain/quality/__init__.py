"""Checks, one module for each code, and the survey of an import."""
