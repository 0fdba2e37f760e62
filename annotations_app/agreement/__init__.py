"""Pages and measurement of agreement, adjudication."""
