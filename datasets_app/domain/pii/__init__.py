"""Personal data: detection, propagation within a session, placeholders."""
