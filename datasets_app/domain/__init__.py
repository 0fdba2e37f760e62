"""Rules: no Django, database, clock or network."""
