// Grouping notes by keyboard, or by dragging them. Each does what a control does that can be clicked as well.
(() => {
    "use strict";

    const EDGE = 60; // in pixels: how near to the edge a dragged note scrolls what is behind it
    const SCROLLED = 12;
    const PLACE = "notes-place";

    document.addEventListener("DOMContentLoaded", () => {
        const form = document.querySelector("[data-notes]");
        if (!form) return;
        const boxes = Array.from(form.querySelectorAll("[name=note]"));
        useKeys(form, boxes);
        useDragging(form, boxes);
        keepPlace(form, boxes);
    });

    function useKeys(form, boxes) {
        const move = (step) => {
            const at = boxes.indexOf(document.activeElement);
            const next = boxes[Math.max(0, Math.min(boxes.length - 1, at < 0 ? 0 : at + step))];
            next?.focus();
            next?.closest("li").scrollIntoView({ block: "nearest" });
        };
        const actions = {
            j: () => move(1),
            k: () => move(-1),
            x: () => { if (boxes.includes(document.activeElement)) document.activeElement.click(); },
            m: () => document.getElementById("mode-name")?.focus(),
        };
        document.addEventListener("keydown", (event) => {
            if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input:not([type=checkbox]), select")) return;
            const button = form.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
            const act = actions[event.key] || (button && (() => button.click()));
            if (!act) return;
            event.preventDefault();
            act();
        });
    }

    // A chosen note takes the other chosen ones along; another one goes alone.
    function useDragging(form, boxes) {
        const modes = form.querySelector("[data-modes]");
        const label = Object.assign(document.createElement("div"), { className: "lead-dragged" });
        let drag = null;

        const targetAt = () => document.elementFromPoint(drag.x, drag.y)?.closest("[data-drop]");
        const mark = () => {
            label.style.translate = `${drag.x}px ${drag.y}px`;
            const target = targetAt();
            for (const one of form.querySelectorAll("[data-drop]")) one.classList.toggle("lead-drop", one === target);
        };
        const scroll = () => {
            const isSheet = getComputedStyle(modes).position === "fixed";
            const { top, bottom } = isSheet ? modes.getBoundingClientRect() : { top: 0, bottom: window.innerHeight };
            const step = drag.y > bottom - EDGE ? SCROLLED : drag.y < top + EDGE ? -SCROLLED : 0;
            (isSheet ? modes : document.scrollingElement).scrollBy(0, step);
            mark();
            drag.frame = requestAnimationFrame(scroll);
        };
        const end = (isDropped) => {
            if (!drag) return;
            const { before, frame } = drag;
            const target = isDropped && targetAt();
            cancelAnimationFrame(frame);
            drag = null;
            label.remove();
            form.classList.remove("lead-dragging");
            for (const one of form.querySelectorAll(".lead-drop")) one.classList.remove("lead-drop");
            if (!target) {
                boxes.forEach((box, place) => { box.checked = before[place]; });
                return;
            }
            const button = target.querySelector("button");
            if (button) button.click();
            else target.querySelector("input").focus();
        };
        for (const grip of form.querySelectorAll("[data-grip]")) {
            const own = grip.closest("li").querySelector("[name=note]");
            grip.addEventListener("pointerdown", (event) => {
                if (event.button) return;
                event.preventDefault();
                grip.setPointerCapture(event.pointerId);
                drag = { x: event.clientX, y: event.clientY, before: boxes.map((box) => box.checked) };
                if (!own.checked) boxes.forEach((box) => { box.checked = box === own; });
                const count = boxes.filter((box) => box.checked).length;
                label.textContent = count === 1 ? "1 note" : `${count} notes`;
                document.body.append(label);
                form.classList.add("lead-dragging");
                scroll();
            });
            grip.addEventListener("pointermove", (event) => {
                if (drag) Object.assign(drag, { x: event.clientX, y: event.clientY });
            });
            grip.addEventListener("pointerup", () => end(true));
            grip.addEventListener("pointercancel", () => end(false));
        }
        document.addEventListener("keydown", (event) => { if (event.key === "Escape") end(false); });
    }

    // The page comes anew after each change, at the note and the height where one was.
    function keepPlace(form, boxes) {
        form.addEventListener("submit", () => {
            form.setAttribute("aria-busy", "true");
            const place = boxes.findIndex((box) => box.checked);
            sessionStorage.setItem(PLACE, JSON.stringify([location.href, place, window.scrollY]));
        });
        const [page, place, height] = JSON.parse(sessionStorage.getItem(PLACE) ?? "[]");
        sessionStorage.removeItem(PLACE);
        if (page !== location.href) return;
        boxes[Math.min(place, boxes.length - 1)]?.focus();
        window.scrollTo(0, height);
    }
})();
