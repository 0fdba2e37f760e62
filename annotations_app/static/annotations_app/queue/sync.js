// The queue and the server: its updates, and the requests that keep the replies leased to this page.
import * as outbox from "../outbox.js";
import { byId, showTrouble } from "../page.js";
import { keepDraft, showLost } from "./drafts.js";
import { listUnsent, recentIds, recentRow } from "./recent.js";
import { article, campaign, heldArticles, ignoreTyping, pageFields, putFirst, readOrder, settings, state } from "./state.js";
import { show, showNext } from "./view.js";

const MAX_BEAT = 60_000, MIN_BEAT = 5_000, LOOK_AGAIN = 10_000, HIDDEN_LONG = 2_000;  // milliseconds

export const start = () => {
    readOrder();
    listUnsent();
    showNext();
    refresh();
};

export const applyUpdate = (html) => {
    const focused = document.activeElement?.closest?.("#recent li")?.dataset.assignment;
    htmx.swap(document.body, html, { swapStyle: "none", swapDelay: 0, settleDelay: 0 });
    // Other questions need another page. What was answered so far is kept for it: see drafts.js.
    if (byId("state").dataset.schema !== (settings.schema || "")) return location.reload();
    const before = state.current;
    readOrder();
    listUnsent();
    if (focused) recentRow(focused)?.querySelector("a").focus();
    if (state.expected && article(state.expected)) showExpected();
    showNext({ focus: !document.activeElement || document.activeElement === document.body });
    reportUpdate(before);
    showLost();
    removeUnneeded();
};

const reportUpdate = (before) => {
    const notice = byId("state").querySelector("[data-notice]");
    const isClosed = ["paused", "closed"].includes(byId("state").dataset.state);
    if (notice) showTrouble(notice.textContent);
    else if (before && before !== state.current && !state.decided.has(before) && !isClosed) {
        ignoreTyping();
        showTrouble(gettext("The reply you were reading was reassigned, or you decided on it elsewhere."));
    }
};

export const showExpected = () => {
    const id = state.expected;
    state.expected = "";
    state.decided.delete(id);
    if (state.revisited !== id && !state.order.includes(id)) putFirst(id);
    state.current = "";
    showNext();
    if (state.revisited !== id) show(id);
};

const removeUnneeded = () => {
    const needed = new Set([...state.order, state.current, state.expected, state.revisited, ...recentIds()]);
    for (const item of heldArticles()) {
        if (!needed.has(item.dataset.assignment)) item.remove();
    }
};

const showRefusal = (entry, message) => {
    state.decided.delete(entry.assignment);
    if (state.expected === entry.assignment) state.expected = "";
    // An undo that was refused needs no reply on the screen.
    if (entry.decision !== "undo") {
        recentRow(entry.assignment)?.remove();
        keepDraft(entry.assignment, {
            text: entry.notes || entry.words,
            answers: entry.answers && JSON.parse(entry.answers),
            evidence: entry.evidence && JSON.parse(entry.evidence),
        });
    }
    else if (state.current === entry.assignment) state.current = "";
    showTrouble(message || gettext("The server didn't accept your last decision: the reply is no longer yours."));
    refresh();
};

const showOtherTab = (entry) => {
    if (entry.campaign !== campaign || entry.decision === "undo") return;
    state.decided.add(entry.assignment);
    if (entry.assignment !== state.current) return;
    if (state.revisited === state.current) state.revisited = "";
    showNext();
    ignoreTyping();
    showLost();
    showTrouble(gettext("You labeled this reply in another window; that decision counts."));
    if (!state.current) refresh();
};

// Ask for replies and renew the leases. An answer to a decision does the same.
export const refresh = async ({ isBackground = false } = {}) => {
    if (outbox.hasWaiting(campaign)) return outbox.pump();
    const { decisionCount } = state;
    try {
        const headers = outbox.backgroundHeaders(isBackground);
        const response = await outbox.post(`${encodeURIComponent(campaign)}/lease/`, pageFields(), { headers });
        if (response.headers.has("X-Queue")) showTrouble(await response.text());
        else if (response.status === 401 || response.status === 403) outbox.showLoggedOut();
        else if (response.status === 404) showTrouble(gettext("This campaign is no longer open to you."));
        else if (response.ok) {
            const html = await response.text();
            outbox.clearTrouble();
            if (decisionCount === state.decisionCount) applyUpdate(html);
        }
    } catch {
        // The next heartbeat asks again.
    }
    outbox.showSaving();
};

// Readers keep their leases; those of people who left run out.
const beat = Math.max(MIN_BEAT, Math.min(MAX_BEAT, (1000 * Number(settings.leaseSeconds)) / 3));
const activity = { seen: true, lastBeat: performance.now(), hiddenAt: 0 };

for (const sign of ["keydown", "pointerdown", "pointermove", "wheel", "touchmove"]) {
    window.addEventListener(sign, () => { activity.seen = true; }, { passive: true });
}
setInterval(() => {
    const canAsk = document.visibilityState === "visible" && outbox.trouble() !== "session";
    if (!canAsk || performance.now() - activity.lastBeat < (state.current ? beat : LOOK_AGAIN)) return;
    activity.lastBeat = performance.now();
    if (activity.seen || !state.current) refresh({ isBackground: !activity.seen });
    activity.seen = false;
}, 1000);
// Don't show again what was decided in another tab meanwhile.
document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") activity.hiddenAt = performance.now();
    else if (performance.now() - activity.hiddenAt > HIDDEN_LONG) refresh();
});
window.addEventListener("pageshow", (event) => {
    if (event.persisted) refresh();
});

outbox.connect({ onAccepted: applyUpdate, onRefused: showRefusal, onOtherTab: showOtherTab });
