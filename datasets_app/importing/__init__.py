"""Files into datasets: preview, mapping, quarantine."""
