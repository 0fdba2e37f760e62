"""Events shown and mailed to people."""
