// Logging out from pages without an outbox. Decisions that wait in this browser are sent first, on the annotators'
// pages; only if there are none, the server may clear the storage.
(() => {
    "use strict";

    const PREFIX = "alignmenter.outbox.";
    const namesOf = (prefix) => {
        try {
            return Object.keys(localStorage).filter((name) => name.startsWith(prefix));
        } catch {
            return [];
        }
    };

    document.addEventListener("submit", (event) => {
        const { user, queue } = event.target.dataset;
        if (!queue) return;
        if (namesOf(`${PREFIX}${user}.`).length) {
            event.preventDefault();
            location.assign(`${queue}?all#log-out`);
        } else {
            event.target.elements.storage.value = namesOf(PREFIX).length ? "" : "empty";
        }
    });
})();
