"""Running operations in the background or from a command: rows, queue, recovery, files."""
