"""Training, validation and test: placement, near-duplicates."""
