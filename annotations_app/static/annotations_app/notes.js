// Grouping notes by keyboard. Each key presses a control that the mouse can use as well.
(() => {
    "use strict";

    document.addEventListener("DOMContentLoaded", () => {
        const form = document.querySelector("[data-notes]");
        if (!form) return;
        const boxes = Array.from(form.querySelectorAll("[name=note]"));
        const move = (step) => {
            const at = boxes.indexOf(document.activeElement);
            const next = boxes[Math.max(0, Math.min(boxes.length - 1, at < 0 ? 0 : at + step))];
            next?.focus();
            next?.closest("li").scrollIntoView({ block: "nearest" });
        };
        const actions = {
            j: () => move(1),
            k: () => move(-1),
            x: () => { if (boxes.includes(document.activeElement)) document.activeElement.click(); },
            m: () => document.getElementById("mode-name").focus(),
        };
        document.addEventListener("keydown", (event) => {
            if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input:not([type=checkbox]), select")) return;
            const button = form.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
            const act = actions[event.key] || (button && (() => button.click()));
            if (!act) return;
            event.preventDefault();
            act();
        });
        // Enter in the field makes a mode, not whatever button comes first.
        form.addEventListener("submit", () => form.setAttribute("aria-busy", "true"));
    });
})();
