// The answers to the criteria of a schema: on the page they are codes, in files and in the outbox values.
import { announce, byId } from "../page.js";
import { settings } from "./state.js";

const place = byId("criteria");
// By criterion, the value of each code; nothing for what is typed.
const VALUES = JSON.parse(place?.dataset.values || "{}");
const questions = Array.from(place?.querySelectorAll("fieldset") || []);
const keyOf = (question) => question.dataset.criterion;
const typedOf = (question) => question.querySelector(".q-typed :is(input, textarea)");
const checkedOf = (question) => Array.from(question.querySelectorAll(":checked"), ({ value }) => Number(value));

export const isTyped = (input) => Boolean(input?.closest(".q-typed"));
export const typedCriteria = () => questions.filter(typedOf).map(keyOf);

// Questions about the whole conversation are asked with one of its replies.
let asksSession = false;

// Show what is asked of this reply after the answers so far, in the order of the questions.
const update = () => {
    for (const question of questions.filter(({ dataset }) => dataset.when || dataset.of)) {
        question.hidden = question.disabled = Boolean(question.dataset.of) && !asksSession;
        if (question.hidden || !question.dataset.when) continue;
        const other = questions.find((one) => keyOf(one) === question.dataset.when);
        const codes = question.dataset.codes.split(",").map(Number);
        question.hidden = question.disabled = other.hidden || !checkedOf(other).some((code) => codes.includes(code));
    }
};

// What a key does: choose an answer, take an optional one back, or go to a field.
export const choose = (input) => {
    const question = input.closest("fieldset");
    if (question.hidden) return;
    if (isTyped(input)) return input.focus();
    const isTakenBack = input.type === "radio" && input.checked && "optional" in question.dataset;
    if (isTakenBack) {
        input.checked = false;
        input.dispatchEvent(new Event("change", { bubbles: true }));
    } else input.click();
    const name = input.closest("label").querySelector("span").textContent;
    announce(input.checked ? name : interpolate(gettext("Not chosen: %s"), [name]));
};

// By criterion; without what is hidden or has no answer. No tags are an answer, too.
export const readAnswers = () => {
    const answers = {};
    for (const question of questions.filter(({ hidden }) => !hidden)) {
        const key = keyOf(question), { kind } = question.dataset, values = VALUES[key];
        const chosen = checkedOf(question).map((code) => values[code]), typed = typedOf(question)?.value.trim();
        if (kind === "tags") answers[key] = chosen;
        else if (kind === "number" && typed) answers[key] = Number(typed);
        else if (chosen.length || typed) answers[key] = chosen.length ? chosen[0] : typed;
    }
    return answers;
};

export const fillAnswers = (answers, withSession) => {
    asksSession = withSession;
    for (const question of questions) {
        const key = keyOf(question), typed = typedOf(question), said = [answers?.[key]].flat();
        question.removeAttribute("data-missing");
        if (typed) typed.value = answers?.[key] ?? "";
        for (const input of question.querySelectorAll("[type=radio], [type=checkbox]")) {
            input.checked = said.includes(VALUES[key][Number(input.value)]);
        }
    }
    for (const button of place?.querySelectorAll("button") || []) {
        const { criterion } = button.dataset;
        button.toggleAttribute("data-pressed", answers?.[criterion] === VALUES[criterion][Number(button.value)]);
    }
    update();
};

// The answers that `name` (an answer, or the button that saves all of them) submits; nothing if some are missing.
export const takeAnswers = (name) => {
    const button = place.querySelector(`[data-do="${name}"]`);
    if (button) return { [button.dataset.criterion]: VALUES[button.dataset.criterion][Number(button.value)] };
    const answers = readAnswers();
    let first = null;
    for (const question of questions) {
        const isMissing = !question.hidden && !("optional" in question.dataset) && !(keyOf(question) in answers);
        question.toggleAttribute("data-missing", isMissing);
        if (isMissing) first ||= question;
    }
    if (!first) return answers;
    first.querySelector("input, textarea").focus();
    announce(interpolate(gettext("Not answered: %s"), [first.querySelector("legend").textContent.trim()]));
    return null;
};

export const onAnswer = (then) => place?.addEventListener("input", () => {
    update();
    for (const question of questions) question.removeAttribute("data-missing");
    then();
});
if (settings.schema) update();
