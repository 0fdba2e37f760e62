"""Numbers of identity documents, tax, licenses, health and vehicles."""
