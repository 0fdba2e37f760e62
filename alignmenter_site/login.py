from typing import Any

from unfold.forms import AuthenticationForm


class LoginForm(AuthenticationForm):
    """Says no more than that it didn't work: not whether the name, the password or a right is missing."""

    error_messages: dict[str, Any] = {
        **AuthenticationForm.error_messages,
        "invalid_login": "Name or password is wrong.",
        "inactive": "Name or password is wrong.",
    }
