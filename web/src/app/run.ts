/** One saved run: its report, and what can be done with it. */

import { element } from "../parts/element";
import { render } from "../report/render";
import { fileOf, page, read, type Entry } from "./api";
import { titled, top } from "./frame";

export async function run(root: HTMLElement, reference: string): Promise<void> {
  const [entry, shown] = await Promise.all([read(reference), page(reference)]);
  titled(`${entry.name} ${entry.short}`);
  render(root, shown, [top("all", ""), about(entry)]);
}

function about(entry: Entry): HTMLElement {
  const revision = entry.revision && `${entry.revision.commit.slice(0, 7)}${entry.revision.changes === "some" ? "+" : ""}${entry.revision.branch ? ` on ${entry.revision.branch}` : ""}`;
  const facts = [
    entry.kind, entry.short, entry.started.replace("T", " ").slice(0, 16) + " UTC", revision ? `at ${revision}` : "",
    entry.tags.length > 0 ? `tagged ${entry.tags.join(", ")}` : "", entry.baseline ? "the baseline of its name" : "",
  ].filter((fact) => fact !== "");
  return element("section", { class: "saved", "aria-label": "This run" },
    element("p", {}, element("strong", {}, entry.name), ` · ${facts.join(" · ")}`),
    entry.note !== "" && element("p", { class: "note" }, entry.note),
    element("p", { class: "actions" },
      element("a", { href: `/trend?${new URLSearchParams({ name: entry.name, kind: entry.kind })}` }, "Over time"),
      entry.kind === "run" && element("a", { href: `/new?${new URLSearchParams({ from: entry.id })}` }, "Do it again"),
      element("a", { href: fileOf(entry.id), download: `loadline-${entry.short}.html` }, "Save as one file")),
  );
}
