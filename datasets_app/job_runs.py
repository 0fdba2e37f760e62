"""Where messages point that were queued before jobs had a package of their own."""

from datasets_app.jobs.perform import perform

__all__ = ["perform"]
