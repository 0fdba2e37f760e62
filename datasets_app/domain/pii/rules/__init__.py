"""What a format, a checksum or a key decides, one module for each kind of value."""
