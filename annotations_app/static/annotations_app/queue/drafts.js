// What was given for a reply and isn't saved with a decision: kept in this tab, also over logging in again, until it
// is. If the reply has gone to somebody else meanwhile, the texts are shown, to be copied or discarded.
import { byId, site } from "../page.js";
import { inTab } from "../storage.js";
import { typedCriteria } from "./answers.js";
import { campaign, isWaiting, state } from "./state.js";

const PREFIX = `alignmenter.draft.${site.user}.`;

export const draftOf = (id) => JSON.parse(inTab.get(PREFIX + id));

export const keepDraft = (id, { text, answers, evidence }) => {
    const draft = { campaign, text: text || "", answers, evidence };
    if (text?.trim() || answers || evidence) inTab.set(PREFIX + id, JSON.stringify(draft));
    else inTab.remove(PREFIX + id);
};

export const dropDraft = (id) => inTab.remove(PREFIX + id);

const listLost = () => {
    const shown = new Set([...state.order, state.current, state.expected, state.revisited]);
    const ids = inTab.keys().filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
    return ids.filter((id) => !shown.has(id) && draftOf(id).campaign === campaign);
};

const textsOf = ({ text, answers }) => [text, ...typedCriteria().map((key) => answers?.[key])].filter(Boolean);

export const showLost = () => {
    if (isWaiting()) return;
    const texts = listLost().flatMap((id) => textsOf(draftOf(id))).map((text) => {
        const item = document.createElement("li");
        item.textContent = text;
        return item;
    });
    byId("unsaved").hidden = !texts.length;
    byId("unsaved-texts").replaceChildren(...texts);
};

export const discardLost = () => {
    listLost().forEach(dropDraft);
    showLost();
};
