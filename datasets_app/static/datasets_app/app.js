// What the pages do beyond links and forms; each works without it, if less comfortably.
(() => {
    "use strict";

    // htmx would add a style element of its own to the page; our style sheet is enough. A step back loads the
    // page: no text of conversations is kept in the browser for it.
    if (window.htmx) Object.assign(window.htmx.config, { includeIndicatorStyles: false, refreshOnHistoryMiss: true, historyCacheSize: 0 });

    const inField = (target) => target.closest("input, textarea, select, [contenteditable]");

    // Chromium gives up on autofocus if its first frame comes before the field can be focused.
    const focusFirstField = () => {
        if (document.activeElement === document.body) document.querySelector("#content [autofocus]")?.focus();
    };

    // --- import: the dataset's name follows the file's until somebody types one ---

    // The field accepts ".jsonl,.json,.gz": a name ends before those.
    const nameOf = (file, accepted) =>
        file.replace(new RegExp(`(${accepted.replaceAll(".", "\\.").replaceAll(",", "|")})+$`, "i"), "")
            .replace(/[^A-Za-z0-9._-]+/g, "_")
            .replace(/^[._-]+|[._-]+$/g, "")
            .slice(0, 100);

    const prepareDrop = (zone, file) => {
        const list = zone.querySelector("[data-drop-list]");
        zone.querySelector("[data-drop-hint]").hidden = false;
        for (const name of ["dragenter", "dragover"]) {
            zone.addEventListener(name, (event) => {
                event.preventDefault();
                zone.classList.add("ad-over");
            });
        }
        for (const name of ["dragleave", "drop"]) {
            zone.addEventListener(name, () => zone.classList.remove("ad-over"));
        }
        zone.addEventListener("drop", (event) => {
            event.preventDefault();
            if (!event.dataTransfer.files.length) return;
            file.files = event.dataTransfer.files;
            file.dispatchEvent(new Event("change", { bubbles: true }));
        });
        file.addEventListener("change", () => {
            const names = file.files.length > 1 ? [...file.files] : [];
            list.replaceChildren(...names.map((one) => {
                const item = document.createElement("li");
                item.textContent = one.name;
                return item;
            }));
        });
    };

    // --- preview: what would fail can be started once the settings let it ---

    const prepareImport = (reason) => {
        const form = reason.closest("form");
        const button = form.querySelector("[data-import]");
        form.addEventListener("change", () => {
            const quarantines = form.elements.on_error.value === "quarantine";
            button.disabled = !quarantines;
            reason.hidden = quarantines;
        });
    };

    // --- a form in steps: one is shown at a time, the next once its fields are valid ---

    const prepareSteps = (form) => {
        const steps = [...form.querySelectorAll("[data-step]")];
        const show = (place, isMove) => {
            steps.forEach((step, at) => { step.hidden = at !== place; });
            if (isMove) steps[place].querySelector("h3").focus();
        };
        const isValid = (step) => [...step.querySelectorAll("input, select, textarea")].every((field) => field.reportValidity());
        steps.forEach((step, place) => {
            for (const element of step.querySelectorAll("[data-step-next], [data-step-back]")) element.hidden = false;
            step.querySelector("[data-step-next] button")?.addEventListener("click", () => { if (isValid(step)) show(place + 1, true); });
            step.querySelector("[data-step-back]")?.addEventListener("click", () => show(place - 1, true));
            step.addEventListener("keydown", (event) => {
                // Enter goes on, as it sends the form in the last step.
                if (event.key !== "Enter" || event.defaultPrevented || event.target.tagName !== "INPUT" || !steps[place + 1]) return;
                event.preventDefault();
                if (isValid(step)) show(place + 1, true);
            });
        });
        show(Math.max(0, steps.findIndex((step) => step.querySelector(".errors, .text-red-600 li"))), false);
    };

    const prepareUpload = (form) => {
        const file = form.querySelector("input[type=file]");
        const name = form.querySelector("[name=dataset_name]");
        let ours = name.value === "";
        name.addEventListener("input", () => { ours = name.value === ""; });
        file.addEventListener("change", () => {
            // Several files become a dataset each, unless somebody names one.
            if (ours) name.value = file.files.length === 1 ? nameOf(file.files[0].name, file.accept) : "";
        });
        // The frame would put the file's name into a text field beside it, which there is none of.
        file.hasChangeListener = true;
        prepareDrop(form.querySelector("[data-drop]"), file);
        form.addEventListener("submit", () => {
            form.querySelector("[data-upload-status]").textContent = "Uploading …";
            for (const button of form.querySelectorAll("button")) button.disabled = true;
        });
    };

    // --- session: j and k, or the arrows, go to the next and the previous one ---

    const KEYS = { ArrowRight: "j", ArrowLeft: "k" };

    const readKeys = (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || inField(event.target)) return;
        const link = document.querySelector(`[data-key="${CSS.escape(KEYS[event.key] || event.key)}"]`);
        if (!link) return;
        event.preventDefault();
        link.click();
    };

    const jumpToTurn = (form) => {
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            const turn = Number.parseInt(form.elements.turn.value, 10);
            if (turn > 0) location.assign(`?turn=${turn}#turn-${turn}`);
        });
    };

    // --- scrubbing: what is selected in a turn is what was missed there ---

    const selectedIn = (turn) => {
        const selection = document.getSelection();
        if (!selection.rangeCount || selection.isCollapsed) return "";
        const range = selection.getRangeAt(0);
        const text = range.commonAncestorContainer;
        const within = (text.nodeType === Node.TEXT_NODE ? text.parentElement : text).closest(".ad-text, .ad-json, .ad-tags");
        if (!within || !turn.contains(within)) return "";
        // Labels and buttons within the text are none of it.
        const part = range.cloneContents();
        for (const label of part.querySelectorAll(".ad-sr, .ad-found-tail")) label.remove();
        return part.textContent.replace(/\s+/g, " ").trim();
    };

    const followSelection = () => {
        let selected = "";
        let of = null;
        document.addEventListener("selectionchange", () => {
            const node = document.getSelection().anchorNode;
            const turn = node && (node.parentElement || node).closest(".ad-turn");
            const words = turn ? selectedIn(turn) : "";
            if (!words) return;
            [selected, of] = [words, turn];
            const open = turn.querySelector(".ad-missed[open] [name=words]");
            if (open) open.value = words;
        });
        for (const missed of document.querySelectorAll(".ad-missed")) {
            missed.addEventListener("toggle", () => {
                const words = missed.querySelector("[name=words]");
                if (!missed.open) return;
                if (!words.value && of === missed.closest(".ad-turn")) words.value = selected;
                words.focus();
            });
        }
    };

    // --- sessions and turns: how many are ticked ---

    const tellSelected = (event) => {
        const form = document.querySelector("form[data-selection]");
        if (!form) return;
        const all = document.querySelector("[data-select-all]");
        const boxes = [...document.querySelectorAll(`input[form="${form.id}"][name=row]`)];
        if (all && event?.target === all) for (const box of boxes) box.checked = all.checked;
        const count = boxes.filter((box) => box.checked).length;
        const button = form.querySelector("[data-selected]");
        button.dataset.selected ||= button.textContent;
        button.disabled = !count;
        button.textContent = button.dataset.selected + (count ? ` (${count})` : "");
        if (!all) return;
        all.checked = count > 0 && count === boxes.length;
        all.indeterminate = count > 0 && count < boxes.length;
        (all.closest("[data-select-all-label]") || all).hidden = false;
    };

    // --- tabs: the current one is in sight, and an edge fades where there are more ---

    const prepareTabs = (tabs) => {
        const current = tabs.querySelector("[aria-current]");
        const tell = () => {
            const rest = tabs.scrollWidth - tabs.clientWidth - tabs.scrollLeft;
            tabs.dataset.more = [tabs.scrollLeft > 2 && "left", rest > 2 && "right"].filter(Boolean).join(" ");
        };
        tabs.addEventListener("scroll", tell, { passive: true });
        window.addEventListener("resize", tell);
        const show = () => {
            if (current) tabs.scrollLeft = current.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - current.offsetWidth) / 2;
            tell();
        };
        show();
        // The page's own font comes later and is wider: the last tab would be cut off.
        document.fonts.ready.then(show);
    };

    // --- tables wider than the page: they scroll by keyboard as well ---

    const reachScrolling = () => {
        for (const box of document.querySelectorAll(".ad-scroll:not([tabindex])")) {
            if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
        }
    };

    // --- what an address points to is unfolded ---

    const unfoldTarget = () => {
        const target = location.hash && document.getElementById(location.hash.slice(1));
        const folded = target && target.closest("details:not([open])");
        if (!folded || target === folded) return;
        folded.open = true;
        target.scrollIntoView();
    };

    // --- digests: copy all of one ---

    const copyDigest = async (event) => {
        const button = event.target.closest("[data-copy]");
        if (!button) return;
        const text = button.dataset.copy;
        try {
            await navigator.clipboard.writeText(text);
        } catch {
            // Without HTTPS there is no clipboard: the text can be selected and copied by hand.
            window.prompt("Copy:", text);
            return;
        }
        const icon = button.querySelector(".material-symbols-outlined");
        button.classList.add("ad-copied");
        icon.textContent = "check";
        setTimeout(() => {
            button.classList.remove("ad-copied");
            icon.textContent = "content_copy";
        }, 1500);
    };

    // --- times: pages show them in the time zone of this browser from the next one on ---

    const tellTimeZone = () => {
        const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
        if (!zone || document.cookie.includes(`time_zone=${zone}`)) return;
        const secure = location.protocol === "https:" ? "; secure" : "";
        document.cookie = `time_zone=${zone}; path=/; max-age=31536000; samesite=lax${secure}`;
    };

    // --- menus: Escape closes one, as does a click elsewhere ---

    const closeMenus = (event) => {
        const isEscape = event.key === "Escape";
        if (event.type === "keydown" && !isEscape) return;
        for (const menu of document.querySelectorAll(".ad-menu[open]")) {
            if (!isEscape && menu.contains(event.target)) continue;
            if (isEscape && menu.contains(document.activeElement)) menu.querySelector("summary").focus();
            menu.open = false;
        }
    };

    // --- jobs: say aloud what changed, but not every second ---

    let lastSaid = "";

    const sayProgress = () => {
        const job = document.getElementById("job-run");
        const news = document.getElementById("job-news");
        if (!job || !news) return;
        const quarter = Math.floor(Number(job.dataset.percent || 0) / 25) * 25;
        const text = quarter && quarter < 100 ? `${job.dataset.state}, ${quarter} percent` : job.dataset.state;
        if (text !== lastSaid) news.textContent = text;
        lastSaid = text;
    };

    const watchPolling = () => {
        const lost = (is) => document.body.classList.toggle("ad-lost", is);
        document.body.addEventListener("htmx:sendError", () => lost(true));
        document.body.addEventListener("htmx:responseError", (event) => {
            // No longer signed in, or no longer allowed: the page itself says which.
            if (event.detail.xhr.status < 500) location.reload();
            else lost(true);
        });
        document.body.addEventListener("htmx:beforeSwap", (event) => {
            lost(false);
            if (!event.detail.xhr.responseURL.includes("/login/")) return;
            event.detail.shouldSwap = false;
            location.reload();
        });
        document.body.addEventListener("htmx:afterSettle", sayProgress);
    };

    // --- the frame: its icons that open and close things are no buttons; make them such ---

    const makeButton = (element, label) => {
        element.tabIndex = 0;
        element.setAttribute("role", "button");
        if (label) element.setAttribute("aria-label", label);
        element.addEventListener("keydown", (event) => {
            if (event.key !== "Enter" && event.key !== " ") return;
            event.preventDefault();
            element.click();
        });
    };

    const FRAME_BUTTONS = [
        ["[x-on\\:click^='sidebar']", "Show or hide the side bar"],
        ["[x-on\\:click^='openUserLinks']", "Your account and the theme"],
        ["[x-on\\:click^='switchTheme']", ""],
        ["#changelist [x-on\\:click^='filterOpen = true']", ""],
    ];

    document.addEventListener("DOMContentLoaded", () => {
        for (const [selector, label] of FRAME_BUTTONS) {
            for (const element of document.querySelectorAll(selector)) {
                if (!element.closest("a[href], button")) makeButton(element, label);
            }
        }
        // The frame would copy a chosen file's name into a field that only its own widget has.
        for (const file of document.querySelectorAll("input.ad-file")) file.hasChangeListener = true;
        for (const form of document.querySelectorAll("form[data-upload]")) prepareUpload(form);
        for (const reason of document.querySelectorAll("[data-unless-quarantine]")) prepareImport(reason);
        const stepped = document.querySelector("[data-step]");
        if (stepped) prepareSteps(stepped.closest("form"));
        for (const form of document.querySelectorAll("form[data-turn-jump]")) jumpToTurn(form);
        for (const tabs of document.querySelectorAll(".ad-tabs, .ad-subtabs")) prepareTabs(tabs);
        tellSelected();
        document.addEventListener("change", tellSelected);
        document.addEventListener("htmx:afterSwap", tellSelected);
        document.addEventListener("change", ({ target }) => target.matches?.("[data-submit]") && target.form.requestSubmit());
        for (const facets of document.querySelectorAll("[data-facets]")) {
            facets.open = matchMedia("(min-width: 1100px)").matches;
        }
        if (document.querySelector("[data-shortcuts]")) document.addEventListener("keydown", readKeys);
        if (document.querySelector(".ad-missed")) followSelection();
        window.addEventListener("hashchange", unfoldTarget);
        unfoldTarget();
        document.addEventListener("click", copyDigest);
        document.addEventListener("click", closeMenus);
        document.addEventListener("keydown", closeMenus);
        tellTimeZone();
        reachScrolling();
        // What is turned, unfolded or fetched later may be wider as well.
        for (const name of ["resize", "toggle", "htmx:afterSettle"]) window.addEventListener(name, reachScrolling, true);
        watchPolling();
        sayProgress();
        focusFirstField();
    });
})();
