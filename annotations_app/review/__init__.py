"""Alignmenter's review exchange: campaigns from its review tasks, and its tasks with people's judgments."""
