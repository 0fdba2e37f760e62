// Deciding, undoing, and changing one of the last decisions.
import * as outbox from "../outbox.js";
import { announce, byId, showTrouble } from "../page.js";
import { secondsSpent } from "./clock.js";
import { takeAnswers } from "./answers.js";
import { dropDraft, keepDraft } from "./drafts.js";
import { readEvidence } from "./evidence.js";
import { lastUndoable, listDecision, recentRow, showLocalTimes } from "./recent.js";
import { ANSWERS, CONFIDENCE, DECISIONS, article, campaign, guidelinesDigest, personaDigest, settings, state } from "./state.js";
import { showExpected } from "./sync.js";
import { show, showEarlierDecision, showNext } from "./view.js";

// Pasted text may hold control characters; the server would refuse the decision because of them.
export const cleanText = (text) => text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, " ").trim();

const makeKey = () => {
    if (crypto.randomUUID) return crypto.randomUUID();
    // Without https there is no randomUUID, but the same random bits.
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 15) | 64;
    bytes[8] = (bytes[8] & 63) | 128;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
};

// The snippet stays on the page: the outbox stores decisions and notes, no text of conversations.
const keep = ({ snippet, ...decision }) => {
    const entry = { key: makeKey(), campaign, at: Date.now(), ...decision };
    state.decisionCount += 1;
    if (outbox.trouble() !== "session") showTrouble("");
    listDecision({ ...entry, snippet });
    showLocalTimes();
    outbox.add(entry);
};

export const decide = (name, flag = {}) => {
    const id = state.current;
    if (!id) return;
    const { snippet, session, turn } = article(id).dataset;
    const isLabel = name in ANSWERS, decision = isLabel && settings.schema ? "label" : name;
    const answers = decision === "label" ? takeAnswers(name) : undefined;
    if (answers === null) return;
    const evidence = isLabel ? readEvidence() : undefined;
    keep({
        assignment: id,
        decision,
        seconds: secondsSpent(),
        shown: personaDigest(),
        guidelines: guidelinesDigest(),
        snippet,
        session,
        turn,
        persona: settings.persona,
        ...(decision === "flag" ? flag : { notes: cleanText(byId("notes").value) || undefined }),
        ...(answers ? { answers: JSON.stringify(answers), schema: settings.schema } : {}),
        ...(evidence ? { evidence: JSON.stringify(evidence) } : {}),
        ...(state.confidence && isLabel ? { confidence: CONFIDENCE[state.confidence][0] } : {}),
    });
    dropDraft(id);
    state.decided.add(id);
    state.lastDecided = id;
    const isChange = state.revisited === id;
    state.revisited = "";
    showNext();
    const next = state.current ? gettext("Next reply.") : "";
    announce(`${DECISIONS[name]}. ${isChange ? gettext("Changed; back to where you were.") : next}`.trim());
};

export const undo = () => {
    if (state.expected) return;
    const row = recentRow(state.lastDecided) || lastUndoable();
    if (!row) return announce(gettext("There is nothing to undo."));
    const id = row.dataset.assignment;
    // They are shown again, to be changed.
    const { answers, spans } = row.dataset;
    if (answers || spans) keepDraft(id, {
        answers: answers ? JSON.parse(answers) : undefined, evidence: spans ? { spans: JSON.parse(spans) } : undefined,
    });
    state.lastDecided = state.revisited = "";
    state.expected = id;
    keep({ assignment: id, decision: "undo" });
    if (article(id)) showExpected();
    else showNext();
    announce(gettext("Undone. Decide again."));
};

export const reopen = async (id) => {
    if (state.expected) return;
    state.revisited = state.expected = id;
    if (!article(id) && !(await fetchReply(id))) return;
    state.expected = state.current = "";
    show(id);
    const label = recentRow(id)?.querySelector(".q-said").textContent;
    announce(interpolate(gettext("You decided: %s. Decide again to change it; Escape keeps it."), [label]));
};

const fetchReply = async (id) => {
    showNext();
    try {
        const response = await outbox.get(`${encodeURIComponent(campaign)}/replies/${id}/`);
        if (response.status === 401) outbox.showLoggedOut();
        if (!response.ok) throw new Error("refused");
        htmx.swap(byId("stack"), await response.text(), { swapStyle: "beforeend", swapDelay: 0, settleDelay: 0 });
        return true;
    } catch {
        state.revisited = state.expected = "";
        showNext();
        showTrouble(gettext("This reply can't be shown now. Try again in a moment."));
        return false;
    }
};

export const leaveRevisited = () => {
    if (!state.revisited) return;
    dropDraft(state.revisited);
    showEarlierDecision(state.revisited, null);
    state.revisited = "";
    showNext();
    announce(gettext("Decision kept."));
};
