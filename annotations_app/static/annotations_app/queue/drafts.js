// What was typed for a reply and isn't saved with a decision: kept in this tab, also over logging in again, until it
// is. If the reply has gone to somebody else meanwhile, the text is shown, to be copied or discarded.
import { byId, site } from "../page.js";
import { inTab } from "../storage.js";
import { campaign, isWaiting, state } from "./state.js";

const PREFIX = `alignmenter.draft.${site.user}.`;

export const draftOf = (id) => JSON.parse(inTab.get(PREFIX + id))?.text;

export const keepDraft = (id, text) => {
    if (text?.trim()) inTab.set(PREFIX + id, JSON.stringify({ campaign, text }));
    else inTab.remove(PREFIX + id);
};

export const dropDraft = (id) => inTab.remove(PREFIX + id);

const listLost = () => {
    const shown = new Set([...state.order, state.current, state.expected, state.revisited]);
    const ids = inTab.keys().filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
    return ids.filter((id) => !shown.has(id) && JSON.parse(inTab.get(PREFIX + id)).campaign === campaign);
};

export const showLost = () => {
    if (isWaiting()) return;
    const texts = listLost().map((id) => {
        const item = document.createElement("li");
        item.textContent = draftOf(id);
        return item;
    });
    byId("unsaved").hidden = !texts.length;
    byId("unsaved-texts").replaceChildren(...texts);
};

export const discardLost = () => {
    listLost().forEach(dropDraft);
    showLost();
};
