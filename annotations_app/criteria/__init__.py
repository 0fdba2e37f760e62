"""Schemas of criteria that campaigns ask: import, export, ready-made ones."""
