/** Where every page starts: the data block of a report is drawn; without one, there is nothing to draw. */

import "./page.css";
import type { Page } from "./data/page";
import { render } from "./report/render";

const started = performance.now();
const root = document.getElementById("page");
const data = document.getElementById("data")?.textContent;
if (root && data) {
  render(root, JSON.parse(data) as Page);
  // Tests read how long it took; so may a reader who wonders.
  root.dataset["drawnMs"] = (performance.now() - started).toFixed(1);
}
