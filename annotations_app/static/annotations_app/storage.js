// What this browser keeps: in localStorage, or until the tab is closed in sessionStorage; where that is full or turned
// off, in the page's own memory.

const makeStored = (findArea) => {
    const memory = new Map();
    return {
        keys() {
            try {
                return [...memory.keys(), ...Object.keys(findArea())];
            } catch {
                return [...memory.keys()];
            }
        },
        get(key) {
            try {
                return memory.get(key) ?? findArea().getItem(key);
            } catch {
                return null;
            }
        },
        set(key, value) {
            try {
                findArea().setItem(key, value);
            } catch {
                memory.set(key, value);
            }
        },
        remove(key) {
            memory.delete(key);
            try {
                findArea().removeItem(key);
            } catch {
                // It was in memory only.
            }
        },
        // Memory ends with the page, so leaving it would lose something.
        hasMemoryOnly: () => memory.size > 0,
    };
};

export const stored = makeStored(() => localStorage);
export const inTab = makeStored(() => sessionStorage);
