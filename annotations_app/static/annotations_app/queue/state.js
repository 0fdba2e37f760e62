// The one state of the queue page, and what follows from it. The server renders everything; the scripts show and hide.
import { entriesOf, hasWaiting, isHeld } from "../outbox.js";
import { byId } from "../page.js";

export const settings = document.querySelector("[data-queue]").dataset;
export const { campaign } = settings;

export const state = {
    order: [],           // assignments in the order the server gave last
    decided: new Set(),  // decided here, whether or not the server knows yet
    current: "",         // on the screen
    expected: "",        // undone or reopened, but its text isn't here yet
    revisited: settings.revisit,  // reopened, to change its decision
    lastDecided: "",
    confidence: 0,       // index into CONFIDENCE
    shownAt: 0,
    ahead: [],           // keys pressed while the reply they are for was on its way
    ignoresKeysUntil: 0,
    decisionCount: 0,    // an answer from before the latest decision is out of date
};

// The answers are those of the campaign's criterion, as the server renders them.
export const ANSWERS = Object.fromEntries(
    Array.from(document.querySelectorAll("[data-answer]"), ({ dataset }) => [dataset.do, dataset.answer]));
export const DECISIONS = { label: settings.labeled, ...ANSWERS, skip: gettext("Skipped"), flag: gettext("Flagged") };
export const CONFIDENCE = [
    ["", gettext("How sure?")], ["1", gettext("Sure")], ["0.75", gettext("Fairly sure")], ["0.5", gettext("Unsure")],
];

export const article = (id) => byId(`a${id}`);
export const heldArticles = () => Array.from(byId("stack").children);
export const personaDigest = () => byId("persona").dataset.digest;
export const guidelinesDigest = () => byId("guidelines").dataset.digest;

// What the server needs to answer with no more than the page lacks.
export const pageFields = () => ({
    have: heldArticles().map((item) => item.dataset.assignment).join(","),
    persona: personaDigest(),
    guidelines: guidelinesDigest(),
});

export const nextReplies = () => state.order.filter((id) => !state.decided.has(id) && article(id));

export const isMissingReplies = () => state.order.some((id) => !state.decided.has(id) && !article(id));

// Something is on its way, so it is too early to say that there is nothing. "idle" is the state of a page that has
// not sent its first request for replies.
export const isWaiting = () => Boolean(state.expected) || byId("state").dataset.state === "idle"
    || hasWaiting(campaign) || isHeld(campaign) || isMissingReplies();

// The server's order, with the decisions on top that it may not know yet.
export const readOrder = () => {
    state.order = byId("state").dataset.order.split(",").filter(Boolean);
    for (const entry of entriesOf(campaign)) {
        if (entry.decision === "undo") {
            state.decided.delete(entry.assignment);
            putFirst(entry.assignment);
        } else state.decided.add(entry.assignment);
    }
};

// The reply on the screen was replaced while somebody may be typing about it: what they type on isn't a decision on
// the next one, until they pause.
const PAUSE = 1_500;  // milliseconds
export const ignoreTyping = () => { state.ignoresKeysUntil = performance.now() + PAUSE; };
export const ignoresTyping = () => {
    if (performance.now() > state.ignoresKeysUntil) return false;
    ignoreTyping();
    return true;
};

export const putFirst = (id) => {
    state.order = [id, ...state.order.filter((other) => other !== id)];
};
