// The outbox keeps every decision in this browser until the server acknowledges it.
//
// Each decision gets a key of its own and is sent in order, as often as it takes. What the server doesn't accept from
// this annotator at the moment (no permission, removed from the campaign) is held: kept, shown, retried now and then,
// and available as a download. Entries are stored by user, and requests say whose they are, so that nobody else sees
// or sends them.
import { byId, confirmFirst, countDecisions, showTrouble, site } from "./page.js";
import { stored } from "./storage.js";

const TIMEOUT = 20_000, FIRST_DELAY = 1_000, MAX_DELAY = 30_000, RETRY_HELD = 30_000;  // milliseconds
const FIELDS = [
    "key", "assignment", "decision", "answers", "reason", "words", "notes", "confidence", "seconds", "shown",
    "guidelines", "schema", "evidence",
];
const SHARED_PREFIX = "alignmenter.outbox.";
const PREFIX = `${SHARED_PREFIX}${site.user}.`;

const state = {
    trouble: "",      // "", "network", "server" or "session"
    held: new Map(),  // campaign → why the server accepts nothing for it
    isSending: false,
    delay: FIRST_DELAY,
    timer: 0,
    lastTime: 0,
};
// What the queue adds: its campaign, fields to send along, and what to do about answers.
const page = { campaign: "", fields: () => ({}), onAccepted() {}, onRefused() {}, onStatus() {}, onOtherTab() {} };

export const connect = (queue) => Object.assign(page, queue);
export const trouble = () => state.trouble;
export const isHeld = (campaign) => state.held.has(campaign);

// --- entries: one for each decision, so that two tabs never overwrite each other's ---

export const all = () => {
    const names = stored.keys().filter((name) => name.startsWith(PREFIX)).sort();
    return names.map((name) => ({ name, ...JSON.parse(stored.get(name)) }));
};
// Whether anything waits here, also of others who share this browser.
export const isEmpty = () => !stored.keys().some((name) => name.startsWith(SHARED_PREFIX));
const waiting = () => all().filter((entry) => !isHeld(entry.campaign));
const held = () => all().filter((entry) => isHeld(entry.campaign));
export const entriesOf = (campaign) => all().filter((entry) => entry.campaign === campaign);
export const hasWaiting = (campaign) => waiting().some((entry) => entry.campaign === campaign);

export const add = (entry) => {
    state.lastTime = Math.max(Date.now(), state.lastTime + 1);
    stored.set(`${PREFIX}${String(state.lastTime).padStart(15, "0")}.${entry.key}`, JSON.stringify(entry));
    showSaving();
    pump();
};

export const drop = (entries) => {
    for (const entry of entries) stored.remove(entry.name);
};

// --- requests ---

const csrfToken = () => (document.cookie.match(`(?:^|; )${site.csrfCookie}=([^;]*)`) || [])[1] || "";

export const get = (path, options = {}) => fetch(site.base + path, {
    credentials: "same-origin",
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT),
    ...options,
    headers: { "X-Queue": site.user, ...options.headers },
});

export const post = (path, fields, options = {}) => get(path, {
    method: "POST",
    body: new URLSearchParams(fields),
    ...options,
    headers: { "X-CSRFToken": csrfToken(), ...options.headers },
});

// Requests that nobody caused don't keep the session from ending.
export const backgroundHeaders = (isBackground) => (isBackground ? { "X-Background": "1" } : {});

const send = (entry, isBackground) => {
    const fields = entry.campaign === page.campaign ? page.fields() : {};
    for (const name of FIELDS) {
        if (entry[name] !== undefined) fields[name] = entry[name];
    }
    const headers = backgroundHeaders(isBackground);
    return post(`${encodeURIComponent(entry.campaign)}/decide/`, fields, { keepalive: true, headers });
};

// Send everything in order; stop at what can't be sent now. Held campaigns are retried only on request. After a
// held decision none of its campaign is sent: an undo refers to the decisions before it.
export const pump = async ({ retryHeld = false, isBackground = false } = {}) => {
    if (state.isSending) return;
    state.isSending = true;
    clearTimeout(state.timer);
    const skipped = new Set(retryHeld ? [] : state.held.keys());
    const next = () => all().find((entry) => !skipped.has(entry.campaign));
    try {
        for (let entry = next(); entry; entry = next()) {
            showSaving();
            const outcome = await deliver(entry, isBackground);
            if (outcome === "held") skipped.add(entry.campaign);
            else if (outcome === "stopped") break;
        }
    } finally {
        state.isSending = false;
        showSaving();
    }
};

// Returns "delivered", "held" or "stopped".
const deliver = async (entry, isBackground) => {
    let response, text;
    try {
        response = await send(entry, isBackground);
        text = await response.text();
    } catch {
        return retryLater("network");
    }
    const answer = response.headers.get("X-Queue");
    if (response.status === 404 || answer === "held") {
        return hold(entry, answer ? text : gettext("This campaign is no longer open to you."));
    }
    if (response.ok || answer === "refused" || [400, 409].includes(response.status)) {
        clearTrouble();
        state.held.delete(entry.campaign);
        drop([entry]);
        if (entry.campaign !== page.campaign) return "delivered";
        if (response.ok) page.onAccepted(text);
        else page.onRefused(entry, answer ? text : "");
        return "delivered";
    }
    // Logged out, another account is logged in, or the form's token belongs to an earlier session.
    if (response.status === 401 || response.status === 403) return showLoggedOut();
    return retryLater("server");
};

const retryLater = (reason) => {
    state.trouble = reason;
    page.onStatus();
    clearTimeout(state.timer);
    state.timer = setTimeout(pump, state.delay * (0.75 + Math.random() / 2));
    state.delay = Math.min(2 * state.delay, MAX_DELAY);
    return "stopped";
};

const hold = (entry, reason) => {
    clearTrouble();
    state.held.set(entry.campaign, reason);
    page.onStatus();
    return "held";
};

// The server answers, whatever it says.
export const clearTrouble = () => {
    state.delay = FIRST_DELAY;
    if (state.trouble) showTrouble("");
    state.trouble = "";
};

// --- what the page says about it ---

export const showSaving = () => {
    const save = byId("save"), text = savingText();
    if (save.textContent !== text) save.textContent = text;
    save.dataset.kind = state.trouble ? "waiting" : waiting().length ? "saving" : text ? "saved" : "";
    showHeld();
};

const savingText = () => {
    const count = waiting().length;
    const unsent = count ? interpolate(ngettext(
        "%s decision waiting, stored here", "%s decisions waiting, stored here", count), [count]) : "";
    if (state.trouble === "session") return unsent || gettext("Logged out");
    if (state.trouble) {
        const reason = state.trouble === "network" ? gettext("Offline") : gettext("No answer from the server");
        return unsent ? `${reason}: ${unsent}` : reason;
    }
    if (!page.campaign) return unsent;
    return count ? gettext("Saving …") : held().length ? "" : gettext("Saved");
};

export const showLoggedOut = () => {
    if (state.trouble === "session") return "stopped";
    state.trouble = "session";
    page.onStatus();
    const text = gettext(
        "You are no longer logged in. Your decisions are stored in this browser and sent after you log in.");
    showTrouble(text, {
        href: `${site.login}?next=${encodeURIComponent(location.pathname)}`,
        textContent: gettext("Log in"),
    });
    return "stopped";
};

const showHeld = () => {
    const entries = held(), panel = byId("held");
    if (panel.hidden !== !entries.length) panel.hidden = !entries.length;
    if (!entries.length) return;
    const reasons = [...new Set(entries.map((entry) => state.held.get(entry.campaign)))].join(" ");
    const text = interpolate(gettext(
        "Not accepted: %(decisions)s. %(reasons)s Nothing is lost: they are stored here and sent as soon as possible."),
    { decisions: countDecisions(entries.length), reasons }, true);
    if (byId("held-text").textContent !== text) byId("held-text").textContent = text;
    panel.querySelector("[data-held=download]").disabled = !labelLines(entries).length;
};

// Labels in the format that import_annotations reads: the latest decision on each reply. The text isn't stored here,
// its place is.
const labelLines = (entries) => {
    const latest = new Map(entries.map((entry) => [entry.assignment, entry]));
    const values = JSON.parse(byId("held").dataset.values);
    const labels = [...latest.values()].filter(({ session }) => session);
    return labels.flatMap((entry) => listAnswers(entry, values).map((answer) => JSON.stringify({
        text: "",
        ...answer,
        persona_id: entry.persona,
        session_id: entry.session,
        turn_index: Number(entry.turn),
        annotator: site.name,
        timestamp: new Date(entry.at).toISOString(),
        ...(entry.notes ? { notes: entry.notes } : {}),
        ...(entry.evidence ? { evidence: listSpans(JSON.parse(entry.evidence)) } : {}),
        ...(entry.confidence ? { confidence: Number(entry.confidence) } : {}),
    })));
};
const listSpans = ({ spans }) => spans.map(([start, end]) => ({ start, end }));
// Under a schema, a line for each criterion.
const listAnswers = ({ answers, decision, schema }, values) => {
    if (!answers) return decision in values ? [{ label: values[decision] }] : [];
    return Object.entries(JSON.parse(answers)).map(([criterion, value]) => ({ criterion, value, schema }));
};

const HELD_ACTIONS = {
    retry: () => pump({ retryHeld: true }),
    download() {
        const lines = labelLines(held()).map((line) => `${line}\n`);
        const link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
        link.download = `${[...state.held.keys()].join("-")}.labels.jsonl`;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
    },
    discard: () => confirmFirst({
        heading: gettext("Discard these decisions?"),
        text: interpolate(ngettext(
            "%s decision will be deleted from this browser. Files you downloaded stay.",
            "%s decisions will be deleted from this browser. Files you downloaded stay.",
            held().length), [held().length]),
        action: gettext("Discard"),
        then() {
            drop(held());
            showSaving();
        },
    }),
};

// --- events ---

for (const button of document.querySelectorAll("[data-held]")) {
    button.addEventListener("click", () => HELD_ACTIONS[button.dataset.held]());
}
setInterval(() => {
    const canSend = document.visibilityState === "visible" && state.trouble !== "session";
    if (canSend && held().length) pump({ retryHeld: true, isBackground: true });
}, RETRY_HELD);
// Another tab added or delivered a decision.
window.addEventListener("storage", (event) => {
    if (!event.key?.startsWith(PREFIX)) return;
    showSaving();
    if (event.newValue) page.onOtherTab(JSON.parse(event.newValue));
});
window.addEventListener("online", () => pump({ retryHeld: true }));
document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && all().length) pump({ retryHeld: true });
});
window.addEventListener("beforeunload", (event) => {
    // Going to the login page loses nothing: the decisions are stored, and so are held ones.
    const isSendingSoon = waiting().length && state.trouble !== "session";
    if (isSendingSoon || (stored.hasMemoryOnly() && all().length)) event.preventDefault();
});
