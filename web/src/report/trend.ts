/** The charts of one name over time: each figure run by run, with the points from which it was another. */

import { Chart, type Ink } from "../charts/chart";
import { Group } from "../charts/group";
import { figure, percent, time } from "../data/numbers";
import type { TrendPage } from "../data/page";

const SHOW = { figure, time_ns: time, percent };
const INKS: readonly Ink[] = ["a", "c", "d", "bad"];
/** So many runs have their date below the chart. */
const LABELS = 6;

export function trend(page: TrendPage): HTMLElement[] {
  const { runs, series } = page.data;
  const group = new Group();
  const order = runs.map((_, index) => index + 1);
  const each = Math.max(1, Math.ceil(runs.length / LABELS));
  const day = (at: number) => { const run = runs[Math.round(at) - 1]; return run ? `${run.started.slice(0, 16).replace("T", " ")}${run.revision ? ` ${run.revision}` : ""}` : ""; };
  // Of the runs of one day the hour tells them apart.
  const date = (at: number) => runs[at - 1]?.started.slice(5, 10) ?? "";
  const labelled = order.filter((at) => (at - 1) % each === 0);
  const ticks = labelled.map((at, index) => ({ at, label: index > 0 && date(at) === date(labelled[index - 1] ?? at) ? (runs[at - 1]?.started.slice(11, 16) ?? "") : date(at) }));
  return series.filter((one) => one.values.some((value) => value !== null)).map((one, place) => {
    const show = SHOW[one.unit];
    const typical = one.changes.length === 0 ? [] : levels(one.changes, runs.length);
    return new Chart({
      id: one.id, title: one.name.charAt(0).toUpperCase() + one.name.slice(1), about: "Each run of this name, the latest on the right. Where it changed for good, what was typical before and since is drawn.",
      x: { title: "run", show: day, from: 0.5, to: runs.length + 0.5, ticks },
      left: { title: one.name, show, zero: true, switchable: one.unit === "time_ns" },
      lines: one.changes.map((change) => ({ at: change.at + 0.5, text: `${change.change > 0 ? "+" : "−"}${percent(Math.abs(change.change) * 100)}` })),
      series: [
        { name: one.name, ink: INKS[place] ?? "a", kind: "line", x: order, y: one.values },
        { name: "runs", ink: INKS[place] ?? "a", kind: "points", x: order, y: one.values },
        ...(typical.length === 0 ? [] : [{ name: "typical", ink: "faint" as const, kind: "line" as const, dashed: true, x: typical.map(([x]) => x), y: typical.map(([, y]) => y) }]),
      ],
    }, group).root;
  });
}

/** A step for each stretch between changes. */
function levels(changes: TrendPage["data"]["series"][number]["changes"], count: number): [number, number | null][] {
  const all: [number, number | null][] = [];
  changes.forEach((change, index) => {
    const from = index === 0 ? 0.5 : (changes[index - 1]?.at ?? 0) + 0.5;
    all.push([from, change.before], [change.at + 0.5, change.before], [change.at + 0.5, change.after]);
  });
  const last = changes.at(-1);
  if (last) all.push([count + 0.5, last.after]);
  return all;
}
