"""Keys of the installation, generated once."""
