"""What happens by itself once a night."""
