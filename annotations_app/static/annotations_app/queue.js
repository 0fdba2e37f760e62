// The queue: keys, the clock, and what is shown next.
//
// The server renders everything; this script shows and hides. What is pressed goes into the outbox (outbox.js).
(() => {
    "use strict";

    const { $, kept, uuid, base, pump, ask, announce, trouble, isHeld, quiet, tellSaving, tellTrouble, tellLoggedOut } = outbox;
    const desk = document.querySelector("[data-queue]");
    const campaign = desk.dataset.campaign;
    const waitsHere = () => outbox.waiting().some((entry) => entry.campaign === campaign);

    // --- what is shown ------------------------------------------------------------------------------

    const stack = $("stack"), bar = $("decide"), scroll = $("scroll"), notes = $("notes");
    const WORDS = { on: "On-brand", off: "Off-brand", skip: "Skipped", flag: "Flagged" };
    const SURE = [["", "How sure?"], ["1", "Sure"], ["0.75", "Fairly sure"], ["0.5", "Unsure"]];
    const GUARD = 180;  // milliseconds: nobody has read a reply so soon, it is a key pressed twice

    const settled = new Set();  // decided here, whether or not the server knows yet
    let order = [];             // what the server has given, as it said last
    let current = "";
    let wanted = "";            // brought back from the last decisions; on its way
    let revisited = "";         // a decision that is being changed
    let shownAt = 0;
    let confidence = 0;
    let lastDecided = "";

    const article = (id) => $(`a${id}`);
    const have = () => Array.from(stack.children, (item) => item.dataset.assignment).join(",");
    const digest = () => $("persona").dataset.digest;
    const row = (id) => $("recent").querySelector(`li[data-assignment="${id}"]`);
    const line = () => order.filter((id) => !settled.has(id) && article(id));

    // Time on task: only while the page can be seen.
    const clock = {
        spent: 0,
        since: 0,
        tick() {
            const now = performance.now();
            if (this.since) this.spent += now - this.since;
            this.since = document.visibilityState === "visible" ? now : 0;
        },
        start() {
            this.since = this.spent = 0;
            this.tick();
        },
        seconds() {
            this.tick();
            return (this.spent / 1000).toFixed(2);
        },
    };
    document.addEventListener("visibilitychange", () => clock.tick());

    // On a wide screen the conversation scrolls, on a phone the page does.
    const scroller = () => (getComputedStyle(scroll).overflowY === "auto" ? scroll : document.scrollingElement);

    // The reply stands where the eyes are: its beginning in the upper half, its end in sight if it fits.
    const place = (item) => {
        const reply = item.querySelector("[data-reply]");
        const inner = scroller() === scroll;
        const box = reply.getBoundingClientRect();
        const top = inner ? scroll.getBoundingClientRect().top : document.querySelector(".q-top").offsetHeight;
        const bottom = inner ? scroll.getBoundingClientRect().bottom : innerHeight - bar.offsetHeight;
        const room = bottom - top;
        const from = Math.max(14, Math.min(0.42 * room, room - box.height - 20));
        scroller().scrollBy({ top: box.top - top - from, behavior: "instant" });
    };

    const show = (id, { focus = true } = {}) => {
        const before = current;
        current = id;
        for (const item of stack.children) item.hidden = item.dataset.assignment !== id;
        for (const item of $("recent").children) item.toggleAttribute("data-current", item.dataset.assignment === revisited);
        for (const button of bar.querySelectorAll("[data-do]:not([data-do=undo])")) button.disabled = !id;
        $("state").hidden = Boolean(id) || waits();
        $("waiting").hidden = Boolean(id) || !waits();
        tellWaiting();
        if (id === before) return;
        if (!id) return scroller().scrollTo({ top: 0, behavior: "instant" });
        bar.elements.assignment.value = id;
        const said = row(id);
        const again = revisited === id && said;
        tellDecided(article(id), again);
        notes.value = again ? said.dataset.notes || "" : "";
        setConfidence(again ? SURE.findIndex(([value]) => Number(value) === Number(said.dataset.confidence) && value !== "") : 0);
        openNote(false);
        place(article(id));
        if (focus) article(id).querySelector("[data-reply]").focus({ preventScroll: true });
        shownAt = performance.now();
        clock.start();
    };

    const tellWaiting = () => {
        $("waiting-text").textContent = trouble() === "session" ? "Log in to go on."
            : trouble() === "network" ? "There is no network. The next reply comes when it is back."
            : isHeld() ? "You can go on labelling once your decisions are taken again."
            : trouble() ? "The next reply comes when the server answers again." : "Bringing the next reply …";
    };

    // Something is on its way, so it is too early to say that there is nothing.
    const waits = () => Boolean(wanted) || waitsHere() || isHeld() || order.some((id) => !settled.has(id) && !article(id));

    const showNext = (options) => {
        if (wanted) return show(article(wanted) ? wanted : "", options);
        if (revisited && article(revisited)) return show(revisited, options);
        const next = line();
        show(next.includes(current) ? current : next[0] || "", options);
    };

    const tellDecided = (item, said) => {
        const place = item.querySelector("[data-decided]");
        place.hidden = !said;
        for (const button of bar.querySelectorAll("[data-pressed]")) button.removeAttribute("data-pressed");
        if (!said) return;
        const words = document.createElement("b");
        words.textContent = WORDS[said.dataset.decision] || "Not counted";
        const leave = document.createElement("button");
        [leave.type, leave.className, leave.textContent] = ["button", "q-btn q-small", "Leave it as it is"];
        leave.addEventListener("click", leaveRevisited);
        const sentence = document.createElement("span");
        sentence.append("You decided: ", words, ". Decide again to change it.");
        place.replaceChildren(sentence, leave);
        bar.querySelector(`[data-do="${said.dataset.decision}"]`)?.setAttribute("data-pressed", "");
    };

    const setConfidence = (step) => {
        confidence = Math.max(0, step);
        $("confidence").textContent = SURE[confidence][1];
        bar.querySelector("[data-do=confidence]").toggleAttribute("data-set", confidence > 0);
    };

    const openNote = (open) => {
        $("note-panel").toggleAttribute("data-open", open);
        const button = bar.querySelector("[data-do=note]");
        button.setAttribute("aria-expanded", String(open));
        button.toggleAttribute("data-set", notes.value.trim() !== "");
    };

    // --- the last decisions: as the server lists them, and on top what it doesn't know yet ------------

    const list = (entry) => {
        const old = row(entry.assignment);
        if (entry.decision === "undo") {
            if (old) old.remove();
            return;
        }
        const item = old || $("recent-row").content.firstElementChild.cloneNode(true);
        const said = item.querySelector(".q-said");
        item.dataset.assignment = entry.assignment;
        item.dataset.decision = entry.decision;
        item.dataset.notes = entry.notes || "";
        item.dataset.confidence = entry.confidence || "";
        said.className = `q-said q-said-${entry.decision}`;
        said.textContent = WORDS[entry.decision];
        if (old) return;
        item.querySelector("a").href = `${base}${encodeURIComponent(campaign)}/replies/${entry.assignment}/`;
        item.querySelector("time").dateTime = new Date(entry.at).toISOString();
        item.querySelector(".q-snippet").textContent = entry.snippet;
        $("recent").prepend(item);
        while ($("recent").children.length > 10) $("recent").lastElementChild.remove();
    };

    const localTimes = () => {
        for (const time of $("recent").querySelectorAll("time[datetime]")) {
            const at = new Date(time.dateTime);
            time.textContent = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
            time.title = at.toLocaleString();
        }
    };

    // --- news from the server -------------------------------------------------------------------------

    const takeOver = () => {
        order = $("state").dataset.order.split(",").filter(Boolean);
        // An undo that is on its way puts its reply first, whatever the server said before it came.
        for (const entry of outbox.here()) {
            if (entry.decision === "undo") {
                settled.delete(entry.assignment);
                order = [entry.assignment, ...order.filter((id) => id !== entry.assignment)];
            } else settled.add(entry.assignment);
            list({ ...entry, snippet: entry.snippet || "" });
        }
        localTimes();
    };

    const apply = (text) => {
        const focused = document.activeElement?.closest?.("#recent li")?.dataset.assignment;
        htmx.swap(document.body, text, { swapStyle: "none", swapDelay: 0, settleDelay: 0 });
        const hadCurrent = current;
        takeOver();
        if (focused) row(focused)?.querySelector("a").focus();
        if (wanted && article(wanted)) arrive();
        const told = $("state").querySelector("[data-told]");
        showNext({ focus: !document.activeElement || document.activeElement === document.body });
        const isShut = ["paused", "closed"].includes($("state").dataset.state);
        if (hadCurrent && hadCurrent !== current && !settled.has(hadCurrent) && !isShut) {
            tellTrouble("The reply you looked at is not yours any more: it went to someone else, or was decided elsewhere.");
        }
        if (told) tellTrouble(told.textContent);
        tidy();
    };

    const arrive = () => {
        const id = wanted;
        wanted = "";
        settled.delete(id);
        if (revisited !== id && !order.includes(id)) order = [id, ...order];
        current = "";
        showNext();
        if (revisited !== id) show(id);
    };

    const tidy = () => {
        const needed = new Set([...order, current, wanted, revisited, ...Array.from($("recent").children, (item) => item.dataset.assignment)]);
        for (const item of Array.from(stack.children)) {
            if (!needed.has(item.dataset.assignment)) item.remove();
        }
    };

    const refusedBy = (entry, said) => {
        settled.delete(entry.assignment);
        if (wanted === entry.assignment) wanted = "";
        // What could not be taken back makes way without a word more.
        if (entry.decision === "undo" && current === entry.assignment) current = "";
        if (entry.decision !== "undo") row(entry.assignment)?.remove();
        tellTrouble(said || "The server did not take your last decision: the reply is not yours any more.");
        refresh();
    };

    // Pressed in another window of this browser: it is not asked for again here.
    const elsewhere = (entry) => {
        if (entry.campaign !== campaign || entry.decision === "undo") return;
        settled.add(entry.assignment);
        if (entry.assignment !== current) return;
        if (revisited === current) revisited = "";
        showNext();
        tellTrouble("You have labelled this reply in another window; what you pressed there counts.");
        if (!current) refresh();
    };

    let pressed = 0;  // how many decisions there were; an answer from before one is old

    const refresh = async () => {
        if (waitsHere()) return pump();
        const then = pressed;
        try {
            const query = new URLSearchParams({ have: have(), persona: digest() });
            const response = await ask(`${base}${encodeURIComponent(campaign)}/next/?${query}`);
            if (response.headers.has("X-Queue")) tellTrouble(await response.text());
            else if (response.status === 401 || response.status === 403) tellLoggedOut();
            else if (response.status === 404) tellTrouble("This campaign is not open to you any more.");
            else if (response.ok) {
                const text = await response.text();
                quiet();
                if (then === pressed) apply(text);
            }
        } catch {
            // The next look will tell.
        }
        tellSaving();
    };

    // Whoever reads keeps their replies; whoever has gone gives them back.
    const BEAT = Math.max(5, Math.min(60, Number(desk.dataset.leaseSeconds) / 3)) * 1000, LOOK = 10_000;
    let active = true, beatAt = performance.now();
    for (const sign of ["keydown", "pointerdown", "pointermove", "wheel", "touchmove"]) {
        window.addEventListener(sign, () => { active = true; }, { passive: true });
    }
    setInterval(() => {
        const seen = document.visibilityState === "visible" && trouble() !== "session";
        if (!seen || performance.now() - beatAt < (current ? BEAT : LOOK)) return;
        beatAt = performance.now();
        if (active || !current) refresh();
        active = false;
    }, 1000);

    // What was decided in another tab meanwhile is not shown here again.
    let hiddenAt = 0;
    document.addEventListener("visibilitychange", () => {
        if (document.visibilityState === "hidden") hiddenAt = performance.now();
        else if (performance.now() - hiddenAt > 2_000) refresh();
    });
    window.addEventListener("pageshow", (event) => {
        if (event.persisted) refresh();
    });

    // --- deciding -------------------------------------------------------------------------------------

    // What is pasted may hold characters that only look like text; for those no decision is to be refused.
    const asText = (words) => words.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, " ").trim();

    const press = (decision, more = {}) => {
        if (!current || performance.now() - shownAt < GUARD) return;
        const entry = {
            key: uuid(),
            campaign,
            assignment: current,
            decision,
            at: Date.now(),
            seconds: clock.seconds(),
            shown: digest(),
            snippet: article(current).dataset.snippet,
            session: article(current).dataset.session,
            turn: article(current).dataset.turn,
            persona: desk.dataset.persona,
            ...(decision === "flag" ? more : { notes: asText(notes.value) || undefined }),
            ...(confidence && ["on", "off"].includes(decision) ? { confidence: SURE[confidence][0] } : {}),
        };
        keep(entry);
        settled.add(current);
        lastDecided = current;
        const changed = revisited === current;
        revisited = "";
        showNext();
        const next = changed ? "Changed; back to where you were." : current ? "Next reply." : "";
        announce(`${WORDS[decision]}. ${next}`.trim());
    };

    // The text that is shown in the list stays on the page: in the outbox are decisions and notes only.
    const keep = ({ snippet, ...entry }) => {
        pressed += 1;
        if (trouble() !== "session") tellTrouble("");
        list({ ...entry, snippet });
        localTimes();
        outbox.add(entry);
    };

    const undo = () => {
        if (wanted || performance.now() - shownAt < GUARD) return;
        const of = row(lastDecided) || $("recent").querySelector("li:not([data-decision=''])");
        if (!of) return announce("There is nothing to take back.");
        const id = of.dataset.assignment;
        lastDecided = "";
        revisited = "";
        wanted = id;
        keep({ key: uuid(), campaign, assignment: id, decision: "undo", at: Date.now() });
        if (article(id)) arrive();
        else showNext();
        announce("Taken back. Decide again.");
    };

    const goBackTo = async (id) => {
        if (wanted) return;
        revisited = wanted = id;
        if (!article(id)) {
            showNext();
            try {
                const response = await ask(`${base}${encodeURIComponent(campaign)}/replies/${id}/`);
                if (response.status === 401) tellLoggedOut();
                if (!response.ok) throw new Error("refused");
                htmx.swap(stack, await response.text(), { swapStyle: "beforeend", swapDelay: 0, settleDelay: 0 });
            } catch {
                revisited = wanted = "";
                showNext();
                tellTrouble("This reply can't be shown now; try it again in a moment.");
                return;
            }
        }
        wanted = "";
        current = "";
        show(id);
        announce(`You decided: ${row(id)?.querySelector(".q-said").textContent}. Decide again to change it; Escape leaves it as it is.`);
    };

    const leaveRevisited = () => {
        if (!revisited) return;
        tellDecided(article(revisited), null);
        revisited = "";
        showNext();
        announce("Left as it was.");
    };

    const toReply = () => article(current)?.querySelector("[data-reply]").focus({ preventScroll: true });

    // --- windows ----------------------------------------------------------------------------------------

    const flag = $("flag"), help = $("help");

    const askWhy = () => {
        if (!current) return;
        $("flag-words").value = "";
        $("flag-error").textContent = "";
        flag.showModal();
        flag.querySelector("[value]").focus();
    };

    const flagFor = (reason) => {
        const words = asText($("flag-words").value);
        if (reason === "other" && !words) {
            $("flag-error").textContent = "Say in a few words why, then press Enter.";
            $("flag-words").focus();
            return;
        }
        flag.close();
        press("flag", { reason, words });
    };

    flag.addEventListener("keydown", (event) => {
        const inWords = event.target === $("flag-words");
        if (inWords && event.key === "Enter") {
            event.preventDefault();
            flagFor("other");
        } else if (!inWords && !event.repeat && /^[1-9]$/.test(event.key)) {
            const reason = flag.querySelectorAll(".q-reason")[event.key - 1];
            if (!reason) return;
            event.preventDefault();
            flagFor(reason.value);
        }
    });
    for (const reason of flag.querySelectorAll(".q-reason")) reason.addEventListener("click", () => flagFor(reason.value));
    for (const dialog of document.querySelectorAll("dialog")) dialog.addEventListener("close", toReply);

    // --- keys and buttons ---------------------------------------------------------------------------------

    const DO = {
        on: () => press("on"),
        off: () => press("off"),
        skip: () => press("skip"),
        undo,
        flag: askWhy,
        help: () => help.showModal(),
        confidence: () => {
            if (!current) return;
            setConfidence((confidence + 1) % SURE.length);
            announce(confidence ? `Confidence: ${SURE[confidence][1]}` : "Confidence not given");
        },
        note: () => {
            if (!current) return;
            const open = !$("note-panel").hasAttribute("data-open");
            openNote(open);
            open ? notes.focus() : toReply();
        },
    };
    const KEYS = { 1: "on", 0: "off", s: "skip", f: "flag", n: "note", c: "confidence", Backspace: "undo", "?": "help" };
    const useKeys = $("use-keys");
    useKeys.checked = kept.get("alignmenter.keys") !== "off";
    useKeys.addEventListener("change", () => kept.set("alignmenter.keys", useKeys.checked ? "on" : "off"));

    document.addEventListener("keydown", (event) => {
        if (event.defaultPrevented || event.repeat || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
        if (document.querySelector("dialog[open]") || event.target.closest("input, textarea, select, [contenteditable]")) return;
        if (event.key === "Escape") return leaveRevisited();
        const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (!action || !useKeys.checked) return;
        event.preventDefault();
        DO[action]();
    });

    notes.addEventListener("keydown", (event) => {
        if (event.isComposing || (event.key !== "Escape" && (event.key !== "Enter" || event.shiftKey))) return;
        event.preventDefault();
        event.stopPropagation();
        openNote(false);
        toReply();
        announce(notes.value.trim() ? "Note kept; it goes with your decision." : "No note.");
    });

    document.addEventListener("click", (event) => {
        const button = event.target.closest("[data-do]");
        if (button) {
            event.preventDefault();
            return DO[button.dataset.do]();
        }
        const link = event.target.closest("#recent a");
        if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        goBackTo(link.closest("li").dataset.assignment);
    });
    bar.addEventListener("submit", (event) => event.preventDefault());

    // Earlier turns come above what is read: it must not move. (Browsers differ in seeing to that themselves.)
    let height = 0;
    document.body.addEventListener("htmx:beforeSwap", (event) => {
        height = (event.detail.pathInfo?.requestPath || "").includes("before=") ? scroller().scrollHeight : 0;
    });
    document.body.addEventListener("htmx:afterSwap", () => {
        if (height) scroller().scrollBy({ top: scroller().scrollHeight - height, behavior: "instant" });
        height = 0;
    });

    // htmx fetches further turns; an answer from a login page or an error is no turn.
    document.body.addEventListener("htmx:responseError", (event) => {
        if (event.detail.xhr.status === 401) tellLoggedOut();
        else tellTrouble("This part can't be shown now; try it again in a moment.");
    });
    document.body.addEventListener("htmx:sendError", () => tellTrouble("This part can't be fetched without the network."));

    // --- the beginning --------------------------------------------------------------------------------------

    if (matchMedia("(max-width: 819px)").matches) {
        for (const panel of document.querySelectorAll("[data-panel]")) panel.open = false;
    }
    outbox.attach({
        campaign,
        facts: () => ({ have: have(), persona: digest() }),
        taken: apply,
        refused: refusedBy,
        waits: tellWaiting,
        elsewhere,
    });
    takeOver();
    revisited = desk.dataset.revisit || "";
    showNext();
    pump();
    tellSaving();
})();
