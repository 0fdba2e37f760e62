"""Documents of a package: card, Croissant metadata, quality report."""
