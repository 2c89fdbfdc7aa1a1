/** One saved run: its report, and what can be done with it. */

import { element } from "../parts/element";
import { render } from "../report/render";
import { change, fileOf, page, read, remove, type Change, type Entry } from "./api";
import { failed, titled, top } from "./frame";

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
    said(entry),
  );
}

/** What can be written down of a run; each change is saved at once, and the page shown anew. */
function said(entry: Entry): HTMLElement {
  const trouble = element("div");
  const done = (told: Promise<unknown>, then: () => void) => void told.then(then, (error: unknown) => trouble.replaceChildren(failed(error)));
  const save = (what: Change) => done(change(entry.id, what), () => location.reload());
  const field = (id: string, label: string, value: string, what: (text: string) => Change) => {
    const input = element("input", { type: "text", id: `said-${id}`, autocomplete: "off" });
    input.value = value;
    const form = element("form", { class: "said" }, element("label", { for: input.id }, label), input, element("button", { class: "tool" }, "Save"));
    form.addEventListener("submit", (event) => { event.preventDefault(); save(what(input.value)); });
    return form;
  };
  const button = (text: string, act: () => void) => {
    const made = element("button", { type: "button", class: "tool" }, text);
    made.addEventListener("click", act);
    return made;
  };
  const gone = button("Delete this run", () => {
    if (gone.dataset["sure"]) { done(remove(entry.id), () => { location.href = "/"; }); return; }
    gone.dataset["sure"] = "yes";
    gone.textContent = "Delete it for good";
  });
  return element("details", { class: "more" }, element("summary", {}, "Name, note, tags, baseline, delete"),
    field("name", "Name", entry.name, (name) => ({ name })),
    field("note", "Note", entry.note, (note) => ({ note })),
    field("tags", "Tags", entry.tags.join(" "), (tags) => ({ tags: tags.split(/[\s,]+/).filter((tag) => tag !== "") })),
    element("p", { class: "actions" }, !entry.baseline && button("Make it the baseline of its name", () => save({ baseline: true })), gone),
    trouble,
  );
}
