"""Tells those who run an installation whether it works: health, metrics and the doctor."""
