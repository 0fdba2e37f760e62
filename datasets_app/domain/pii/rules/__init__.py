"""What a format, a checksum or a key decides: a package for each kind of value, and what joins them."""
