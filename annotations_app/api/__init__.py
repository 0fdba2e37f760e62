"""Routes of the API on labels and campaigns."""
