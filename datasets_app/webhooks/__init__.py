"""Events sent to other programs."""
