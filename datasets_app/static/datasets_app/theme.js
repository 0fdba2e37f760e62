// The theme chosen in the admin, for pages that stand without it.
(() => {
    let chosen = "auto";
    try {
        chosen = JSON.parse(localStorage.getItem("_x_adminTheme")) || "auto";
    } catch {
        // Storage is switched off: the system's choice will do.
    }
    const dark = chosen === "dark" || (chosen === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.classList.toggle("dark", dark);
    document.documentElement.classList.toggle("light", chosen === "light");
})();
