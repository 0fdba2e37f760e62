from typing import Any

from allauth.account import forms
from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa import app_settings
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms as code_forms
from allauth.mfa.models import Authenticator
from allauth.mfa.totp import forms as totp_forms
from django.contrib.auth.forms import PasswordChangeForm
from django.core.cache import cache
from django.db import transaction
from django.forms import BooleanField, Form
from django.utils.translation import gettext_lazy

from alignmenter_site.sign_in.company import has_company_sign_in
from datasets_app.access import tokens
from datasets_app.core import audit


class LoginForm(forms.LoginForm):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["login"].label = gettext_lazy("User name")
        self.fields["password"].help_text = ""
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)

    def add_prefix(self, field_name: str) -> str:
        """What password managers look for."""
        return super().add_prefix("username" if field_name == "login" else field_name)


class _NewPasswordForm(Form):
    """Ends other sessions, because they are signed with the password. Tokens are for programs, which would
    stop: people choose."""

    user: Any

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if tokens.list_active(self.user).exists():
            self.fields["revoke_tokens"] = BooleanField(
                required=False,
                label=gettext_lazy("Also revoke my API tokens"),
                help_text=gettext_lazy(
                    "Programs that use them stop. Choose this if somebody else may have used your account."
                ),
            )

    def save(self, *args: Any, **options: Any) -> Any:
        with transaction.atomic():
            if self.cleaned_data.get("revoke_tokens"):
                tokens.revoke_all(self.user, actor=audit.current_user())
            return super().save(*args, **options)  # type: ignore[misc]


class ChangePasswordForm(_NewPasswordForm, PasswordChangeForm):
    pass


class SetPasswordForm(_NewPasswordForm, forms.ResetPasswordKeyForm):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["password1"].label = gettext_lazy("New password")
        self.fields["password2"].label = gettext_lazy("New password again")


class _OneTimeCodeForm(code_forms.BaseAuthenticateForm):
    """Accepts a code of an authenticator app once. django-allauth remembers it for one period only, but with
    a tolerance it is valid for longer."""

    def clean_code(self) -> str:
        code: str = super().clean_code()
        if self.authenticator.type == Authenticator.Type.TOTP and not _use_code(self.user, code):
            self._emit_authentication_failed(self.authenticator)
            raise get_adapter().validation_error("incorrect_code")
        return code


def _use_code(user: Any, code: str) -> bool:
    """Whether the code of an authenticator app wasn't used before."""
    periods = 1 + 2 * app_settings.TOTP_TOLERANCE
    key = f"one-time-code:{user.pk}:{normalize_user_code(code)}"
    return bool(cache.add(key, True, periods * app_settings.TOTP_PERIOD))


class SetUpAppForm(totp_forms.ActivateTOTPForm):
    """Uses up the code with which an app is set up, too."""

    def clean_code(self) -> str:
        code: str = super().clean_code()
        _use_code(self.user, code)
        return code


class CodeForm(_OneTimeCodeForm, code_forms.AuthenticateForm):
    pass


class ReauthenticationCodeForm(_OneTimeCodeForm, code_forms.ReauthenticateForm):
    pass


class ResetPasswordForm(forms.ResetPasswordForm):
    """Sends links only to people who sign in with a password here."""

    def clean_email(self) -> str:
        email: str = super().clean_email()
        self.users = [user for user in self.users if not has_company_sign_in(user)]
        return email
