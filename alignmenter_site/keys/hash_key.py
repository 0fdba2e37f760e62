"""The key of this installation for hashes of session ids and corrections; needs no database."""

from alignmenter_site.keys import secret_key

ENV_VAR = "ALIGNMENTER_HASH_KEY"


def hash_key() -> bytes:
    """The UTF-8 bytes of ALIGNMENTER_HASH_KEY, or of the key generated in the file ``hash_key``."""
    return secret_key.load_key(ENV_VAR, "hash_key").encode()
