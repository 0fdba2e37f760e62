"""Puts the routers of both apps together; the schema and its reference."""
