"""Test cases from conversations: cut, scrubbed, with variants, and sent to people."""
