"""What labels answer: criteria, their values, raters; the built-in criterion."""
