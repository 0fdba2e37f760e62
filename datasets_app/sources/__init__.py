"""Production sampling: the OTLP receiver, pulls from folders, buckets and tracing tools."""
