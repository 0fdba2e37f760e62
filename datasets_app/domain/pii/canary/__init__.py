"""Planted values and how many of them survive a scrub."""
