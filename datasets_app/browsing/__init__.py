"""The lists of sessions and turns: filters, facets, saved views, selections, comments."""
