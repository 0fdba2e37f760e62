"""Signing in and one's own account. Their routes are listed in middleware/staff_only.py.

Not all of django-allauth's pages: there is no sign-up, and e-mail addresses are changed by administrators.
"""

from allauth.account import views as account
from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from allauth.socialaccount import views as social
from django.contrib.auth.views import PasswordChangeDoneView
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from alignmenter_site.sign_in import views

_to_account = RedirectView.as_view(pattern_name="account")

urlpatterns = [
    path("login/", account.login, name="login"),
    path("login/", account.login, name="account_login"),
    path("login/code/", factors.authenticate, name="mfa_authenticate"),
    path("login/passkey/", views.PasskeyLoginView.as_view(), name="mfa_login_webauthn"),
    path("login/failed/", social.login_error, name="socialaccount_login_error"),
    path("login/canceled/", social.login_cancelled, name="socialaccount_login_cancelled"),
    path("oidc/<str:provider_id>/login/", views.start_company_sign_in, name="openid_connect_login"),
    path("", include("allauth.socialaccount.providers.openid_connect.urls")),
    path("logout/", views.log_out, name="logout"),
    path("logout/", views.log_out, name="account_logout"),
    path("password/", views.PasswordChangeView.as_view(), name="password_change"),
    path(
        "password/done/",
        PasswordChangeDoneView.as_view(template_name="password_change_done.html"),
        name="password_change_done",
    ),
    path("password/reset/", views.PasswordResetView.as_view(), name="account_reset_password"),
    path("password/reset/sent/", account.password_reset_done, name="account_reset_password_done"),
    path(
        "password/reset/done/",
        account.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    re_path(
        r"^password/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        views.PasswordResetFromKeyView.as_view(),
        name="account_reset_password_from_key",
    ),
    path("account/", views.AccountView.as_view(), name="account"),
    path("account/", views.AccountView.as_view(), name="mfa_index"),
    path("account/language/", views.set_language, name="set_language"),
    path("account/strings/<str:language>.js", views.script_strings, name="script_strings"),
    path("account/app/", totp.activate_totp, name="mfa_activate_totp"),
    path("account/app/remove/", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("account/passkeys/", _to_account, name="mfa_list_webauthn"),
    path("account/passkeys/add/", passkeys.add_webauthn, name="mfa_add_webauthn"),
    path("account/passkeys/<int:pk>/remove/", passkeys.remove_webauthn, name="mfa_remove_webauthn"),
    path("account/codes/", recovery_codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path("account/codes/new/", recovery_codes.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path(
        "account/codes/download/", recovery_codes.download_recovery_codes, name="mfa_download_recovery_codes"
    ),
    path("account/sessions/", views.SessionsView.as_view(), name="usersessions_list"),
    path("account/again/", account.reauthenticate, name="account_reauthenticate"),
    path("account/again/code/", factors.reauthenticate, name="mfa_reauthenticate"),
    path("account/again/passkey/", passkeys.reauthenticate_webauthn, name="mfa_reauthenticate_webauthn"),
    path("account/again/company/", views.reauthenticate_by_company, name="company_reauthenticate"),
]
