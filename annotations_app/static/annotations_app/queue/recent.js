// The last decisions: the server's list, with what it doesn't know yet on top.
import { entriesOf } from "../outbox.js";
import { byId, site } from "../page.js";
import { DECISIONS, campaign, settings } from "./state.js";

export const recentRow = (id) => byId("recent").querySelector(`li[data-assignment="${id}"]`);
export const recentIds = () => Array.from(byId("recent").children, (item) => item.dataset.assignment);
export const lastUndoable = () => byId("recent").querySelector("li:not([data-decision=''])");

export const listDecision = (entry) => {
    const old = recentRow(entry.assignment);
    if (entry.decision === "undo") return old?.remove();
    const item = old || byId("recent-row").content.firstElementChild.cloneNode(true);
    const label = item.querySelector(".q-said");
    item.dataset.assignment = entry.assignment;
    item.dataset.decision = entry.decision;
    item.dataset.notes = entry.notes || "";
    item.dataset.answers = entry.answers || "";
    item.dataset.spans = entry.evidence ? JSON.stringify(JSON.parse(entry.evidence).spans) : "";
    item.dataset.confidence = entry.confidence || "";
    label.className = `q-said q-said-${entry.decision}`;
    label.textContent = DECISIONS[entry.decision];
    if (old) return;
    item.querySelector("a").href = `${site.base}${encodeURIComponent(campaign)}/replies/${entry.assignment}/`;
    item.querySelector("time").dateTime = new Date(entry.at).toISOString();
    item.querySelector(".q-snippet").textContent = entry.snippet || "";
    byId("recent").prepend(item);
    while (byId("recent").children.length > Number(settings.maxRecent)) byId("recent").lastElementChild.remove();
};

export const listUnsent = () => {
    entriesOf(campaign).forEach(listDecision);
    showLocalTimes();
};

export const showLocalTimes = () => {
    for (const time of byId("recent").querySelectorAll("time[datetime]")) {
        const at = new Date(time.dateTime);
        time.textContent = at.toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
        time.title = at.toLocaleString(document.documentElement.lang);
    }
};
