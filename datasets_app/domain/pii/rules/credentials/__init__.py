"""Passwords, keys, tokens and wallets."""
