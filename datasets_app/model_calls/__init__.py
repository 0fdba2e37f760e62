"""Which endpoints may be called and with which key."""
