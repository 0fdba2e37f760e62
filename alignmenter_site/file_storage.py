"""Where files of jobs and releases are kept: under MEDIA_ROOT, or in a bucket of an S3-compatible store."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from alignmenter_site import env

ENV_VAR = "ALIGNMENTER_STORAGE"
BUCKET_SCHEME = "s3://"
REQUIREMENTS = "locks/s3.txt"
# Options after the bucket's name; credentials come from the AWS_* variables only.
ALLOWED_OPTIONS = ("endpoint_url", "region_name")
# A file read from the bucket is kept in memory up to this size, then in a temporary file.
MAX_MEMORY_BYTES = 8 << 20


def storage_settings(url: str) -> dict[str, dict[str, Any]]:
    """The STORAGES setting for ``s3://bucket/prefix?endpoint_url=…&region_name=…``, or for nothing."""
    return {
        "default": _bucket_settings(url) if url else {"BACKEND": "alignmenter_site.local_files.LocalFiles"},
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


def source_roots(variable: str) -> list[str]:
    """Absolute paths, and buckets as for files of our own: what sources may read is below one of them."""
    roots = env.word_list(variable, [])
    for number, root in enumerate(roots, 1):
        if root.startswith(BUCKET_SCHEME):
            _bucket_settings(root, variable)
        elif not root.startswith("/"):
            raise env.EnvironmentVariableError(
                f"{variable}: place {number} must be an absolute path, or like s3://bucket/prefix"
            )
    return roots


def backup_folder(variable: str) -> str:
    """An absolute path, or a bucket as for files of our own; or nothing."""
    folder = env.text(variable)
    if folder.startswith(BUCKET_SCHEME):
        _bucket_settings(folder, variable)
    elif folder and not folder.startswith("/"):
        raise env.EnvironmentVariableError(f"{variable} must be an absolute path, or like s3://bucket/prefix")
    return folder


def open_bucket(root: str, location: str) -> tuple[Any, str]:
    """(the bucket of ``location``, the prefix of its keys), with the options of ``root``."""
    from storages.backends.s3 import S3Storage

    options = _bucket_settings(root)["OPTIONS"]
    prefix = urlsplit(location).path.strip("/")
    return S3Storage(**options).bucket, f"{prefix}/" if prefix else ""


def _bucket_settings(url: str, variable: str = ENV_VAR) -> dict[str, Any]:
    parts = urlsplit(url)
    given = dict(parse_qsl(parts.query))
    # Never repeat the address: someone may have put a password into it.
    if parts.scheme != "s3" or not parts.hostname or parts.netloc != parts.hostname or parts.fragment:
        raise env.EnvironmentVariableError(
            f"{variable} must be like s3://bucket/prefix, with no user and no port"
        )
    if unknown := sorted(given.keys() - set(ALLOWED_OPTIONS)):
        raise env.EnvironmentVariableError(
            f"{variable}: unknown {unknown[0]!r}; known are {', '.join(ALLOWED_OPTIONS)}"
        )
    try:
        import storages  # noqa: F401  # Django imports its backend by name, later
        from boto3.s3.transfer import TransferConfig
        from botocore.config import Config
    except ImportError:
        raise env.EnvironmentVariableError(
            f"{variable} names a bucket, and the packages for buckets (boto3, django-storages) are not "
            f"installed. Install them where the application is installed: pip install -r {REQUIREMENTS}"
        ) from None

    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": parts.hostname,
            "location": parts.path.strip("/"),
            # Files are served by the application alone: never public, and no address of one is given out.
            "default_acl": None,
            "querystring_auth": True,
            "file_overwrite": False,
            "max_memory_size": MAX_MEMORY_BYTES,
            # Sequentially, in the thread of the job: several workers run at a time anyway.
            "transfer_config": TransferConfig(use_threads=False),
            "client_config": Config(
                signature_version="s3v4",
                s3={"addressing_style": "path" if "endpoint_url" in given else "auto"},
                # Servers other than Amazon's may not know the newer checksums.
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
                retries={"mode": "standard", "max_attempts": 5},
            ),
            **given,
        },
    }
