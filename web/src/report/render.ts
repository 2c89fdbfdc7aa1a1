/** A result as a page. A live page calls `update` with what has come since; a report never does. */

import type { Page, Tick } from "../data/page";
import { frame } from "../parts/frame";
import { compare } from "./compare";
import { find, searches } from "./find";
import { plot } from "./plot";
import { run } from "./run";
import { diff, sweep } from "./sweep";
import { traffic } from "./traffic";
import { trend } from "./trend";
import { two } from "./two";

export interface Shown { update(...ticks: Tick[]): void }

/** `above` stands in the place of a report's own head. */
export function render(root: HTMLElement, page: Page, above?: HTMLElement[]): Shown {
  const drawn = charts(page);
  root.replaceChildren(...frame(page, drawn.charts, above));
  return { update: drawn.update };
}

function charts(page: Page): { charts: HTMLElement[]; update(...ticks: Tick[]): void } {
  const still = (charts: HTMLElement[]) => ({ charts, update: () => undefined });
  switch (page.kind) {
    case "run": return run(page);
    case "sweep": return still(sweep(page));
    case "find": return still(find(page));
    case "compare": return still(compare(page));
    case "diff": return still(diff(page));
    case "plot": return still(plot(page));
    case "runs": return still(two(page));
    case "searches": return still(searches(page));
    case "trend": return still(trend(page));
    case "traffic": return still(traffic(page));
  }
}
