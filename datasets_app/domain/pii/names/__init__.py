"""The English name model, and models of others."""
