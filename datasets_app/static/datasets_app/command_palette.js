// Fixes the admin frame's Ctrl+K palette, which accepts Enter before a result is selected and then throws.
(() => {
    "use strict";

    document.addEventListener("alpine:init", () => {
        const framePalette = window.searchCommand;

        window.searchCommand = () => {
            const palette = framePalette();
            const { handleContentLoaded, selectItem } = palette;
            let shownFor = "";
            let enter = null;

            // Plain properties: Alpine binds "this" to the palette's reactive data.
            palette.handleContentLoaded = function (event) {
                handleContentLoaded.call(this, event);
                if (event.target.id !== "command-results") return;
                shownFor = new URL(event.detail.xhr.responseURL).searchParams.get("s");
                if (this.totalItems) this.currentIndex = 1;
                if (enter && enter.term === shownFor) this.selectItem(enter.addHistory, enter.openInNewTab);
            };

            palette.selectItem = function (addHistory, openInNewTab = false) {
                const field = this.$refs.searchInputCommand;
                // A click on a link needs no help: the browser follows it.
                if (document.activeElement !== field) return;
                enter = null;
                if (field.value !== shownFor) {
                    // The results for this term haven't arrived yet.
                    enter = { term: field.value, addHistory, openInNewTab };
                } else if (this.items?.[this.currentIndex - 1]?.querySelector("a")) {
                    selectItem.call(this, addHistory, openInNewTab);
                }
            };
            return palette;
        };
    });
})();
