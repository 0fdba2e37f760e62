"""Routes of the API on datasets; each calls the operation that the page calls."""
