"""Leasing replies, decisions."""
