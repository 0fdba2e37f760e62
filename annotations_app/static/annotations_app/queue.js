// The queue page: keyboard and buttons. The parts are in queue/, what is sent in outbox.js.
import "./logout.js";
import * as outbox from "./outbox.js";
import { announce, byId, showTrouble } from "./page.js";
import { choose, isTyped, onAnswer, readAnswers } from "./queue/answers.js";
import { decide, leaveRevisited, reopen, undo } from "./queue/decisions.js";
import { mark, onMark, readEvidence } from "./queue/evidence.js";
import { discardLost, keepDraft } from "./queue/drafts.js";
import { openFlagDialog } from "./queue/flag_dialog.js";
import { ANSWERS, CONFIDENCE, campaign, ignoresTyping, pageFields, settings, state } from "./queue/state.js";
import { start } from "./queue/sync.js";
import { focusReply, openNote, scroller, setConfidence, showWaiting } from "./queue/view.js";
import { stored } from "./storage.js";

const notes = byId("notes"), useKeys = byId("use-keys");

const ACTIONS = {
    undo,
    leave: leaveRevisited,
    flag: openFlagDialog,
    discard: discardLost,
    mark,
    help: () => byId("help").showModal(),
    confidence() {
        if (!state.current) return;
        setConfidence((state.confidence + 1) % CONFIDENCE.length);
        announce(state.confidence
            ? interpolate(gettext("Confidence: %s"), [CONFIDENCE[state.confidence][1]]) : gettext("No confidence given"));
    },
    note() {
        if (!state.current) return;
        const open = !byId("note-panel").hasAttribute("data-open");
        openNote(open);
        if (open) notes.focus();
        else focusReply();
    },
};
// An answer to one of several criteria: the id of its control follows.
const CHOOSE = "choose:";
const KEYS = Object.fromEntries(
    Array.from(document.querySelectorAll("[data-key]"), ({ dataset, id }) => [dataset.key, dataset.do || CHOOSE + id]));
const chosenBy = (action) => (action?.startsWith(CHOOSE) ? byId(action.slice(CHOOSE.length)) : null);
// What isn't one of the actions above decides: an answer, or a skip.
const perform = (name) => {
    const input = chosenBy(name);
    if (!input) return Object.hasOwn(ACTIONS, name) ? ACTIONS[name]() : decide(name);
    if (state.current) choose(input);
};

// --- keyboard ---

// No finger presses the same key again this fast: the key bounces. A second click comes later.
const BOUNCE = 50, DOUBLE_CLICK = 180;  // milliseconds
const DECIDING = [...Object.keys(ANSWERS), "skip", "undo"];
const isOpening = (action) => ["note", "flag"].includes(action) || isTyped(chosenBy(action));
const isJustShown = () => performance.now() - state.shownAt < DOUBLE_CLICK;
const isOnItsWay = (action) => !outbox.trouble() && (state.ahead.length || state.expected
    || (!state.current && action !== "undo" && !byId("waiting").hidden));

// A key is for the reply on the screen. While that is loading keys wait for it, in their order; undo takes back the
// last of them. What follows a key that opens a field would be its text.
const press = (action) => {
    if (action === "help" || !isOnItsWay(action)) return perform(action);
    if (action === "undo" && state.ahead.length) state.ahead.pop();
    else if (!isOpening(state.ahead.at(-1))) state.ahead.push(action);
    showWaiting();
};
document.addEventListener("queue:shown", () => setTimeout(() => {
    // A key may have decided on this reply meanwhile: then they wait for the next.
    while (state.current && state.ahead.length && !document.querySelector("dialog[open]")) {
        const action = state.ahead.shift();
        perform(action);
        if (DECIDING.includes(action)) break;
    }
}, DOUBLE_CLICK));

useKeys.checked = stored.get("alignmenter.keys") !== "off";
useKeys.addEventListener("change", () => stored.set("alignmenter.keys", useKeys.checked ? "on" : "off"));

const TYPING = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]";
let last = { key: "", timeStamp: 0 };
document.addEventListener("keydown", (event) => {
    const isBounce = event.key === last.key && event.timeStamp - last.timeStamp < BOUNCE;
    last = event;
    const isModified = event.repeat || event.isComposing || event.ctrlKey || event.altKey || event.metaKey;
    if (event.defaultPrevented || isModified || document.querySelector("dialog[open]")) return;
    if (event.target.closest(TYPING) || ignoresTyping()) return;
    // Enter on a button or a link is for that one.
    if (event.key === "Enter" && event.target.closest("button, a, summary")) return;
    if (event.key === "Escape") return leaveRevisited();
    const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || !useKeys.checked) return;
    event.preventDefault();
    if (!isBounce) press(action);
});

notes.addEventListener("keydown", (event) => {
    const closes = event.key === "Escape" || (event.key === "Enter" && !event.shiftKey);
    if (event.isComposing || !closes) return;
    event.preventDefault();
    openNote(false);
    focusReply();
    announce(notes.value.trim() ? gettext("Note saved with your decision.") : gettext("No note."));
});

const keepGiven = () => keepDraft(state.current, {
    text: notes.value, answers: settings.schema ? readAnswers() : undefined, evidence: readEvidence(),
});
onMark(keepGiven);
notes.addEventListener("input", keepGiven);
onAnswer(keepGiven);
// A field of an answer is left as the note is; Enter then saves all answers.
byId("criteria")?.addEventListener("keydown", (event) => {
    const closes = event.key === "Escape" || (event.key === "Enter" && !event.shiftKey);
    if (event.isComposing || !closes || !isTyped(event.target)) return;
    event.preventDefault();
    focusReply();
});

// --- buttons and links ---

document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (button) {
        event.preventDefault();
        const { do: action } = button.dataset;
        if (event.detail && DECIDING.includes(action) && isJustShown()) return;
        return perform(action);
    }
    const link = event.target.closest("#recent a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    reopen(link.closest("li").dataset.assignment);
});
byId("decide").addEventListener("submit", (event) => event.preventDefault());
for (const dialog of document.querySelectorAll("dialog")) dialog.addEventListener("close", focusReply);

// --- more of a conversation, fetched by htmx ---

// Earlier turns are inserted above what is being read, which must not move. Browsers differ in handling that.
let heightBefore = 0;
document.body.addEventListener("htmx:beforeSwap", (event) => {
    const isAbove = (event.detail.pathInfo?.requestPath || "").includes("before=");
    heightBefore = isAbove ? scroller().scrollHeight : 0;
});
document.body.addEventListener("htmx:afterSwap", () => {
    if (heightBefore) scroller().scrollBy({ top: scroller().scrollHeight - heightBefore, behavior: "instant" });
    heightBefore = 0;
});
document.body.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status === 401) outbox.showLoggedOut();
    else showTrouble(gettext("This part can't be shown now. Try again in a moment."));
});
document.body.addEventListener("htmx:sendError", () => {
    showTrouble(gettext("This part can't be loaded while you are offline."));
});

// --- start ---

if (matchMedia("(max-width: 819px)").matches) {
    for (const panel of document.querySelectorAll("[data-panel]")) panel.open = false;
}
outbox.connect({ campaign, fields: pageFields, onStatus: showWaiting });
start();
outbox.pump();
outbox.showSaving();
