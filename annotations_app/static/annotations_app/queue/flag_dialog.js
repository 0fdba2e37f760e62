// The dialog that asks why a reply can't be judged.
import { byId } from "../page.js";
import { cleanText, decide } from "./decisions.js";
import { keepDraft, showLost } from "./drafts.js";
import { state } from "./state.js";

const dialog = byId("flag"), comment = byId("flag-comment"), error = byId("flag-error");

export const openFlagDialog = () => {
    if (!state.current) return;
    comment.value = error.textContent = "";
    dialog.dataset.assignment = state.current;
    dialog.showModal();
    dialog.querySelector("[value]").focus();
};

const flag = (reason) => {
    const words = cleanText(comment.value);
    if (reason === "other" && !words) {
        error.textContent = gettext("Describe the reason in a few words, then press Enter.");
        return comment.focus();
    }
    dialog.close();
    if (dialog.dataset.assignment === state.current) return decide("flag", { reason, words });
    // Another reply is on the screen by now.
    keepDraft(dialog.dataset.assignment, words);
    showLost();
};

dialog.addEventListener("keydown", (event) => {
    const inComment = event.target === comment;
    if (inComment && event.key === "Enter") {
        event.preventDefault();
        flag("other");
    } else if (!inComment && !event.repeat && /^[1-9]$/.test(event.key)) {
        const reason = dialog.querySelectorAll(".q-reason")[event.key - 1];
        if (!reason) return;
        event.preventDefault();
        flag(reason.value);
    }
});
for (const reason of dialog.querySelectorAll(".q-reason")) reason.addEventListener("click", () => flag(reason.value));
