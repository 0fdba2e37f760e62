class EmbeddedServiceError(RuntimeError):
    """An embedded service cannot be had. The message is one line and says what to do about it."""
