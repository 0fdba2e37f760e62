"""What every request passes: sessions, limits, languages, second factor."""
