// Long lists to choose from: a select with data-picker becomes a field in which one types part of the name, and a group
// of many check boxes gets a field that filters it. Without this script they are what they are.
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

    const makePicker = (select) => {
        count += 1;
        const listId = `picker-${count}`;
        const labels = Array.from(select.options, (option) => option.textContent.replace(/\s+/g, " ").trim());
        const field = make("input", { type: "text", className: "ad-input", autocomplete: "off", spellcheck: false }, {
            role: "combobox", "aria-expanded": "false", "aria-controls": listId, "aria-autocomplete": "list",
        });
        for (const name of ["aria-describedby", "aria-label", "aria-labelledby", "aria-invalid"]) {
            if (select.hasAttribute(name)) field.setAttribute(name, select.getAttribute(name));
        }
        field.required = select.required;
        field.disabled = select.disabled;
        const list = make("ul", { id: listId, hidden: true }, { role: "listbox", "aria-label": "Choices" });
        const box = make("span", { className: "ad-picker" });
        [field.id, select.id] = [select.id, select.id && `${select.id}-choices`];
        select.before(box);
        box.append(field, list, select);
        select.hidden = true;
        select.required = false;
        let active = -1;

        const shown = () => Array.from(list.children).filter((item) => item.dataset.index);
        const showChosen = () => { field.value = labels[select.selectedIndex] ?? ""; };
        const setActive = (place) => {
            const items = shown();
            active = items.length ? (place + items.length) % items.length : -1;
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
            const found = labels.map((label, index) => ({ label, index, text: fold(label) }))
                .filter(({ text }) => parts.every((part) => text.includes(part)));
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
            setActive(words ? 0 : Math.max(0, found.findIndex(({ index }) => index === select.selectedIndex)));
        };
        const choose = (item) => {
            if (!item) return;
            select.selectedIndex = Number(item.dataset.index);
            showChosen();
            close();
            for (const name of ["input", "change"]) select.dispatchEvent(new Event(name, { bubbles: true }));
        };

        field.addEventListener("focus", () => field.select());
        field.addEventListener("click", () => { if (list.hidden) open(""); });
        field.addEventListener("input", (event) => {
            event.stopPropagation();  // a form that follows its fields waits for the choice
            open(field.value);
        });
        field.addEventListener("change", (event) => event.stopPropagation());
        field.addEventListener("blur", () => {
            close();
            showChosen();
        });
        field.addEventListener("keydown", (event) => {
            if (event.isComposing) return;
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (step && list.hidden) open("");
            else if (step) setActive(active + step);
            else if (event.key === "Enter" && !list.hidden) choose(shown()[active]);
            else if (event.key === "Escape" && !list.hidden) {
                close();
                showChosen();
            } else return;
            event.preventDefault();
        });
        list.addEventListener("pointerdown", (event) => {
            event.preventDefault();  // keeps the focus in the field
            choose(event.target.closest("[data-index]"));
        });
        showChosen();
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
        const boxes = Array.from(root.querySelectorAll("input[type=checkbox][data-picker]"));
        for (const name of new Set(boxes.map((box) => box.name))) makeFilter(boxes.filter((box) => box.name === name));
    };

    document.addEventListener("DOMContentLoaded", () => prepare(document));
})();
