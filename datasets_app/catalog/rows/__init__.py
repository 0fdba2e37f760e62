"""SQL that reads and writes sessions and turns by the million."""
