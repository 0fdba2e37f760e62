"""Versions, their comparison and their changelog."""
