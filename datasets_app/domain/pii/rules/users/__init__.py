"""User names, and pages of people at sites where everybody has one."""
