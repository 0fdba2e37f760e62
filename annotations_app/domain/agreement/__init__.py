"""Statistics of agreement and consensus."""
