// What this browser keeps: localStorage or, where that is full or turned off, the page's own memory.

const memory = new Map();

export const stored = {
    keys() {
        try {
            return [...memory.keys(), ...Object.keys(localStorage)];
        } catch {
            return [...memory.keys()];
        }
    },
    get(key) {
        try {
            return memory.get(key) ?? localStorage.getItem(key);
        } catch {
            return null;
        }
    },
    set(key, value) {
        try {
            localStorage.setItem(key, value);
        } catch {
            memory.set(key, value);
        }
    },
    remove(key) {
        memory.delete(key);
        try {
            localStorage.removeItem(key);
        } catch {
            // It was in memory only.
        }
    },
    // Memory ends with the page, so leaving it would lose something.
    hasMemoryOnly: () => memory.size > 0,
};
