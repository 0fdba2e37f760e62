"""Retention rules and dry runs, legal holds, deletion, erasure."""
