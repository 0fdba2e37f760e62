"""A dataset's facts, the policies of all gates, search for personal data, scrubbers."""
