"""Rules: no Django, database, clock or network."""

import os

# Processes use the cores; threads of numpy in each would wait for one another. Read when numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
