"""How people sign in: settings of django-allauth, of sessions and of passwords."""

from typing import Any

from alignmenter_site import cache, env

MIN_PASSWORD_CHARACTERS = 12
# Failures from one address may be those of a whole office.
ADDRESS_FACTOR = 5
# Seconds that a link to set a password is valid.
LINK_SECONDS = 24 * 3600
PROVIDER_ID = "company"


def sign_in_settings(redis_url: str, *, https: bool) -> dict[str, Any]:
    return {
        **_session_settings(https),
        **_password_settings(),
        **_throttle_settings(redis_url),
        **_allauth_settings(https),
        **_company_settings(https),
        "TRUSTED_PROXIES": env.networks("ALIGNMENTER_TRUSTED_PROXIES"),
        # Roles whose people need a second factor; "superuser" is one, too.
        "SECOND_FACTOR_ROLES": frozenset(env.word_list("ALIGNMENTER_SECOND_FACTOR", [])),
    }


def _session_settings(https: bool) -> dict[str, Any]:
    idle = env.integer("ALIGNMENTER_IDLE_MINUTES", 30, minimum=1)
    longest = env.integer("ALIGNMENTER_SESSION_HOURS", 12, minimum=1)
    # Browsers accept these names only from this host, over HTTPS and for all of its paths.
    prefix = "__Host-" if https else ""
    return {
        "SESSION_IDLE_SECONDS": idle * 60,
        "SESSION_COOKIE_AGE": longest * 3600,
        "SESSION_COOKIE_NAME": f"{prefix}sessionid",
        "CSRF_COOKIE_NAME": f"{prefix}csrftoken",
        "SESSION_COOKIE_SECURE": https,
        "CSRF_COOKIE_SECURE": https,
        "SESSION_COOKIE_HTTPONLY": True,
        "RECENT_SIGN_IN_SECONDS": env.integer("ALIGNMENTER_REAUTHENTICATION_MINUTES", 5, minimum=1) * 60,
    }


def _password_settings() -> dict[str, Any]:
    validators = "django.contrib.auth.password_validation"
    return {
        "AUTHENTICATION_BACKENDS": ["django.contrib.auth.backends.ModelBackend"],
        "AUTH_PASSWORD_VALIDATORS": [
            {"NAME": f"{validators}.UserAttributeSimilarityValidator"},
            {
                "NAME": f"{validators}.MinimumLengthValidator",
                "OPTIONS": {"min_length": MIN_PASSWORD_CHARACTERS},
            },
            {"NAME": f"{validators}.CommonPasswordValidator"},
            {"NAME": f"{validators}.NumericPasswordValidator"},
        ],
        "PASSWORD_RESET_TIMEOUT": LINK_SECONDS,
        "LOGIN_URL": "login",
        "LOGIN_REDIRECT_URL": "home",
        "LOGOUT_REDIRECT_URL": "login",
    }


def _throttle_settings(redis_url: str) -> dict[str, Any]:
    failures = env.integer("ALIGNMENTER_SIGN_IN_FAILURES", 10, minimum=1)
    minutes = env.integer("ALIGNMENTER_LOCKOUT_MINUTES", 15, minimum=1)
    limit = f"{failures}/{minutes}m/key,{failures * ADDRESS_FACTOR}/{minutes}m/ip"
    return {
        "SIGN_IN_FAILURES": failures,
        "LOCKOUT_MINUTES": minutes,
        "ACCOUNT_RATE_LIMITS": {
            "login_failed": limit,
            # The limit above counts failures of everybody; this one would answer with another page.
            "login": None,
            "reset_password": "20/h/ip,5/h/key",
            "reset_password_from_key": f"{failures * ADDRESS_FACTOR}/{minutes}m/ip",
            "reauthenticate": "30/m/user",
        },
        "CACHES": {
            "default": {
                "BACKEND": "alignmenter_site.cache.SharedCache",
                "LOCATION": redis_url,
                "KEY_PREFIX": cache.KEY_PREFIX,
                # A server that hangs must not hold up a page.
                "OPTIONS": {"serializer": "alignmenter_site.cache.JsonSerializer", "socket_timeout": 2},
            }
        },
    }


def _allauth_settings(https: bool) -> dict[str, Any]:
    return {
        "ACCOUNT_ADAPTER": "alignmenter_site.sign_in.adapters.AccountAdapter",
        "ACCOUNT_FORMS": {
            "login": "alignmenter_site.sign_in.forms.LoginForm",
            "reset_password": "alignmenter_site.sign_in.forms.ResetPasswordForm",
            "reset_password_from_key": "alignmenter_site.sign_in.forms.SetPasswordForm",
        },
        "ACCOUNT_LOGIN_METHODS": {"username"},
        "ACCOUNT_SIGNUP_FIELDS": ["username*", "email", "password1*"],
        "ACCOUNT_EMAIL_VERIFICATION": "none",
        "ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS": False,
        "ACCOUNT_EMAIL_SUBJECT_PREFIX": "",
        "ACCOUNT_SESSION_REMEMBER": True,
        "ACCOUNT_DEFAULT_HTTP_PROTOCOL": "https" if https else "http",
        "MFA_ADAPTER": "alignmenter_site.sign_in.adapters.SecondFactorAdapter",
        "MFA_FORMS": {
            "activate_totp": "alignmenter_site.sign_in.forms.SetUpAppForm",
            "authenticate": "alignmenter_site.sign_in.forms.CodeForm",
            "reauthenticate": "alignmenter_site.sign_in.forms.ReauthenticationCodeForm",
        },
        # The clock of a phone may be half a minute off.
        "MFA_TOTP_TOLERANCE": 1,
        "MFA_SUPPORTED_TYPES": ["totp", "webauthn", "recovery_codes"],
        "MFA_PASSKEY_LOGIN_ENABLED": True,
        # A passkey can't be guessed; this is about load, and an office may share an address.
        "MFA_RATE_LIMITS": {"webauthn_login": "60/m/ip"},
        "MFA_TOTP_ISSUER": "Alignmenter Datasets",
        # Browsers allow passkeys without HTTPS on localhost only.
        "MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN": not https,
        "MFA_ALLOW_UNVERIFIED_EMAIL": True,
    }


def _company_settings(https: bool) -> dict[str, Any]:
    """The company's own sign-in (OpenID Connect), if ALIGNMENTER_OIDC_URL names it."""
    settings: dict[str, Any] = {
        "SOCIALACCOUNT_ADAPTER": "alignmenter_site.sign_in.adapters.CompanyAdapter",
        # By a link, because browsers don't let a form of ours lead to another site (form-action).
        "SOCIALACCOUNT_LOGIN_ON_GET": True,
        "SOCIALACCOUNT_PROVIDERS": {},
        "COMPANY_SIGN_IN": "",
        "COMPANY_ROLES": env.mapping("ALIGNMENTER_OIDC_GROUPS"),
        "COMPANY_GROUPS_CLAIM": env.text("ALIGNMENTER_OIDC_GROUPS_CLAIM", "groups"),
    }
    if not (url := "".join(env.base_urls("ALIGNMENTER_OIDC_URL", [])[:1])):
        return settings
    if https and not url.startswith("https://"):
        # What the provider says about a person is believed because the connection is encrypted.
        raise env.EnvironmentVariableError("ALIGNMENTER_OIDC_URL must begin with https://")
    client_id, secret = env.text("ALIGNMENTER_OIDC_CLIENT_ID"), env.text("ALIGNMENTER_OIDC_CLIENT_SECRET")
    if not client_id or not secret or not settings["COMPANY_ROLES"]:
        raise env.EnvironmentVariableError(
            "ALIGNMENTER_OIDC_URL needs ALIGNMENTER_OIDC_CLIENT_ID, ALIGNMENTER_OIDC_CLIENT_SECRET and "
            "ALIGNMENTER_OIDC_GROUPS (such as aad-curators=curator,aad-leads=lead)"
        )
    settings["COMPANY_SIGN_IN"] = env.text("ALIGNMENTER_OIDC_NAME", "company account")
    provider = {
        "provider_id": PROVIDER_ID,
        "name": settings["COMPANY_SIGN_IN"],
        "client_id": client_id,
        "secret": secret,
        "settings": {
            "server_url": url,
            "oauth_pkce_enabled": True,
            "scope": env.word_list("ALIGNMENTER_OIDC_SCOPES", ["openid", "profile", "email"]),
        },
    }
    settings["SOCIALACCOUNT_PROVIDERS"] = {"openid_connect": {"APPS": [provider]}}
    return settings
