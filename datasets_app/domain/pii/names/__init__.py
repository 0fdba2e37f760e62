"""The network of English names, what lists and cues say of words, and models of others."""
