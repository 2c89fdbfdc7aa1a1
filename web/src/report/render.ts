/** A result as a page. A live page calls `update` with every tick; a report never does. */

import type { Page, Tick } from "../data/page";
import { frame } from "../parts/frame";
import { compare } from "./compare";
import { find } from "./find";
import { run } from "./run";
import { diff, sweep } from "./sweep";
import { traffic } from "./traffic";

export interface Shown { update(tick: Tick): void }

export function render(root: HTMLElement, page: Page): Shown {
  const drawn = charts(page);
  root.replaceChildren(...frame(page, drawn.charts));
  return { update: drawn.update };
}

function charts(page: Page): { charts: HTMLElement[]; update(tick: Tick): void } {
  const still = (charts: HTMLElement[]) => ({ charts, update: () => undefined });
  switch (page.kind) {
    case "run": return run(page);
    case "sweep": return still(sweep(page));
    case "find": return still(find(page));
    case "compare": return still(compare(page));
    case "diff": return still(diff(page));
    case "traffic": return still(traffic(page));
  }
}
