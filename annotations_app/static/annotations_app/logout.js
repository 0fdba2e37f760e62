// Logging out sends what waits in this browser first. What can't be sent is deleted, after a question: the next
// person at this browser must not find it. What others left here stays until they log in again; only if there is
// nothing, the server may clear the whole storage.
import * as outbox from "./outbox.js";
import { confirmFirst } from "./page.js";
import { inTab } from "./storage.js";

const form = document.querySelector("[data-logout]");

const logOut = () => {
    outbox.drop(outbox.all());
    inTab.keys().forEach(inTab.remove);
    form.dataset.confirmed = "1";
    form.elements.storage.value = outbox.isEmpty() ? "empty" : "";
    form.requestSubmit();
};

form.addEventListener("submit", async (event) => {
    if (form.dataset.confirmed) return;
    event.preventDefault();
    await outbox.pump();
    const count = outbox.all().length;
    if (!count) return logOut();
    confirmFirst({
        heading: gettext("Some decisions aren't saved yet"),
        text: interpolate(ngettext(
            "Logging out deletes %s decision that the server hasn't received.",
            "Logging out deletes %s decisions that the server hasn't received.", count), [count]),
        action: gettext("Log out and discard"),
        then: logOut,
    });
});

// Sent here by the log-out of a page without an outbox (log_out.js).
if (location.hash === "#log-out") form.requestSubmit();
