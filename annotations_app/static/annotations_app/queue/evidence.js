// Words of the reply that are marked as the reason: by selecting them, or word by word with the keyboard or a finger.
// Offsets count the characters of the text, not the units of a JavaScript string.
import { announce, byId } from "../page.js";
import { article, state } from "./state.js";

const MARKED = "q-marked", CURSOR = "q-cursor";
const marking = { on: false, words: [], first: 0, last: 0 };
let spans = [], then = () => {};

const reply = () => article(state.current)?.querySelector("[data-reply]");
// Of two replies that are compared, none is the one: nothing is marked there.
const place = () => reply()?.querySelector(":scope > .ad-bubble [data-raw]");

// Text nodes of the stored text, without labels that are only read aloud.
const listNodes = () => {
    const walker = document.createTreeWalker(place(), NodeFilter.SHOW_TEXT), nodes = [];
    while (walker.nextNode()) if (!walker.currentNode.parentElement.closest(".ad-sr")) nodes.push(walker.currentNode);
    return nodes;
};
// The end of a text that is shown in part is no character of it.
const readText = () => {
    const text = listNodes().map((node) => node.data).join("");
    return reply().querySelector(".ad-rest") ? text.slice(0, -1) : text;
};
const count = (text) => Array.from(text).length;
const unitsOf = (text, characters) => Array.from(text).slice(0, characters).join("").length;

const makeRange = ([start, end]) => {
    const range = document.createRange(), text = readText();
    let before = 0;
    const [from, to] = [unitsOf(text, start), unitsOf(text, end)];
    for (const node of listNodes()) {
        if (from >= before && from <= before + node.length) range.setStart(node, from - before);
        if (to >= before && to <= before + node.length) {
            range.setEnd(node, to - before);
            break;
        }
        before += node.length;
    }
    return range;
};

// Without the Highlight API the list below the reply shows what is marked.
const paint = (name, parts) => {
    if (globalThis.Highlight) CSS.highlights.set(name, new Highlight(...parts.map(makeRange)));
};

const show = () => {
    const list = reply()?.querySelector("[data-marked]");
    if (!list) return;
    paint(MARKED, spans);
    paint(CURSOR, marking.on && marking.words.length ? [cursorSpan()] : []);
    for (const button of list.querySelectorAll("button")) button.remove();
    const characters = Array.from(readText());
    for (const [start, end] of spans) {
        const button = document.createElement("button");
        const words = characters.slice(start, end).join("");
        Object.assign(button, { type: "button", className: "q-btn q-small", textContent: `${words} ✕` });
        button.setAttribute("aria-label", interpolate(gettext("Unmark: %s"), [words]));
        button.addEventListener("click", () => toggle([start, end]));
        list.append(button);
    }
    list.hidden = !spans.length;
    byId("decide").querySelector("[data-do=mark]").setAttribute("aria-pressed", String(marking.on));
};

// Marks words, or takes the mark from those that all are marked.
const toggle = ([start, end]) => {
    const isMarked = spans.some(([from, to]) => from <= start && end <= to);
    const apart = spans.filter(([from, to]) => to < start || from > end);
    const touching = spans.filter((span) => !apart.includes(span));
    if (isMarked) {
        spans = touching.flatMap(([from, to]) => [[from, start], [end, to]]).filter(([from, to]) => from < to);
    } else {
        spans = [[Math.min(start, ...touching.map(([from]) => from)), Math.max(end, ...touching.map(([, to]) => to))]];
    }
    spans = trim([...apart, ...spans]).sort(([one], [other]) => one - other);
    const words = Array.from(readText()).slice(start, end).join("");
    announce(interpolate(isMarked ? gettext("Unmarked: %s") : gettext("Marked: %s"), [words]));
    show();
    then();
};

const trim = (parts) => {
    const characters = Array.from(readText()), isSpace = (at) => !characters[at].trim();
    return parts.map(([start, end]) => {
        let [from, to] = [start, end];
        while (from < to && isSpace(from)) from += 1;
        while (to > from && isSpace(to - 1)) to -= 1;
        return [from, to];
    }).filter(([from, to]) => from < to);
};

const listWords = () => {
    const text = readText();
    return Array.from(text.matchAll(/[\p{L}\p{N}\p{M}'’-]+/gu), ({ 0: word, index }) => {
        const start = count(text.slice(0, index));
        return [start, start + count(word)];
    });
};
const cursorSpan = () => {
    const [first, last] = [Math.min(marking.first, marking.last), Math.max(marking.first, marking.last)];
    return [marking.words[first][0], marking.words[last][1]];
};

// Where a point of a selection is in the text; outside of it, at its start or end.
const offsetOf = (node, offset) => {
    const range = document.createRange();
    range.selectNodeContents(place());
    if (range.comparePoint(node, offset) < 0) return 0;
    let before = "";
    for (const one of listNodes()) {
        const end = document.createRange();
        end.selectNodeContents(one);
        const side = end.comparePoint(node, offset);
        if (one === node) return count(before + one.data.slice(0, offset));
        if (side < 0) return count(before);
        before += one.data;
    }
    return count(readText());
};

// The selected words, whole; nothing if nothing of the reply is selected.
const readSelection = () => {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed || !place()) return null;
    const range = selection.getRangeAt(0);
    if (!range.intersectsNode(place())) return null;
    const from = offsetOf(range.startContainer, range.startOffset), to = offsetOf(range.endContainer, range.endOffset);
    const words = listWords().filter(([start, end]) => start < to && end > from);
    selection.removeAllRanges();
    return words.length ? [words[0][0], words.at(-1)[1]] : null;
};

const leave = () => {
    marking.on = false;
    show();
};

// Marks what is selected; without a selection, words are chosen one by one.
export const mark = () => {
    if (!state.current || !place()) return;
    if (place().hidden) reply().querySelector("[data-show-raw]")?.click();
    const selected = readSelection();
    if (selected) return toggle(selected);
    if (marking.on) return leave();
    Object.assign(marking, { on: true, words: listWords(), first: 0, last: 0 });
    reply().focus({ preventScroll: true });
    announce(gettext("Choose words with the arrow keys, mark them with Enter, leave with Escape."));
    show();
};

const move = (to, extends_) => {
    marking.last = Math.max(0, Math.min(marking.words.length - 1, to));
    if (!extends_) marking.first = marking.last;
    const [start, end] = cursorSpan();
    announce(Array.from(readText()).slice(start, end).join(""));
    makeRange([start, end]).startContainer.parentElement?.scrollIntoView({ block: "nearest" });
    show();
};

const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -8, ArrowDown: 8, Home: -Infinity, End: Infinity };
document.addEventListener("keydown", (event) => {
    if (!marking.on || event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, textarea")) return;
    if (event.key in STEPS && marking.words.length) move(marking.last + STEPS[event.key], event.shiftKey);
    else if (["Enter", " "].includes(event.key) && marking.words.length && !event.target.closest("button, a")) {
        toggle(cursorSpan());
    } else if (["Escape", "."].includes(event.key)) leave();
    else return event.key === "Shift" || event.key === "Tab" ? undefined : leave();
    event.preventDefault();
    event.stopImmediatePropagation();
}, true);

// While words are chosen, a finger or a click marks the word it touches.
document.addEventListener("click", (event) => {
    if (!marking.on || !place()?.contains(event.target) || !getSelection().isCollapsed) return;
    const at = document.caretPositionFromPoint?.(event.clientX, event.clientY);
    const range = at ? null : document.caretRangeFromPoint?.(event.clientX, event.clientY);
    const node = at?.offsetNode || range?.startContainer;
    if (!node) return;
    const offset = offsetOf(node, at ? at.offset : range.startOffset);
    const found = marking.words.findIndex(([start, end]) => start <= offset && offset <= end);
    if (found < 0) return;
    marking.first = marking.last = found;
    toggle(marking.words[found]);
});
// The button must not take the selection away before it is read.
byId("decide").querySelector("[data-do=mark]").addEventListener("pointerdown", (event) => event.preventDefault());

export const readEvidence = () => (spans.length ? { digest: article(state.current).dataset.digest, spans } : undefined);

// What a draft or an earlier decision has marked in the reply that is shown.
export const fillEvidence = (evidence) => {
    marking.on = false;
    const isSame = evidence && (!evidence.digest || evidence.digest === article(state.current).dataset.digest);
    spans = isSame ? evidence.spans : [];
    show();
};

export const onMark = (callback) => { then = callback; };
