"""The network that judges what only context tells, in every language."""
