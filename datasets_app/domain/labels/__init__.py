"""What labels answer: criteria, schemas of several, values, raters; the built-in criterion."""
