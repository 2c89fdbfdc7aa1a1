/** What stands around every page of a server: where one can go from here. */

import { element } from "../parts/element";
import { themeSwitch } from "../parts/theme";
import { Refused, signIn } from "./api";

/** Whether there is a history, or only the one run under way. */
export type Mode = "all" | "one";

const PLACES = [["/", "Runs"], ["/live", "Live"], ["/new", "Start a test"]] as const;

export function top(mode: Mode, here: string): HTMLElement {
  const link = ([href, name]: readonly [string, string]) => element("a", { href, "aria-current": href === here ? "page" : null }, name);
  return element("header", { class: "top" },
    element("nav", { class: "places", "aria-label": "Places" },
      mode === "all" ? element("a", { class: "brand", href: "/" }, "loadline") : element("span", { class: "brand" }, "loadline"),
      ...(mode === "all" ? PLACES.map(link) : [])),
    themeSwitch(),
  );
}

/** A page of these parts. */
export function frame(root: HTMLElement, mode: Mode, here: string, ...parts: (Node | string | null | false)[]): void {
  root.replaceChildren(top(mode, here), element("main", { class: "app" }, ...parts));
}

export function titled(text: string): void {
  document.title = text === "" ? "loadline" : `${text} · loadline`;
}

/** Why something is not there, and what to do. */
export function failed(error: unknown): HTMLElement {
  const [message, help] = error instanceof Refused ? [error.problem.message, error.problem.help] : ["The server does not answer.", "See whether loadline still runs, then load this page again."];
  return element("div", { class: "trouble", role: "alert" }, element("p", {}, sentence(message)), element("p", { class: "quiet" }, sentence(help)));
}

export function sentence(text: string): string {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!:]$/.test(upper) ? upper : `${upper}.`;
}

export function signInForm(root: HTMLElement, mode: Mode, why: Refused): void {
  titled("Token");
  const field = element("input", { id: "token", type: "password", autocomplete: "off", required: true });
  const said = element("p", { class: "quiet" }, sentence(why.problem.help));
  const form = element("form", { class: "sign-in" },
    element("h1", {}, "This server asks for its token"),
    element("label", { for: "token" }, "Token"), field,
    element("button", { class: "primary" }, "Open"), said);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    signIn(field.value).then(() => location.reload(), (error: unknown) => said.replaceChildren(failed(error)));
  });
  frame(root, mode, "", form);
  field.focus();
}
