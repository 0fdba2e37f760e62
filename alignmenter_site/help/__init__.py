"""The documentation in docs/, served by the application: a page for each file, and a search."""
