"""Shared tools without a product rule: errors, audit events, progress, files, processes."""
