"""Judges: models that answer the criteria of a campaign, measured against people."""
