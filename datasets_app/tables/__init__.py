"""Import and export of tables (CSV, XLSX, JSONL) in the admin."""
