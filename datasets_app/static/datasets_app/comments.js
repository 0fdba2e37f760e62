// Comments on turns by key or click: on the page of a session, and in the preview beside the list.
(() => {
    "use strict";

    const chat = () => [...document.querySelectorAll(".ad-session-chat")].find((one) => one.offsetParent || one.closest(".ad-peek:not([hidden])"));
    const turns = () => [...(chat()?.querySelectorAll(".ad-chat > .ad-turn") || [])];
    // The one that was chosen; else the first in sight.
    const current = () => {
        const top = chat().closest(".ad-peek") ? 0 : 120;
        const all = turns();
        return all.find((turn) => turn.matches(".ad-active, :focus-within"))
            || all.find((turn) => turn.getBoundingClientRect().bottom > top);
    };

    const choose = (turn) => {
        for (const other of turns()) other.classList.toggle("ad-active", other === turn);
        turn?.scrollIntoView({ block: "nearest" });
    };

    const move = (step) => {
        const all = turns();
        const at = all.findIndex((turn) => turn.matches(".ad-active"));
        choose(all[Math.max(0, at + step)] || all.at(-1));
    };

    // The one form of the page goes below the turn, and back when it is closed.
    const form = () => (chat().closest(".ad-peek") || document).querySelector("[data-comment]");

    const open = (turn) => {
        const one = form();
        if (!one || !turn) return;
        one.home ||= one.parentElement;
        choose(turn);
        turn.append(one);
        one.elements.turn.value = turn.id.replace("turn-", "");
        one.elements.text.focus();
    };

    const close = (one) => {
        one.elements.turn.value = "";
        if (!one.home) return;
        const turn = one.closest(".ad-turn");
        one.home.append(one);
        turn?.focus({ preventScroll: true });
    };

    const KEYS = { c: () => open(current()), n: () => move(1), p: () => move(-1) };

    document.addEventListener("keydown", (event) => {
        const writing = event.target.closest("[data-comment]");
        if (writing && event.key === "Escape") close(writing);
        else if (writing && event.key === "Enter" && (event.ctrlKey || event.metaKey)) writing.requestSubmit();
        if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
        if (!KEYS[event.key] || event.target.closest("input, textarea, select, [contenteditable]") || !chat()) return;
        event.preventDefault();
        KEYS[event.key]();
    });

    document.addEventListener("click", (event) => {
        const turn = event.target.closest(".ad-session-chat .ad-turn");
        if (!turn || event.target.closest("[data-comment]")) return;
        if (event.target.closest("[data-comment-turn]")) open(turn);
        else if (event.target.closest(".ad-bubble")) choose(turn);
    });
})();
