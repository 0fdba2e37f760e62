"""Creating and editing campaigns, their members and replies."""
