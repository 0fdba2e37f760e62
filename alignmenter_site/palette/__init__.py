"""The command palette: one field to find datasets, sessions, people, pages, actions and more."""
