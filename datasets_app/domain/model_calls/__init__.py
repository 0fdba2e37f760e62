"""Calls to models: endpoints, budget, retries, many at a time; knows nothing of what is asked."""
