"""The certificates of authorities that this machine trusts, for ``sslrootcert=system``."""

import os
import ssl

import psycopg

# Debian and Alpine; Fedora and Red Hat; openSUSE; macOS.
_PLACES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def find() -> str:
    """The file, or "" if the library for PostgreSQL finds it by itself.

    The one that psycopg brings looks in a folder that no machine has.
    """
    if psycopg.pq.__impl__ != "binary" or os.environ.keys() & {"SSL_CERT_FILE", "SSL_CERT_DIR"}:
        return ""
    return next(filter(os.path.isfile, (ssl.get_default_verify_paths().cafile or "", *_PLACES)), "")
