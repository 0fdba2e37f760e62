"""The sharing checklist, packages, requests to export."""
