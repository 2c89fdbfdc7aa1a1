/** Two saved runs, sweeps or searches side by side. */

import { element } from "../parts/element";
import { render } from "../report/render";
import { beside } from "./api";
import { titled, top } from "./frame";

export async function compare(root: HTMLElement): Promise<void> {
  const asked = new URLSearchParams(location.search);
  const [a, b] = [asked.get("a") ?? "", asked.get("b") ?? ""];
  const shown = await beside(a, b);
  titled("Comparison");
  const side = (name: string, run: string) => element("a", { href: `/runs/${encodeURIComponent(run)}` }, `Report of ${name}`);
  render(root, shown, [
    top("all", ""),
    element("section", { class: "saved", "aria-label": "This comparison" }, element("p", { class: "actions" },
      side("A", a), side("B", b), element("a", { href: `/compare?${new URLSearchParams({ a: b, b: a })}` }, "The other way round"))),
  ]);
}
