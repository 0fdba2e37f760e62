from typing import Any

from allauth.account import forms

from alignmenter_site.sign_in.company import has_company_sign_in


class LoginForm(forms.LoginForm):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["login"].label = "User name"
        self.fields["password"].help_text = ""
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)

    def add_prefix(self, field_name: str) -> str:
        """What password managers look for."""
        return super().add_prefix("username" if field_name == "login" else field_name)


class SetPasswordForm(forms.ResetPasswordKeyForm):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["password1"].label = "New password"
        self.fields["password2"].label = "New password again"


class ResetPasswordForm(forms.ResetPasswordForm):
    """Sends links only to people who sign in with a password here."""

    def clean_email(self) -> str:
        email: str = super().clean_email()
        self.users = [user for user in self.users if not has_company_sign_in(user)]
        return email
