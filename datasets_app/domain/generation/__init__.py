"""Plans, phrases and writers of generated conversations."""
