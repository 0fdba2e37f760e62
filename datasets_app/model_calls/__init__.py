"""Which endpoints may be called and with which key; the journal that lets a run of calls resume."""
