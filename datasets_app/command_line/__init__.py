"""Commands that need no database; pip installs them without the application."""
