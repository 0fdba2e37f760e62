"""Addresses of mail, the web, machines and devices, and paths of file systems."""
