"""Rules of labeling: no Django, database, clock or network."""
