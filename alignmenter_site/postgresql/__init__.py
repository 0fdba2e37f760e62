"""The database backend and its roles."""
