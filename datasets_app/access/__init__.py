"""Roles, grants and API tokens; who can see a dataset, and why."""
