// Time on task: counts only while the page is visible.

const clock = { spent: 0, since: 0 };

const tick = () => {
    const now = performance.now();
    if (clock.since) clock.spent += now - clock.since;
    clock.since = document.visibilityState === "visible" ? now : 0;
};

export const restartClock = () => {
    clock.since = clock.spent = 0;
    tick();
};

export const secondsSpent = () => {
    tick();
    return (clock.spent / 1000).toFixed(2);
};

document.addEventListener("visibilitychange", tick);
