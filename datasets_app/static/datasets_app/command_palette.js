// The command palette (Ctrl+K or ⌘K) and the list of keyboard shortcuts (?).
//
// This script runs in the head, before the page is parsed: a key pressed while a slow page still loads opens the
// palette as soon as the frame shows the page. Before that, nothing can have the focus.
(() => {
    "use strict";

    const DELAY = 120;  // milliseconds after the last key, before the server is asked
    const byId = (id) => document.getElementById(id);
    const state = { isReady: false, wantsOpen: false, shownFor: null, enter: null, timer: 0, request: null, active: -1 };

    const make = (tag, properties, ...children) => {
        const element = Object.assign(document.createElement(tag), properties);
        element.append(...children);
        return element;
    };

    // --- what is found ---

    const options = () => Array.from(byId("palette-list").querySelectorAll("[role=option]"));

    const setActive = (index) => {
        const all = options(), field = byId("palette-field");
        state.active = all.length ? (index + all.length) % all.length : -1;
        all.forEach((option, at) => option.setAttribute("aria-selected", String(at === state.active)));
        if (state.active < 0) return field.removeAttribute("aria-activedescendant");
        field.setAttribute("aria-activedescendant", all[state.active].id);
        all[state.active].scrollIntoView({ block: "nearest" });
    };

    const makeOption = (result, number) => {
        const icon = make("span", { className: "material-symbols-outlined", textContent: result.icon });
        icon.setAttribute("aria-hidden", "true");
        const title = make("span", { className: "ad-palette-title", textContent: result.title, dir: "auto" });
        const detail = make("span", { className: "ad-palette-detail", textContent: result.detail, dir: "auto" });
        const option = make("a", { id: `palette-${number}`, href: result.url, tabIndex: -1 }, icon, title, detail);
        option.setAttribute("role", "option");
        option.addEventListener("pointermove", () => {
            const index = options().indexOf(option);
            if (index !== state.active) setActive(index);
        });
        return option;
    };

    const showResults = (term, results) => {
        const groups = new Map();
        results.forEach((result, number) => {
            if (!groups.has(result.group)) groups.set(result.group, []);
            groups.get(result.group).push(makeOption(result, number));
        });
        const boxes = [...groups].map(([name, members]) => {
            const heading = make("div", { className: "ad-palette-group", textContent: name });
            heading.setAttribute("aria-hidden", "true");
            const box = make("div", {}, heading, ...members);
            box.setAttribute("role", "group");
            box.setAttribute("aria-label", name);
            return box;
        });
        byId("palette-list").replaceChildren(...boxes);
        byId("palette-field").setAttribute("aria-expanded", String(results.length > 0));
        const count = results.length === 1 ? "1 result" : `${results.length} results`;
        say(results.length ? count : `No results for “${term}”`, !results.length);
        byId("palette-list").dataset.term = state.shownFor = term;
        setActive(0);
        if (state.enter?.term === term) go(state.enter.inNewTab);
    };

    const say = (text, visibly) => {
        const status = byId("palette-status");
        status.textContent = text;
        status.classList.toggle("ad-sr", !visibly);
    };

    const find = async () => {
        const term = byId("palette-field").value.trim();
        state.request?.abort();
        const request = state.request = new AbortController();
        try {
            const url = `${byId("palette").dataset.url}?q=${encodeURIComponent(term)}`;
            const response = await fetch(url, { signal: request.signal, redirect: "error" });
            if (!response.ok) throw new Error(String(response.status));
            const { results } = await response.json();
            if (request === state.request) showResults(term, results);
        } catch {
            if (request.signal.aborted) return;
            byId("palette-list").replaceChildren();
            say("The search didn't answer. Check the connection, or reload the page and log in again.", true);
        }
    };

    // --- opening and choosing ---

    const open = () => {
        const dialog = byId("palette");
        state.wantsOpen = !state.isReady;
        if (!state.isReady || !dialog || dialog.open) return;
        document.querySelector("dialog.ad-shortcuts[open]")?.close();
        Object.assign(state, { shownFor: null, enter: null, active: -1 });
        byId("palette-field").value = "";
        byId("palette-list").replaceChildren();
        say("", false);
        dialog.showModal();  // shows the dialog and focuses its field at once
        find();
    };

    const go = (inNewTab) => {
        const term = byId("palette-field").value.trim();
        if (state.shownFor !== term) {
            // The results for this term haven't arrived yet.
            state.enter = { term, inNewTab };
            clearTimeout(state.timer);
            return find();
        }
        state.enter = null;
        const link = options()[state.active];
        if (!link) return;
        byId("palette").close();
        if (inNewTab) window.open(link.href, "_blank", "noopener");
        else location.assign(link.href);
    };

    const STEPS = { ArrowDown: 1, ArrowUp: -1 };

    const readFieldKey = (event) => {
        if (event.isComposing) return;
        if (event.key in STEPS) setActive(state.active + STEPS[event.key]);
        else if (event.key === "Enter") go(event.ctrlKey || event.metaKey);
        else return;
        event.preventDefault();
    };

    // --- the list of shortcuts: those of all pages, and those that this page's own links have ---

    const KEY_NAMES = { j: "j or →", k: "k or ←" };

    const showShortcuts = () => {
        const dialog = document.querySelector("dialog.ad-shortcuts");
        if (!dialog || document.querySelector("dialog[open]")) return;
        const ofPage = Array.from(document.querySelectorAll("[data-key]"), (element) => {
            const name = make("kbd", { textContent: KEY_NAMES[element.dataset.key] || element.dataset.key });
            const text = element.dataset.keyLabel || element.getAttribute("aria-label") || element.title
                || element.textContent.replace(/\s+/g, " ").trim();
            const key = make("th", { scope: "row" }, name);
            return make("tr", {}, key, make("td", { textContent: text }));
        });
        dialog.querySelector("[data-page-shortcuts]").replaceChildren(...ofPage);
        dialog.showModal();
    };

    const isTyping = (target) => target.closest?.("input, textarea, select, [contenteditable]");

    document.addEventListener("keydown", (event) => {
        if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
            event.preventDefault();
            open();
        } else if (event.key === "?" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)) {
            event.preventDefault();
            showShortcuts();
        }
    });

    document.addEventListener("click", (event) => {
        if (event.target.closest("[data-open-palette]")) open();
        else if (event.target.closest("[data-open-shortcuts]")) showShortcuts();
        else if (event.target.closest("[data-close-dialog]")) event.target.closest("dialog").close();
        else if (event.target.matches("dialog.ad-dialog")) event.target.close();  // beside it
    });

    document.addEventListener("DOMContentLoaded", () => {
        const field = byId("palette-field");
        state.isReady = true;
        if (!field) return;
        field.addEventListener("keydown", readFieldKey);
        field.addEventListener("input", () => {
            clearTimeout(state.timer);
            state.enter = null;
            state.timer = setTimeout(find, DELAY);
        });
        if (state.wantsOpen) open();
    });
})();
