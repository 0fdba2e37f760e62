"""The audit log: its pages, its export and its verification."""
