"""Generated conversations into files and datasets; calls to models, with a budget."""
