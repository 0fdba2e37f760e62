// What all annotators' pages share: elements, announcements, and a dialog that asks before something is lost.

export const byId = (id) => document.getElementById(id);

// Who is logged in, and where the pages are: the attributes of the header.
export const site = byId("site").dataset;

// gettext, ngettext and interpolate come with the strings of the page's language (site_page.html).
export const countDecisions = (count) => interpolate(
    ngettext("%s decision", "%s decisions", count), [count.toLocaleString(document.documentElement.lang)]);

export const announce = (text) => {
    const place = byId("announce");
    // A screen reader reads only changes, so repeat the same words with a difference it doesn't pronounce.
    place.textContent = place.textContent === text ? `${text}\u00a0` : text;
};

export const showTrouble = (text, link) => {
    const place = byId("trouble");
    if (!place) return;
    const sentence = document.createElement("p");
    sentence.append(text);
    if (link) {
        const anchor = document.createElement("a");
        Object.assign(anchor, link);
        sentence.append(" ", anchor);
    }
    place.replaceChildren(...(text ? [sentence] : []));
};

export const confirmFirst = ({ heading, text, action, then }) => {
    const dialog = byId("confirm"), button = dialog.querySelector("[data-confirm]");
    byId("confirm-heading").textContent = heading;
    byId("confirm-text").textContent = text;
    button.textContent = action;
    button.onclick = () => {
        dialog.close();
        then();
    };
    dialog.showModal();
};

for (const button of document.querySelectorAll("dialog [data-close]")) {
    button.addEventListener("click", () => button.closest("dialog").close());
}
