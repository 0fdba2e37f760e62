// Pages for logging in and for one's own account: errors of passkeys, and forms that waited for a password.
(() => {
    "use strict";

    const MESSAGES = {
        NotAllowedError: gettext("The passkey wasn't confirmed. Try again."),
        InvalidStateError: gettext("This passkey is already added."),
    };
    const FAILED = gettext("The passkey can't be used here. Try another way to log in.");

    document.addEventListener("allauth.error", (event) => {
        event.preventDefault();
        const place = document.getElementById("passkey-error");
        place.textContent = MESSAGES[event.detail.exception?.name] || FAILED;
        place.hidden = false;
    });

    // What django-allauth's script asks the browser for; the buttons say which.
    for (const form of document.querySelectorAll("[data-passkey]")) {
        const kind = form.dataset.passkey;
        window.allauth.webauthn.forms[`${kind}Form`]({
            ids: {
                [kind]: form.querySelector("[data-passkey-button]").id,
                credential: form.elements.credential.id,
                passwordless: form.elements.passwordless?.id,
                data: "passkey-data",
            },
        });
    }

    for (const form of document.querySelectorAll("[data-send-again]")) form.submit();
})();
