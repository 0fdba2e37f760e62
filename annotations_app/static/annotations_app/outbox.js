// The outbox of the annotators' pages, which loses no decision; logging out, and the theme.
//
// What is pressed goes into the outbox (localStorage), from there to the server in order, each with a key of its
// own, until it is acknowledged. What the server doesn't take from this person any more (they may not label now,
// or are no annotator of the campaign) is held: kept, told, tried again now and then, and theirs to download.
// Entries are kept by user, and the server is told whose they are: nobody else sees or sends them.
const outbox = (() => {
    "use strict";

    const $ = (id) => document.getElementById(id);
    const frame = document.querySelector("[data-base]");
    const { user, base, login, csrfCookie } = frame.dataset;
    // What the queue's page (queue.js) adds: a campaign, and what it does when something comes back.
    const desk = { campaign: "", facts: () => ({}), taken() {}, refused() {}, waits() {}, elsewhere() {} };
    const hasDesk = Boolean(document.querySelector("[data-queue]"));

    const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;
    const cookie = (name) => (document.cookie.match(`(?:^|; )${name}=([^;]*)`) || [])[1] || "";
    const uuid = () => {
        if (crypto.randomUUID) return crypto.randomUUID();
        // Without https there is no randomUUID; the same random bits are there.
        const bytes = crypto.getRandomValues(new Uint8Array(16));
        bytes[6] = (bytes[6] & 15) | 64;
        bytes[8] = (bytes[8] & 63) | 128;
        const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
        return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    };

    // --- what this browser keeps --------------------------------------------------------------------

    // Where storage is full or switched off, the page itself keeps what waits, and warns before it is left.
    const memory = new Map();
    const kept = {
        keys() {
            try {
                return [...memory.keys(), ...Object.keys(localStorage)];
            } catch {
                return [...memory.keys()];
            }
        },
        get(key) {
            try {
                return memory.get(key) ?? localStorage.getItem(key);
            } catch {
                return null;
            }
        },
        set(key, value) {
            try {
                localStorage.setItem(key, value);
            } catch {
                memory.set(key, value);
            }
        },
        remove(key) {
            memory.delete(key);
            try {
                localStorage.removeItem(key);
            } catch {
                // It was in memory.
            }
        },
    };

    const prefix = `alignmenter.outbox.${user}.`;
    const held = new Map();  // campaign → why the server takes nothing for it
    let last = 0;

    // One entry of its own for each decision, so that two tabs never overwrite each other's.
    const all = () => {
        const names = kept.keys().filter((name) => name.startsWith(prefix)).sort();
        return names.map((name) => ({ name, ...JSON.parse(kept.get(name)) }));
    };
    const here = () => all().filter((entry) => entry.campaign === desk.campaign);
    const waiting = () => all().filter((entry) => !held.has(entry.campaign));
    const heldBack = () => all().filter((entry) => held.has(entry.campaign));
    const add = (entry) => {
        last = Math.max(Date.now(), last + 1);
        kept.set(`${prefix}${String(last).padStart(15, "0")}.${entry.key}`, JSON.stringify(entry));
        tellSaving();
        pump();
    };
    const drop = (entries) => {
        for (const entry of entries) kept.remove(entry.name);
    };

    // --- what is said about sending -----------------------------------------------------------------

    let trouble = "";  // "", "network", "server" or "session"

    const tellSaving = () => {
        const save = $("save");
        const count = waiting().length;
        const kept = `${plural(count, "decision waits", "decisions wait")}, ${count === 1 ? "it is" : "they are"} kept`;
        const offline = trouble === "network" ? "Offline" : "No answer from the server";
        const text = trouble === "session" ? (count ? kept : "Logged out")
            : trouble ? (count ? `${offline}: ${kept}` : offline)
            : count ? (hasDesk ? "Saving …" : kept) : hasDesk && !heldBack().length ? "Saved" : "";
        if (save.textContent !== text) save.textContent = text;
        save.dataset.kind = trouble ? "waiting" : count ? "saving" : text ? "saved" : "";
        tellHeld();
    };

    const announce = (text) => {
        const place = $("announce");
        if (!place) return;
        // The same words again are news too: a screen reader hears only what changes.
        place.textContent = place.textContent === text ? `${text}\u00a0` : text;
    };

    const tellTrouble = (text, link) => {
        const place = $("trouble");
        if (!place) return;
        const sentence = document.createElement("p");
        sentence.append(text);
        if (link) {
            const anchor = document.createElement("a");
            [anchor.href, anchor.textContent] = link;
            sentence.append(" ", anchor);
        }
        place.replaceChildren(...(text ? [sentence] : []));
    };

    const tellLoggedOut = () => {
        if (trouble === "session") return;
        trouble = "session";
        desk.waits();
        tellTrouble("You are not logged in any more. What you decided is kept in this browser and sent once you are.", [`${login}?next=${encodeURIComponent(location.pathname)}`, "Log in"]);
    };

    // --- sending ------------------------------------------------------------------------------------

    const PATIENCE = 20_000, FIRST_WAIT = 1_000, LONGEST_WAIT = 30_000;  // milliseconds
    let sending = false;
    let wait = FIRST_WAIT;
    let again = 0;

    const ask = (address, options = {}) => fetch(address, {
        credentials: "same-origin",
        redirect: "error",
        signal: AbortSignal.timeout(PATIENCE),
        ...options,
        headers: { "X-Queue": user, ...options.headers },
    });

    const send = (entry) => {
        const body = new URLSearchParams();
        for (const name of ["key", "assignment", "decision", "reason", "words", "notes", "confidence", "seconds", "shown"]) {
            if (entry[name] !== undefined) body.set(name, entry[name]);
        }
        if (desk.campaign === entry.campaign) for (const [name, value] of Object.entries(desk.facts())) body.set(name, value);
        return ask(`${base}${encodeURIComponent(entry.campaign)}/decide/`, {
            method: "POST",
            body,
            keepalive: true,
            headers: { "X-CSRFToken": cookie(csrfCookie) },
        });
    };

    const later = (why) => {
        trouble = why;
        desk.waits();
        clearTimeout(again);
        again = setTimeout(pump, wait * (0.75 + Math.random() / 2));
        wait = Math.min(2 * wait, LONGEST_WAIT);
    };

    // Everything in the outbox, one after the other; stops at what can't be sent now. What is held is tried
    // again only if it is asked for. Behind it nothing of its campaign goes: an undo is of what came before it.
    const pump = async ({ again: once = false } = {}) => {
        if (sending) return;
        sending = true;
        clearTimeout(again);
        const passed = new Set(once ? [] : held.keys());
        try {
            for (let entry = next(passed); entry; entry = next(passed)) {
                tellSaving();
                const outcome = await settle(entry);
                if (outcome === "held") passed.add(entry.campaign);
                else if (!outcome) break;
            }
        } finally {
            sending = false;
            tellSaving();
        }
    };

    const next = (passed) => all().find((entry) => !passed.has(entry.campaign));

    const settle = async (entry) => {
        let response, text;
        try {
            response = await send(entry);
            text = await response.text();
        } catch {
            return later("network");
        }
        const said = response.headers.get("X-Queue");
        if (response.status === 404 || said === "held") return hold(entry, said ? text : "The campaign is not open to you any more.");
        if (response.ok || said === "refused" || [400, 409].includes(response.status)) {
            quiet();
            held.delete(entry.campaign);
            drop([entry]);
            if (entry.campaign === desk.campaign) response.ok ? desk.taken(text) : desk.refused(entry, said && text);
            return true;
        }
        // Logged out, or another account is logged in, or the form's token is of an earlier session.
        if (response.status === 401 || response.status === 403) return tellLoggedOut();
        return later("server");
    };

    // The server answers, whatever it says.
    const quiet = () => {
        wait = FIRST_WAIT;
        if (trouble) tellTrouble("");
        trouble = "";
    };

    const hold = (entry, why) => {
        quiet();
        held.set(entry.campaign, why);
        desk.waits();
        return "held";
    };

    // --- what is held --------------------------------------------------------------------------------

    const TRY_HELD = 30_000;  // milliseconds

    const tellHeld = () => {
        const entries = heldBack(), panel = $("held");
        if (!panel) return;
        if (panel.hidden !== !entries.length) panel.hidden = !entries.length;
        if (!entries.length) return;
        const why = [...new Set(entries.map((entry) => held.get(entry.campaign)))].join(" ");
        const one = entries.length === 1;
        const text = `${plural(entries.length, "decision", "decisions")} could not be handed in: ${why} ${one ? "It is" : "They are"} kept in this browser, and ${one ? "goes in by itself" : "go in by themselves"} once that is possible again.`;
        if ($("held-text").textContent !== text) $("held-text").textContent = text;
        panel.querySelector("[data-held=download]").disabled = !lines(entries).length;
    };

    // Labels as import_annotations reads them: each reply as it was decided last. The text is not kept here, the
    // place is.
    const lines = (entries) => {
        const standing = new Map(entries.map((entry) => [entry.assignment, entry]));
        return [...standing.values()].filter((entry) => ["on", "off"].includes(entry.decision) && entry.session).map((entry) => JSON.stringify({
            text: "",
            label: entry.decision === "on" ? 1 : 0,
            persona_id: entry.persona,
            session_id: entry.session,
            turn_index: Number(entry.turn),
            annotator: frame.dataset.name,
            timestamp: new Date(entry.at).toISOString(),
            ...(entry.notes ? { notes: entry.notes } : {}),
            ...(entry.confidence ? { confidence: Number(entry.confidence) } : {}),
        }));
    };

    const HELD = {
        again: () => pump({ again: true }),
        download() {
            const link = document.createElement("a");
            link.href = URL.createObjectURL(new Blob(lines(heldBack()).map((line) => `${line}\n`), { type: "application/jsonl" }));
            link.download = `${[...held.keys()].join("-")}.labels.jsonl`;
            link.click();
            setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
        },
        discard() {
            const count = heldBack().length;
            askFirst("Discard what was not handed in?", `${plural(count, "decision", "decisions")} will be gone from this browser. A file that you have downloaded stays.`, "Discard", () => {
                drop(heldBack());
                tellSaving();
            });
        },
    };
    for (const button of document.querySelectorAll("[data-held]")) button.addEventListener("click", () => HELD[button.dataset.held]());
    setInterval(() => {
        if (document.visibilityState === "visible" && trouble !== "session" && heldBack().length) pump({ again: true });
    }, TRY_HELD);

    // --- other tabs, and leaving ---------------------------------------------------------------------

    // Another tab has put something into the outbox, or has got rid of it.
    window.addEventListener("storage", (event) => {
        if (!event.key?.startsWith(prefix)) return;
        tellSaving();
        if (event.newValue && desk.campaign) desk.elsewhere(JSON.parse(event.newValue));
    });

    window.addEventListener("online", () => pump({ again: true }));
    window.addEventListener("beforeunload", (event) => {
        // Who goes to log in again takes nothing away with them: it is kept, as is what is held.
        if ((waiting().length && trouble !== "session") || (memory.size && all().length)) event.preventDefault();
    });
    document.addEventListener("visibilitychange", () => {
        if (document.visibilityState === "visible" && all().length) pump({ again: true });
    });

    // --- logging out takes what is kept with it ------------------------------------------------------

    document.querySelector("[data-logout]").addEventListener("submit", async (event) => {
        const form = event.target;
        if (form.dataset.sure) return;
        event.preventDefault();
        await pump();
        const count = all().length;
        if (!count) return leave(form);
        askFirst("Not everything is saved yet", `${plural(count, "decision has", "decisions have")} not reached the server. If you log out now, ${count === 1 ? "it is" : "they are"} lost.`, "Log out and drop them", () => leave(form));
    });

    const askFirst = (heading, text, action, then) => {
        const dialog = $("leave"), button = dialog.querySelector("[data-leave]");
        $("leave-h").textContent = heading;
        $("leave-text").textContent = text;
        button.textContent = action;
        button.onclick = () => {
            dialog.close();
            then();
        };
        dialog.showModal();
    };

    for (const button of document.querySelectorAll("dialog [data-close]")) {
        button.addEventListener("click", () => button.closest("dialog").close());
    }

    const leave = (form) => {
        drop(all());
        form.dataset.sure = "1";
        form.requestSubmit();
    };

    // --- theme: the admin's own choice, changed from here too ----------------------------------------

    const THEMES = { auto: "as the system", light: "light", dark: "dark" };
    const themeSwitch = document.querySelector("[data-theme-switch]");
    const theme = () => {
        try {
            return JSON.parse(kept.get("_x_adminTheme")) || "auto";
        } catch {
            return "auto";
        }
    };
    const useTheme = () => {
        const is = theme();
        themeSwitch.textContent = `Theme: ${THEMES[is]}`;
        document.documentElement.classList.toggle("dark", is === "dark");
        document.documentElement.classList.toggle("light", is === "light");
    };
    themeSwitch.addEventListener("click", () => {
        const names = Object.keys(THEMES);
        kept.set("_x_adminTheme", JSON.stringify(names[(names.indexOf(theme()) + 1) % names.length]));
        useTheme();
    });
    useTheme();

    if (!hasDesk) pump();
    tellSaving();

    return {
        $, kept, uuid, here, waiting, add, pump, ask, announce, tellSaving, tellTrouble, tellLoggedOut, quiet, base,
        trouble: () => trouble,
        isHeld: () => held.has(desk.campaign),
        attach: (page) => Object.assign(desk, page),
    };
})();
