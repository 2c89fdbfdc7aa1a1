/** Where the pages of a server start: one script for all of them, which looks at the address. */

import "../page.css";
import "./app.css";
import { signIn, Refused } from "./api";
import { compare } from "./compare";
import { failed, frame, signInForm, type Mode } from "./frame";
import { live } from "./live";
import { run } from "./run";
import { runs } from "./runs";
import { start } from "./start";
import { trend } from "./trend";

const root = document.getElementById("app");
if (root) void begin(root, root.dataset["shows"] === "one" ? "one" : "all");

async function begin(root: HTMLElement, mode: Mode): Promise<void> {
  root.classList.add("page");
  try {
    await fromFragment();
    await show(root, mode);
  } catch (error) {
    if (error instanceof Refused && error.status === 401) signInForm(root, mode, error);
    else frame(root, mode, "", failed(error));
  }
}

/** A token in the fragment never leaves the browser but to be exchanged here, and is not left in the address. */
async function fromFragment(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  await signIn(token);
}

async function show(root: HTMLElement, mode: Mode): Promise<void> {
  if (mode === "one") return live(root, mode);
  const [first, second] = location.pathname.split("/").slice(1);
  switch (first) {
    case "runs": return run(root, decodeURIComponent(second ?? ""));
    case "live": return live(root, mode);
    case "new": return start(root);
    case "compare": return compare(root);
    case "trend": return trend(root);
    default: return runs(root);
  }
}
