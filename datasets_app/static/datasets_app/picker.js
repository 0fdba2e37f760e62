// Lists to choose from: a long select with data-picker becomes a field in which one types part of the name, a field with
// a datalist shows it in the same way, and a group of many check boxes gets a field that filters it. Without this script
// they are what they are.
(() => {
    "use strict";

    const LONG = 8;  // options; shorter lists are faster to read than to search
    const MAX_SHOWN = 50;
    let count = 0;

    const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
    const make = (tag, properties, attributes = {}) => {
        const element = Object.assign(document.createElement(tag), properties);
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
        return element;
    };

    // --- one of many: the combobox pattern ---

    // Shows the choices below a field. `getLabels` returns their names, `choose` takes the place of one, and `restore` ends
    // a search without a choice. In a free field what is typed counts, too, so nothing is chosen before an arrow key.
    const makeCombobox = (field, { getLabels, getChosen, choose, restore, isFree }) => {
        count += 1;
        const listId = `picker-${count}`;
        const list = make("ul", { id: listId, hidden: true }, { role: "listbox", "aria-label": "Choices" });
        for (const [name, value] of [["role", "combobox"], ["aria-expanded", "false"], ["aria-controls", listId],
            ["aria-autocomplete", "list"]]) field.setAttribute(name, value);
        const box = make("span", { className: "ad-picker" });
        field.before(box);
        box.append(field, list);
        let active = -1;

        const shown = () => Array.from(list.children).filter((item) => item.dataset.index);
        const setActive = (place) => {
            const items = shown();
            active = items.length && (place >= 0 || !isFree) ? (place + items.length) % items.length : -1;
            items.forEach((item, at) => item.setAttribute("aria-selected", String(at === active)));
            if (active < 0) return field.removeAttribute("aria-activedescendant");
            field.setAttribute("aria-activedescendant", items[active].id);
            items[active].scrollIntoView({ block: "nearest" });
        };
        const close = () => {
            list.hidden = true;
            field.setAttribute("aria-expanded", "false");
            field.removeAttribute("aria-activedescendant");
        };
        const open = (words) => {
            const parts = fold(words).split(/\s+/).filter(Boolean);
            const found = getLabels().map((label, index) => ({ label, index, text: fold(label) }))
                .filter(({ text }) => parts.every((part) => text.includes(part)));
            if (isFree && !found.length) return close();
            const items = found.slice(0, MAX_SHOWN).map(({ label, index }) => make(
                "li", { id: `${listId}-${index}`, textContent: label || "–", dir: "auto" }, { role: "option", "data-index": index }));
            if (found.length > MAX_SHOWN || !found.length) {
                const text = found.length ? `${found.length - MAX_SHOWN} more: type to narrow them down` : "No match";
                items.push(make("li", { textContent: text, className: "ad-picker-note" }, {
                    role: "option", "aria-disabled": "true", "aria-selected": "false" }));
            }
            list.replaceChildren(...items);
            list.hidden = false;
            field.setAttribute("aria-expanded", "true");
            if (isFree) setActive(-1);
            else setActive(words ? 0 : Math.max(0, found.findIndex(({ index }) => index === getChosen())));
        };
        const take = (item) => {
            if (!item) return;
            choose(Number(item.dataset.index));
            close();
        };

        field.addEventListener("click", () => { if (list.hidden) open(isFree ? field.value : ""); });
        field.addEventListener("input", (event) => {
            if (event.isTrusted) open(field.value);
        });
        field.addEventListener("blur", () => {
            close();
            restore();
        });
        field.addEventListener("keydown", (event) => {
            if (event.isComposing) return;
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (step && list.hidden) open(isFree ? field.value : "");
            else if (step) setActive(active < 0 && step < 0 ? shown().length - 1 : active + step);
            else if (event.key === "Enter" && !list.hidden && (active >= 0 || !isFree)) take(shown()[active]);
            else if (event.key === "Escape" && !list.hidden) {
                close();
                restore();
            } else return;
            event.preventDefault();
        });
        list.addEventListener("pointerdown", (event) => {
            event.preventDefault();  // keeps the focus in the field
            take(event.target.closest("[data-index]"));
        });
        return box;
    };

    const tellChange = (element) => {
        for (const name of ["input", "change"]) element.dispatchEvent(new Event(name, { bubbles: true }));
    };

    const makePicker = (select) => {
        const labels = Array.from(select.options, (option) => option.textContent.replace(/\s+/g, " ").trim());
        const field = make("input", { type: "text", className: "ad-input", autocomplete: "off", spellcheck: false });
        for (const name of ["aria-describedby", "aria-label", "aria-labelledby", "aria-invalid"]) {
            if (select.hasAttribute(name)) field.setAttribute(name, select.getAttribute(name));
        }
        field.required = select.required;
        field.disabled = select.disabled;
        [field.id, select.id] = [select.id, select.id && `${select.id}-choices`];
        select.before(field);
        const showChosen = () => { field.value = labels[select.selectedIndex] ?? ""; };
        const box = makeCombobox(field, {
            getLabels: () => labels,
            getChosen: () => select.selectedIndex,
            choose: (place) => {
                select.selectedIndex = place;
                showChosen();
                tellChange(select);
            },
            restore: showChosen,
        });
        box.append(select);
        select.hidden = true;
        select.required = false;
        field.addEventListener("focus", () => field.select());
        // A form that follows its fields waits for the choice.
        for (const name of ["input", "change"]) field.addEventListener(name, (event) => event.stopPropagation());
        showChosen();
    };

    // The choices may come later: they are read whenever they are shown.
    const makeSuggestions = (field) => {
        const known = document.getElementById(field.getAttribute("list"));
        if (!known) return;
        field.removeAttribute("list");
        const getLabels = () => Array.from(known.options, (option) => option.value);
        makeCombobox(field, {
            getLabels,
            isFree: true,
            choose: (place) => {
                field.value = getLabels()[place];
                tellChange(field);
            },
            restore: () => {},
        });
    };

    // --- several of many ---

    const makeFilter = (boxes) => {
        if (boxes.length <= LONG) return;
        const rows = boxes.map((box) => box.closest("label, li, div"));
        const field = make("input", { type: "search", className: "ad-input ad-picker-filter", autocomplete: "off",
            placeholder: "Filter by name" }, { "aria-label": "Filter the choices by name" });
        field.addEventListener("input", (event) => {
            event.stopPropagation();
            const parts = fold(field.value).split(/\s+/).filter(Boolean);
            for (const row of rows) {
                // What is chosen stays in sight.
                const isChosen = row.querySelector("input").checked;
                row.hidden = !isChosen && !parts.every((part) => fold(row.textContent).includes(part));
            }
        });
        field.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
        rows[0].parentElement.before(field);
    };

    const prepare = (root) => {
        for (const select of root.querySelectorAll("select[data-picker]")) {
            if (!select.hidden && select.options.length > LONG) makePicker(select);
        }
        for (const field of root.querySelectorAll("input[list]")) makeSuggestions(field);
        const boxes = Array.from(root.querySelectorAll("input[type=checkbox][data-picker]"));
        for (const name of new Set(boxes.map((box) => box.name))) makeFilter(boxes.filter((box) => box.name === name));
    };

    document.addEventListener("DOMContentLoaded", () => prepare(document));
})();
