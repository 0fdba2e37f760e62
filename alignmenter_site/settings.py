"""All settings, from the environment; the defaults are safe and need nothing installed."""

from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from alignmenter_site import authorities_file, env, file_storage, head_places, logs, mail, sign_in_settings
from alignmenter_site.keys import hash_key, release_key, secret_key
from alignmenter_site.middleware import content_security

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.text("ALIGNMENTER_VAR_DIR", str(BASE_DIR / "var"))).expanduser().resolve()


def _database_settings() -> dict[str, object]:
    """The DATABASES entry: for the server of DATABASE_URL, or for the embedded one."""
    common = {"ENGINE": "alignmenter_site.postgresql", "CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
    if not env.text("DATABASE_URL"):
        from alignmenter_site import embedded

        return {**common, **embedded.django_database_settings(VAR_DIR)}
    database = _connection_parameters("DATABASE_URL")
    if not env.text(_OWNER_URL):
        return {**common, **database}
    owner = _connection_parameters(_OWNER_URL)
    if owner.pop("NAME") != database["NAME"] or owner["USER"] == database["USER"]:
        raise env.EnvironmentVariableError(
            f"{_OWNER_URL} must name the same database as DATABASE_URL and another role, its owner"
        )
    return {**common, **database, "OWNER": owner}


_OWNER_URL = "ALIGNMENTER_OWNER_DATABASE_URL"


def _connection_parameters(variable: str) -> dict[str, object]:
    parts = urlsplit(env.text(variable))
    if parts.scheme not in {"postgres", "postgresql"}:
        raise env.EnvironmentVariableError(
            f"{variable} must begin with postgresql://, got {parts.scheme or 'no scheme'}://; "
            "no other database is supported"
        )
    options = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    if options.get("sslrootcert") == "system" and (authorities := authorities_file.find()):
        options["sslrootcert"] = authorities
    host = options.pop("host", None) or unquote(parts.hostname or "")
    return {
        "NAME": unquote(parts.path.lstrip("/")) or "alignmenter",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(options.pop("port", None) or parts.port or ""),
        # A server that doesn't answer must not hold up a page for minutes.
        "OPTIONS": {"connect_timeout": "10", **options},
    }


SECRET_KEY = env.text("SECRET_KEY") or secret_key.load_or_create(VAR_DIR / "secret_key")
SECRET_KEY_FALLBACKS = env.word_list("SECRET_KEY_FALLBACKS", [])
DEBUG = env.boolean("ALIGNMENTER_DEBUG", False)
# Off only for plain http on one's own machine, as `make run` does.
HTTPS = env.boolean("ALIGNMENTER_HTTPS", True)
ALLOWED_HOSTS = env.word_list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.word_list("CSRF_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "unfold.contrib.forms",
    "unfold.contrib.import_export",
    "alignmenter_site.admin_pages.LazyAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "import_export",
    "django_rq",
    "alignmenter_site.sign_in",
    "datasets_app",
    "annotations_app",
]

MIDDLEWARE = [
    "alignmenter_site.middleware.monitoring.MonitoringMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "alignmenter_site.middleware.content_security.ContentSecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "alignmenter_site.middleware.database_required.DatabaseRequiredMiddleware",
    "alignmenter_site.middleware.body_limits.BodyLimitsMiddleware",  # before forms are read, here by:
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "alignmenter_site.middleware.language.LanguageMiddleware",
    "alignmenter_site.middleware.request_origin.RequestOriginMiddleware",
    "alignmenter_site.middleware.time_zone.TimeZoneMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "alignmenter_site.middleware.session_limits.SessionLimitsMiddleware",
    "alignmenter_site.middleware.staff_only.StaffOnlyMiddleware",
    "alignmenter_site.middleware.second_factor.SecondFactorMiddleware",
    "alignmenter_site.middleware.reauthentication.ReauthenticationMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "alignmenter_site.urls"
WSGI_APPLICATION = "alignmenter_site.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "alignmenter_site.help.topics.help_context",
            ],
            # What nearly every template needs.
            "builtins": [
                "django.templatetags.i18n",
                "django.templatetags.static",
                "datasets_app.templatetags.datasets_display",
            ],
        },
    }
]

DATABASES = {"default": _database_settings()}
# For backups: the same database as a role that may read all of it.
_BACKUP_URL = "ALIGNMENTER_BACKUP_DATABASE_URL"
BACKUP_DATABASE = _connection_parameters(_BACKUP_URL) if env.text(_BACKUP_URL) else None
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"


def _redis_url(url: str) -> str:
    if url:
        if not url.startswith(("redis://", "rediss://", "unix://")):
            raise env.EnvironmentVariableError("REDIS_URL must begin with redis://, rediss:// or unix://")
        # A server that can't be reached must not hold up a page.
        waits = url.startswith("redis") and "socket_connect_timeout" not in url
        return f"{url}{'&' if '?' in url else '?'}socket_connect_timeout=3" if waits else url
    from alignmenter_site import embedded

    return embedded.valkey_url(VAR_DIR)


# A job may run for hours: whether it is alive is told by its heartbeat, not by a time limit.
EMBEDDED_VALKEY = not env.text("REDIS_URL")
RQ_QUEUES = {
    "default": {
        "URL": _redis_url(env.text("REDIS_URL")),
        "DEFAULT_TIMEOUT": -1,
        "SERIALIZER": "rq.serializers.JSONSerializer",
    }
}
# For RQ's own commands, too: never unpickle what comes from Redis.
RQ = {"JOB_CLASS": "datasets_app.jobs.queue.NumberMessage"}

globals().update(sign_in_settings.sign_in_settings(str(RQ_QUEUES["default"]["URL"]), https=HTTPS))

LANGUAGE_CODE = "en"
TIME_ZONE = env.text("TIME_ZONE", "UTC")
# The annotators' pages and those of accounts; the admin stays English (middleware/language.py).
USE_I18N = True
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("fr", "Français"), ("es", "Español"), ("ja", "日本語")]
LOCALE_PATHS = [BASE_DIR / "locale"]
DATETIME_FORMAT = "j M Y H:i"
USE_TZ = True

STATIC_URL = "static/"
# Served straight from the packages: there is no build step to forget.
WHITENOISE_USE_FINDERS = True

MEDIA_ROOT = Path(env.text("ALIGNMENTER_MEDIA_ROOT", str(VAR_DIR / "media")))
STORAGES = file_storage.storage_settings(env.text(file_storage.ENV_VAR))
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700
FILE_UPLOAD_HANDLERS = ["alignmenter_site.local_files.UploadToDisk"]
# Not the system's: what a server that was killed leaves of an upload is found there, and deleted.
FILE_UPLOAD_TEMP_DIR = env.text("ALIGNMENTER_UPLOAD_TEMP_DIR") or env.writable_directory(
    env.writable_directory(env.writable_directory(VAR_DIR) / "tmp") / "uploads"
)

SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {"DIRECTIVES": content_security.STRICT_POLICY}
if env.boolean("ALIGNMENTER_BEHIND_PROXY", False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

LOGGING = logs.logging_settings(env.text("LOG_LEVEL", "INFO").upper(), env.text("LOG_FORMAT", "text").lower())

# --- the application's own ---------------------------------------------------------------------

# Overrides, exemptions, signatures, deletions and erasures wait for a second person's approval.
FOUR_EYES = env.boolean("ALIGNMENTER_FOUR_EYES", False)
APPROVAL_DAYS = env.integer("ALIGNMENTER_APPROVAL_DAYS", 7, minimum=1)
# What sharing requires, unless a dataset says otherwise: the largest upper bound of planted values that
# survive a scrub (1: no measurement), and turns that people have read after it (0: none).
SHARING_CANARY_UPPER = env.share("ALIGNMENTER_SHARING_CANARY_UPPER", 1.0)
SHARING_AUDIT_READINGS = env.integer("ALIGNMENTER_SHARING_AUDIT_READINGS", 0)
# Sent by what scrapes /metrics; without it, there are none.
METRICS_TOKEN = secret_key.key_from_env("ALIGNMENTER_METRICS_TOKEN")
# Imports, uploads and scrubs that would leave less on the disk are refused.
MIN_FREE_BYTES = env.integer("ALIGNMENTER_MIN_FREE_BYTES", 1 << 30)
MAX_LINE_BYTES = env.integer("ALIGNMENTER_MAX_LINE_BYTES", 16 << 20, minimum=1024)
MAX_UNPACKED_BYTES = env.integer("ALIGNMENTER_MAX_UNPACKED_BYTES", 20 << 30, minimum=1024)
# Of one person: the size of an upload, number and size of uploads not yet imported, jobs that run or wait.
MAX_UPLOAD_BYTES = env.integer("ALIGNMENTER_MAX_UPLOAD_BYTES", 4 << 30, minimum=1024)
MAX_PENDING_UPLOADS = env.integer("ALIGNMENTER_MAX_PENDING_UPLOADS", 20, minimum=1)
MAX_PENDING_UPLOAD_BYTES = env.integer("ALIGNMENTER_MAX_PENDING_UPLOAD_BYTES", 20 << 30, minimum=1024)
MAX_ACTIVE_JOBS = env.integer("ALIGNMENTER_MAX_ACTIVE_JOBS", 20, minimum=1)
# Of one API token.
API_REQUESTS_PER_MINUTE = env.integer("ALIGNMENTER_API_REQUESTS_PER_MINUTE", 600, minimum=1)
EXPORT_LINK_DAYS = env.integer("ALIGNMENTER_EXPORT_LINK_DAYS", 7, minimum=1)
# Installed name models, by name or folder; "builtin" is the one that comes with the application.
NAME_MODELS = env.word_list("ALIGNMENTER_NAME_MODELS", ["builtin"])
RECOGNIZERS_FILE = env.text("ALIGNMENTER_RECOGNIZERS")
# Keys that can't be used stop the start.
for _env_var in (hash_key.ENV_VAR, release_key.ENV_VAR):
    secret_key.key_from_env(_env_var)
release_key.former_keys()
# Where conversations may be written by a model; the first is the default.
LLM_ENDPOINTS = env.base_urls("ALIGNMENTER_LLM_ENDPOINTS", ["https://api.openai.com/v1"])
LLM_TIMEOUT = env.integer("ALIGNMENTER_LLM_TIMEOUT", 120, minimum=1)
LLM_RETRIES = env.integer("ALIGNMENTER_LLM_RETRIES", 5)
# Folders and buckets below which sources may read, and private networks in which they may ask tools.
SOURCE_ROOTS = file_storage.source_roots("ALIGNMENTER_SOURCE_ROOTS")
SOURCE_NETWORKS = env.networks("ALIGNMENTER_SOURCE_NETWORKS")
# Of one request of the OTLP receiver, unpacked; and of all spans that wait to become conversations.
OTLP_MAX_BYTES = env.integer("ALIGNMENTER_OTLP_MAX_BYTES", 16 << 20, minimum=1024)
# What has more spans is stored by a worker: reading them keeps a processor of the web server from pages.
OTLP_MAX_SPANS = env.integer("ALIGNMENTER_OTLP_MAX_SPANS", 10_000, minimum=1)
OTLP_MAX_WAITING_BYTES = env.integer("ALIGNMENTER_OTLP_MAX_WAITING_BYTES", 4 << 30, minimum=1024)
# Private networks that webhooks may send to.
WEBHOOK_NETWORKS = env.networks("ALIGNMENTER_WEBHOOK_NETWORKS")
# Where people reach the application, such as https://datasets.example.org: for links in mail.
BASE_URL = (env.base_urls("ALIGNMENTER_BASE_URL", []) or [""])[0].rstrip("/")
AUDIT_HEAD_PLACES = head_places.head_places()
# When retention deletes what is due, and what else happens once a night: an hour in TIME_ZONE.
NIGHT_HOUR = env.integer("ALIGNMENTER_NIGHT_HOUR", 3, minimum=0)
if NIGHT_HOUR > 23:
    raise env.EnvironmentVariableError(f"ALIGNMENTER_NIGHT_HOUR must be 0 to 23, got {NIGHT_HOUR}")
# Where backups go every night, for whom they are encrypted, and how many are kept.
BACKUP_TO = file_storage.backup_folder("ALIGNMENTER_BACKUP_TO")
BACKUP_RECIPIENTS = env.word_list("ALIGNMENTER_BACKUP_RECIPIENTS", [])
BACKUP_KEEP = env.integer("ALIGNMENTER_BACKUP_KEEP", 14, minimum=1)
if BACKUP_TO and not BACKUP_RECIPIENTS:
    raise env.EnvironmentVariableError(
        "ALIGNMENTER_BACKUP_TO needs ALIGNMENTER_BACKUP_RECIPIENTS, the public keys for which backups are "
        "encrypted. Make a key with: manage.py backup --new-key FILE"
    )
_email_settings = mail.email_settings()
MAIL_TO: list[str] = _email_settings.pop("MAIL_TO")
globals().update(_email_settings)

IMPORT_EXPORT_USE_TRANSACTIONS = True

from alignmenter_site.navigation import UNFOLD  # noqa: E402, F401
