"""Generated conversations into files and datasets."""
