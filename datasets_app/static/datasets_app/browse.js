// The list of sessions by keyboard: move, look at a session beside the list, select, tag, exclude and undo.
(() => {
    "use strict";

    const byId = (id) => document.getElementById(id);
    const rows = () => [...document.querySelectorAll(".ad-browse tbody tr")];
    const boxOf = (row) => row.querySelector("[name=row]");
    const linkOf = (row) => row.querySelector("a[data-open]");
    const state = { active: null, anchor: null, peeked: null, undo: null, queue: Promise.resolve() };

    // --- moving ---

    const activate = (row) => {
        state.active?.classList.remove("ad-active");
        state.active = row;
        row.classList.add("ad-active");
        row.focus({ preventScroll: true });
        row.scrollIntoView({ block: "nearest" });
        if (state.peeked) peek(row);
    };

    // Past the ends of a page comes the next one.
    const move = (step) => {
        const all = rows();
        const at = all.indexOf(state.active);
        const next = all[at < 0 ? 0 : at + step];
        if (next) activate(next);
        else document.querySelector(`.ad-browse-list a[rel=${step > 0 ? "next" : "prev"}]`)?.click();
    };

    // --- a look at the session: the conversation of its page ---

    const closePeek = () => {
        state.peeked = null;
        byId("peek").hidden = true;
    };

    const peek = async (row) => {
        const link = linkOf(row), panel = byId("peek");
        if (!link) return;
        state.peeked = row;
        panel.hidden = false;
        panel.querySelector("a").href = link.href;
        panel.querySelector("a").textContent = link.textContent.trim();
        const page = await read(await fetch(link.href));
        if (state.peeked === row) show(page);
        panel.scrollTop = 0;
    };

    const read = async (response) => new DOMParser().parseFromString(await response.text(), "text/html");

    const show = (page) => {
        const parts = page.querySelectorAll(".ad-session-chat > :is(.ad-note, .ad-chat), #comments");
        byId("peek").querySelector("[data-peek]").replaceChildren(...(parts.length ? parts : ["This session can't be shown."]));
    };

    // Comments are sent without leaving the list.
    const comment = async (form) => {
        const row = state.peeked, turn = form.elements.turn.value;
        const answer = await fetch(form.action, { method: "POST", body: new FormData(form) }).catch(() => null);
        if (!answer?.ok) return say("The comment wasn't saved. Try again.");
        const page = await read(answer);
        const refusal = page.querySelector("[data-messages]")?.textContent.trim();
        say(refusal || "Comment added.");
        if (refusal || state.peeked !== row) return;
        show(page);
        byId("peek").querySelector(`#turn-${turn || 0}`)?.scrollIntoView({ block: "nearest" });
        row.focus({ preventScroll: true });
    };

    // --- selecting ---

    const select = (row, through) => {
        const all = rows(), box = boxOf(row);
        if (!box) return;
        if (through && state.anchor) {
            const [first, last] = [all.indexOf(state.anchor), all.indexOf(row)].sort((a, b) => a - b);
            for (const one of all.slice(first, last + 1)) boxOf(one).checked = true;
        } else box.checked = !box.checked;
        state.anchor = row;
        box.dispatchEvent(new Event("change", { bubbles: true }));
    };

    const targets = () => {
        const chosen = rows().filter((row) => boxOf(row)?.checked);
        return chosen.length || !state.active ? chosen : [state.active];
    };

    // --- changes: at once, with a way back ---

    const say = (text, undo) => {
        state.undo = undo;
        byId("toast").hidden = false;
        byId("toast").querySelector("[data-toast]").textContent = text;
        byId("toast").querySelector("button").hidden = !undo;
    };

    // The rows as the server shows them now; one that no longer matches stays until the next page.
    const refresh = async (ids) => {
        const page = await read(await fetch(location.href, { headers: { "HX-Boosted": "true" } }));
        for (const id of ids) {
            const [row, news] = [byId(id), page.getElementById(id)];
            if (!row || !news) continue;
            const isActive = row === state.active;
            row.replaceWith(news);
            window.htmx.process(news);
            if (state.anchor === row) state.anchor = news;
            if (state.peeked === row) state.peeked = news;
            if (isActive) {
                state.active = news;
                news.classList.add("ad-active");
                if (!document.querySelector("dialog[open]")) news.focus({ preventScroll: true });
            }
        }
        document.dispatchEvent(new Event("change"));
    };

    const check = (ids, isChecked) => {
        for (const box of ids.map((id) => byId(id) && boxOf(byId(id)))) if (box) box.checked = isChecked;
        document.dispatchEvent(new Event("change"));
    };

    // One after the other, however fast the keys are.
    const enqueue = (task) => { state.queue = state.queue.then(task); };

    const send = async (fields, ids) => {
        const form = byId("selection"), data = new FormData();
        data.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
        for (const [name, value] of Object.entries(fields)) data.set(name, value);
        for (const id of ids) data.append("row", id.replace("session-", ""));
        try {
            const response = await fetch(form.dataset.change, { method: "POST", body: data });
            const answer = await response.json();
            say(answer.error || `${answer.message}.`, answer.undo && { fields: answer.undo, ids });
            if (response.ok) await refresh(ids);
            else check(ids, ids.length > 1);
        } catch {
            say("The server can't be reached. Nothing was changed here; try again.");
        }
    };

    const change = (action, tag = "") => {
        const chosen = targets();
        if (!chosen.length) return say("Select sessions first.");
        const isExcluded = chosen.every((row) => row.classList.contains("ad-excluded"));
        const ids = chosen.map((row) => row.id);
        check(ids, false);
        enqueue(() => send({ action: action === "exclude" && isExcluded ? "include" : action, tag }, ids));
    };

    const undo = () => enqueue(() => {
        const last = state.undo;
        state.undo = null;
        return last && send(last.fields, last.ids);
    });

    const askTag = () => {
        byId("tag-dialog").showModal();
        byId("tag-dialog").querySelector("input").select();
    };

    // --- another filter, order or page: htmx brings the list, and then the facets ---

    const browse = byId("browse"), facets = byId("facets");
    let kept = {}, held = [];

    const failCounts = () => {
        held = [];
        facets.removeAttribute("aria-busy");
        facets.textContent = byId("list-news").textContent = "Counting failed. Reload the page to try again.";
        if (byId("session-count")) byId("session-count").textContent = "an unknown number of";
    };

    const showList = (list, link) => {
        const isRow = kept.focus?.matches(".ad-browse tr");
        state.active = state.anchor = null;
        if (!isRow) closePeek();
        unhide();
        if (link.closest(".ad-pager")) list.scrollIntoView();
        const next = isRow && rows().at(link.rel === "prev" ? -1 : 0);
        if (next) activate(next);
        else focusAgain(list);
    };

    const showFacets = () => {
        facets.removeAttribute("aria-busy");
        focusAgain(facets);
        // A link without a successor must not keep those behind it for another filter.
        held = held.filter(byId);
        byId(held.shift())?.click();
    };

    const focusAgain = (other) => {
        for (const id of kept.open) if (byId(id)) byId(id).open = true;
        for (const element of [byId(kept.focus?.id), other]) {
            if (kept.focus && document.activeElement === document.body) element?.focus({ preventScroll: true });
        }
    };

    const unhide = () => {
        for (const button of document.querySelectorAll("[data-do]")) button.hidden = false;
    };

    // A facet's link is of the list as it was: pressed while another comes, it waits for its successor.
    browse.addEventListener("click", (event) => {
        const link = event.target.closest("#facets[aria-busy] a");
        if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        event.stopPropagation();
        if (event.detail < 2) held.push(link.id);
    }, true);

    browse.addEventListener("htmx:beforeRequest", () => facets.setAttribute("aria-busy", "true"));
    browse.addEventListener("htmx:beforeSwap", (event) => {
        const { target, xhr, pathInfo, isError } = event.detail;
        const focus = document.activeElement;
        kept = {
            focus: focus === document.body ? null : focus,
            open: [...browse.querySelectorAll("details[open][id]")].map((details) => details.id),
        };
        if (!isError && xhr.responseText.includes(target === facets ? 'id="list-news"' : 'id="browse-list"')) return;
        // Signed out, no longer allowed, or an error: the page itself says which.
        event.stopPropagation();
        event.preventDefault();
        if (target === facets) failCounts();
        else location.assign(pathInfo.finalRequestPath);
    });
    browse.addEventListener("htmx:afterSettle", (event) => {
        if (event.target.id === "browse-list") showList(event.target, event.detail.requestConfig.elt);
        else if (event.target === facets) showFacets();
    });
    browse.addEventListener("htmx:sendError", (event) => {
        if (event.detail.target === facets) return failCounts();
        held = [];
        facets.removeAttribute("aria-busy");
        say("The server can't be reached. The list is as it was.");
    });

    // --- keys and clicks ---

    const KEYS = {
        j: () => move(1),
        k: () => move(-1),
        ArrowDown: () => move(1),
        ArrowUp: () => move(-1),
        " ": () => (state.peeked ? closePeek() : state.active && peek(state.active)),
        Enter: () => state.active && linkOf(state.active)?.click(),
        Escape: closePeek,
        x: () => state.active && select(state.active),
        X: () => state.active && select(state.active, true),
        "/": () => document.querySelector(".ad-browse-filter [name=q]")?.focus(),
    };
    const CHANGES = { e: () => change("exclude"), t: askTag, u: undo };

    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
        const inField = event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
        // Enter and space do what they always do on links, buttons and the like.
        const isPressed = [" ", "Enter"].includes(event.key) && event.target.closest("a, button, summary, input");
        const act = KEYS[event.key] || (byId("selection")?.dataset.change && CHANGES[event.key]);
        if (!act || inField || isPressed) return;
        event.preventDefault();
        act();
    });

    document.addEventListener("click", (event) => {
        const row = event.target.closest(".ad-browse tbody tr");
        if (event.target.closest("[data-undo]")) undo();
        else if (event.target.closest("[data-close-peek]")) closePeek();
        else if (event.target.closest("[data-do]")) CHANGES[event.target.closest("[data-do]").dataset.do]();
        else if (row && event.target.name === "row" && event.shiftKey) {
            event.target.checked = !event.target.checked;
            select(row, true);
        } else if (row && event.target.name === "row") state.anchor = row;
        else if (row && !event.target.closest("a, button, input") && !String(document.getSelection())) linkOf(row)?.click();
    });

    document.addEventListener("submit", (event) => {
        if (!event.target.matches("#peek [data-comment]")) return;
        event.preventDefault();
        comment(event.target);
    });

    document.addEventListener("DOMContentLoaded", () => {
        unhide();
        byId("tag-dialog")?.querySelector("form").addEventListener("submit", (event) => {
            change(event.submitter?.value || "tag", event.target.elements.tag.value.trim());
        });
    });
})();
