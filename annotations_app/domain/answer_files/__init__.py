"""Answers in files: tables, and the forms of label tools (Label Studio, Argilla, doccano, Prodigy)."""
