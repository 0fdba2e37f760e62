"""One module for each format: takes files apart into spans, calls or conversations."""
