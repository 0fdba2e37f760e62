// Turns of conversations, wherever they are shown: copy the text, show Markdown as it is stored.
(() => {
    "use strict";

    const turnOf = (button) => button.closest("[data-turn-text], .ad-turn");

    // As it is stored: without labels and buttons of what is highlighted.
    const readRaw = (element) => {
        const copy = element.cloneNode(true);
        for (const label of copy.querySelectorAll(".ad-sr, .ad-found-tail")) label.remove();
        return copy.textContent;
    };

    const copyTurn = async (button) => {
        const source = turnOf(button).querySelector("[data-raw]");
        if (!source) return;
        await navigator.clipboard.writeText(readRaw(source));
        button.dataset.done = "";
        setTimeout(() => delete button.dataset.done, 1500);
    };

    const showRaw = (button) => {
        const raw = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(raw));
        turnOf(button).querySelector("[data-raw]").hidden = !raw;
        turnOf(button).querySelector("[data-formatted]").hidden = raw;
    };

    // Without a secure connection browsers copy nothing.
    if (!navigator.clipboard) document.documentElement.classList.add("ad-no-copy");

    document.addEventListener("click", (event) => {
        const button = event.target.closest("[data-copy-turn], [data-show-raw]");
        if (button) (button.hasAttribute("data-copy-turn") ? copyTurn : showRaw)(button);
    });
})();
