"""Records, formats of our own, order, sampling."""
