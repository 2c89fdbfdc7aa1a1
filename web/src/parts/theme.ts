/** Light, dark, or as the system has it. Kept for the next page where the browser lets a file keep anything. */

import { element } from "./element";

const KEY = "loadline-theme";
const CHOICES = ["auto", "light", "dark"] as const;
type Choice = (typeof CHOICES)[number];

export function themeSwitch(): HTMLElement {
  const group = element("div", { class: "theme", role: "group", "aria-label": "Colours" });
  const buttons = CHOICES.map((choice) => {
    const made = element("button", { type: "button" }, choice);
    made.addEventListener("click", () => { choose(choice); keep(choice); });
    return made;
  });
  const choose = (choice: Choice) => {
    if (choice === "auto") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = choice;
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(CHOICES[index] === choice)));
  };
  choose(kept());
  group.append(...buttons);
  return group;
}

function kept(): Choice {
  try {
    const found = localStorage.getItem(KEY);
    return CHOICES.find((choice) => choice === found) ?? "auto";
  } catch {
    return "auto";
  }
}

function keep(choice: Choice): void {
  try { localStorage.setItem(KEY, choice); } catch { /* Private windows keep nothing, which is their point. */ }
}
