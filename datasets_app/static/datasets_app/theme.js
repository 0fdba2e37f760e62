// The theme chosen in the admin, for pages outside it: applied before they are drawn, and changed by their switch.
(() => {
    "use strict";

    const KEY = "_x_adminTheme";  // where the admin's frame stores it
    // Pages of errors have no strings of their own.
    const gettext = window.gettext || ((text) => text);
    const THEMES = { auto: gettext("Theme: system"), light: gettext("Theme: light"), dark: gettext("Theme: dark") };
    let theme = "auto";
    try {
        theme = JSON.parse(localStorage.getItem(KEY)) || "auto";
    } catch {
        // Without storage, use the system's theme.
    }

    const apply = () => {
        for (const name of ["light", "dark"]) document.documentElement.classList.toggle(name, theme === name);
        for (const button of document.querySelectorAll("[data-theme-switch]")) {
            button.textContent = THEMES[theme];
        }
    };

    const choose = (chosen) => {
        theme = chosen;
        try {
            localStorage.setItem(KEY, JSON.stringify(theme));
        } catch {
            // It lasts as long as the page.
        }
        apply();
    };

    apply();
    document.addEventListener("DOMContentLoaded", apply);
    document.addEventListener("click", (event) => {
        const names = Object.keys(THEMES);
        if (event.target.closest("[data-theme-switch]")) choose(names[(names.indexOf(theme) + 1) % names.length]);
    });
})();
