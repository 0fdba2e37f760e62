from django.apps import AppConfig
from django.conf import settings


class SignInConfig(AppConfig):
    name = "alignmenter_site.sign_in"
    label = "sign_in"

    def ready(self) -> None:
        from alignmenter_site.env import EnvironmentVariableError
        from alignmenter_site.middleware.second_factor import SUPERUSER
        from alignmenter_site.sign_in import events
        from datasets_app.access.roles import ROLES

        for name, roles, known in (
            ("ALIGNMENTER_SECOND_FACTOR", settings.SECOND_FACTOR_ROLES, {*ROLES, SUPERUSER}),
            ("ALIGNMENTER_OIDC_GROUPS", settings.COMPANY_ROLES.values(), {*ROLES}),
        ):
            # A misspelled role would silently protect nobody.
            if unknown := sorted(set(roles) - known):
                raise EnvironmentVariableError(
                    f"{name} names {unknown[0]!r}. Use the names of roles: {', '.join(sorted(known))}."
                )
        events.connect_signals()
