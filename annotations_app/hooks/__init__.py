"""What datasets show and do for labels."""
