// What is on the screen: one reply, or why there is none.
import { isHeld, trouble } from "../outbox.js";
import { byId } from "../page.js";
import { fillAnswers } from "./answers.js";
import { restartClock } from "./clock.js";
import { draftOf } from "./drafts.js";
import { fillEvidence } from "./evidence.js";
import { recentRow } from "./recent.js";
import { CONFIDENCE, DECISIONS, article, campaign, heldArticles, isWaiting, nextReplies, state } from "./state.js";

const bar = byId("decide"), notes = byId("notes"), scroll = byId("scroll");

// On a phone the bar covers the end of the page.
new ResizeObserver(() => document.documentElement.style.setProperty("--q-bar-height", `${bar.offsetHeight}px`)).observe(bar);

// On a wide screen the conversation scrolls, on a phone the page does.
export const scroller = () => (getComputedStyle(scroll).overflowY === "auto" ? scroll : document.scrollingElement);

// Scroll so that the reply begins in the upper half and, if it fits, ends in sight.
const scrollToReply = (item) => {
    const isInner = scroller() === scroll;
    const box = item.querySelector("[data-reply]").getBoundingClientRect();
    const top = isInner ? scroll.getBoundingClientRect().top : document.querySelector(".q-top").offsetHeight;
    const covered = getComputedStyle(bar).position === "fixed" ? bar.offsetHeight : 0;
    const bottom = isInner ? scroll.getBoundingClientRect().bottom : innerHeight - covered;
    const room = bottom - top;
    const margin = Math.max(14, Math.min(0.42 * room, room - box.height - 20));
    scroller().scrollBy({ top: box.top - top - margin, behavior: "instant" });
};

export const focusReply = () => article(state.current)?.querySelector("[data-reply]").focus({ preventScroll: true });

export const show = (id, { focus = true } = {}) => {
    const before = state.current;
    state.current = id;
    for (const item of heldArticles()) item.hidden = item.dataset.assignment !== id;
    for (const item of byId("recent").children) {
        item.toggleAttribute("data-current", item.dataset.assignment === state.revisited);
    }
    for (const button of bar.querySelectorAll("[data-do]:not([data-do=undo])")) button.disabled = !id;
    byId("state").hidden = Boolean(id) || isWaiting();
    byId("waiting").hidden = Boolean(id) || !isWaiting();
    if (!byId("state").hidden) state.ahead.length = 0;  // no reply comes that they are for
    showWaiting();
    if (id === before) return;
    if (!id) return scroller().scrollTo({ top: 0, behavior: "instant" });
    bar.elements.assignment.value = id;
    fillIn(id);
    scrollToReply(article(id));
    if (focus) focusReply();
    state.shownAt = performance.now();
    restartClock();
    document.dispatchEvent(new Event("queue:shown"));
};

// The answers, the note and the confidence: empty, or those of the decision that may be changed.
const fillIn = (id) => {
    const earlier = state.revisited === id ? recentRow(id) : null, draft = draftOf(id);
    showEarlierDecision(id, earlier);
    notes.value = draft?.text || earlier?.dataset.notes || "";
    // Of a reply that was queued again, answers to the questions that are the same.
    const given = earlier?.dataset.answers || article(id).dataset.staying;
    fillAnswers(draft?.answers ?? (given ? JSON.parse(given) : null), "asksSession" in article(id).dataset);
    fillEvidence(draft?.evidence ?? (earlier?.dataset.spans ? { spans: JSON.parse(earlier.dataset.spans) } : null));
    const value = earlier?.dataset.confidence;
    setConfidence(value ? CONFIDENCE.findIndex(([number]) => number && Number(number) === Number(value)) : 0);
    openNote(Boolean(draft?.text));
};

export const showNext = (options) => {
    if (state.expected) return show(article(state.expected) ? state.expected : "", options);
    if (state.revisited && article(state.revisited)) return show(state.revisited, options);
    const next = nextReplies();
    show(next.includes(state.current) ? state.current : next[0] || "", options);
};

export const showWaiting = () => {
    // Who waits for the network or for permission reads why; a key pressed then is for no reply.
    if (trouble() || isHeld(campaign)) state.ahead.length = 0;
    byId("waiting-text").textContent = waitingText();
};

const waitingText = () => {
    if (trouble() === "session") return gettext("Log in to continue.");
    if (trouble() === "network") return gettext("You are offline. The next reply appears when the network is back.");
    if (isHeld(campaign)) return gettext("You can continue labeling when your decisions are accepted again.");
    if (trouble()) return gettext("The next reply appears when the server answers again.");
    const count = state.ahead.length;
    return gettext("Loading the next reply …") + (count ? ` ${interpolate(ngettext(
        "%s key is waiting for it.", "%s keys are waiting for it.", count), [count])}` : "");
};

export const showEarlierDecision = (id, earlier) => {
    const place = article(id).querySelector("[data-decided]");
    place.hidden = !earlier;
    for (const button of bar.querySelectorAll("[data-pressed]")) button.removeAttribute("data-pressed");
    if (!earlier) return;
    const label = document.createElement("b"), sentence = document.createElement("span");
    label.textContent = DECISIONS[earlier.dataset.decision] || gettext("Not counted");
    const [before, after] = gettext("You decided: %s. Decide again to change it.").split("%s");
    sentence.append(before, label, after);
    const keep = document.createElement("button");
    Object.assign(keep, { type: "button", className: "q-btn q-small", textContent: gettext("Keep this decision") });
    keep.dataset.do = "leave";
    place.replaceChildren(sentence, keep);
    bar.querySelector(`[data-do="${earlier.dataset.decision}"]`)?.setAttribute("data-pressed", "");
};

export const setConfidence = (index) => {
    state.confidence = Math.max(0, index);
    byId("confidence").textContent = CONFIDENCE[state.confidence][1];
    bar.querySelector("[data-do=confidence]").toggleAttribute("data-set", state.confidence > 0);
};

export const openNote = (open) => {
    byId("note-panel").toggleAttribute("data-open", open);
    const button = bar.querySelector("[data-do=note]");
    button.setAttribute("aria-expanded", String(open));
    button.toggleAttribute("data-set", notes.value.trim() !== "");
};
