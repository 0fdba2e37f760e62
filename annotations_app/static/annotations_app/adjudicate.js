// Resolving disagreements by keyboard. Each key presses a button or link that the mouse can use as well.
(() => {
    "use strict";

    const inField = (target) =>
        target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");

    document.addEventListener("DOMContentLoaded", () => {
        const place = document.querySelector("[data-dispute]");
        const form = document.getElementById("settle-form");
        // There is none for those who may not decide, or not read the text.
        if (!place || !form) return;
        const reason = document.getElementById("reason");
        const hint = document.getElementById("settle-hint");
        const keys = document.getElementById("keys");
        const button = (key) => form.querySelector(`[data-key="${CSS.escape(key)}"]`);
        // Under a schema one button saves all answers.
        const save = button("Enter");
        const answers = Array.from(form.querySelectorAll("[name=label]"));
        const answer = (value) => answers.find((each) => each.value === value);
        const majority = place.dataset.majority;
        let pending = (form.querySelector(".lead-chosen") || {}).value || "";
        let sent = false;

        const back = button("Backspace");
        back.hidden = history.length < 2;
        back.addEventListener("click", () => history.back());
        const help = button("?");
        help.hidden = false;
        help.addEventListener("click", () => keys.showModal());

        const lacksReason = (label) => majority !== "" && label !== majority && reason.value.trim() === "";

        // A label against the majority needs a reason first; remember the label until it is given.
        form.addEventListener("submit", (event) => {
            const label = event.submitter ? event.submitter.value : pending;
            if (sent) {
                event.preventDefault();
            } else if (lacksReason(label)) {
                event.preventDefault();
                pending = label;
                for (const each of answers) each.classList.toggle("lead-chosen", each.value === label);
                hint.textContent = `Most say ${answer(majority).dataset.name}. `
                    + `Enter a reason for ${answer(label).dataset.name}, then press Ctrl+Enter.`;
                reason.focus();
            } else {
                sent = true;
            }
        });
        // After going back from the next page, the form can be sent again.
        window.addEventListener("pageshow", () => { sent = false; });

        reason.addEventListener("keydown", (event) => {
            if (event.key === "Escape") {
                reason.blur();
                event.preventDefault();
            } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
                event.preventDefault();
                const keys = answers.map((each) => each.dataset.key).reverse().join(" or ");
                if (save) save.click();
                else if (pending) answer(pending).click();
                else hint.textContent = `Press Esc to leave the field, then ${keys}.`;
            }
        });

        document.addEventListener("keydown", (event) => {
            const isModified = event.ctrlKey || event.metaKey || event.altKey || event.repeat;
            if (isModified || keys.open || inField(event.target)) return;
            const pressed = button(event.key) || (event.key === "r" ? reason : null);
            // A focused button or link answers to Enter itself.
            if (!pressed || pressed.hidden || (pressed === save && event.target.closest("button, a, summary"))) return;
            event.preventDefault();
            if (inField(pressed)) pressed.focus();
            else pressed.click();
        });

        // Scroll the conversation to the reply in question, without moving the page.
        const judged = document.getElementById("judged");
        const box = judged.closest(".lead-conversation");
        const [reply, seen] = [judged.getBoundingClientRect(), box.getBoundingClientRect()];
        box.scrollTop += reply.top - seen.top - Math.max(16, (seen.height - reply.height) / 2);
        if (document.getElementById("reason-error")) reason.focus();
    });
})();
