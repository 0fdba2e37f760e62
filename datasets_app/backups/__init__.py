"""Encrypted backups of database and files, and restore."""
