/** Where every page starts: the data block of a report is drawn; without one, there is nothing to draw. */

import "./page.css";
import type { Page } from "./data/page";
import { render } from "./report/render";

const started = performance.now();
const root = document.getElementById("page");
const data = document.getElementById("data")?.textContent;
if (root && data) {
  render(root, JSON.parse(data) as Page);
  // Charts are drawn once their width is known, before the first frame. Tests read how long all of it took.
  requestAnimationFrame(() => setTimeout(() => { root.dataset["drawnMs"] = (performance.now() - started).toFixed(1); }));
}
