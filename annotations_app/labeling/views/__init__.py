"""The annotators' pages."""
