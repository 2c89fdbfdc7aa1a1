/** The server's side in charts: over the seconds of a run, or against the loads of a ladder. */

import { Chart, type Axis, type Ink, type Series, type Spec } from "../charts/chart";
import type { Group } from "../charts/group";
import { bytes, figure, percent } from "../data/numbers";
import type { Climb, Observed } from "../data/page";
import { element } from "../parts/element";

const INKS: readonly Ink[] = ["a", "b", "c", "d", "e"];
const UNITS: Record<Observed["unit"], { title: string; show: (value: number) => string; scale?: number }> = {
  cores: { title: "cores", show: figure },
  share: { title: "share", show: percent, scale: 100 },
  count: { title: "at once", show: figure },
  per_second: { title: "a second", show: figure },
  bytes: { title: "bytes", show: bytes },
  bytes_per_second: { title: "bytes a second", show: bytes },
  number: { title: "value", show: figure },
};

type Drawn = Pick<Observed, "unit" | "lines">;

export function axis(drawn: Drawn): Axis {
  const { title, show } = UNITS[drawn.unit];
  return { title, show, zero: true };
}

/** A line for each series. The eye tells two lines of one ink apart that are dashed and not. */
export function lines(drawn: Drawn, x: readonly number[]): Series[] {
  const { scale = 1 } = UNITS[drawn.unit];
  return drawn.lines.map((line, index) => ({
    name: line.name, ink: INKS[index] ?? "faint", kind: "line", dashed: index % 2 === 1, x, y: line.values.map((value) => (value === null ? null : value * scale)),
  }));
}

export const roots = (charts: readonly { root: HTMLElement }[]): HTMLElement[] => charts.map((chart) => chart.root);

/** All of them; those that name no limit by themselves stand folded below the others. */
export function folded<T extends { more?: boolean }>(all: readonly T[], draw: (one: T) => Chart): HTMLElement[] {
  const first = roots(all.filter((one) => !one.more).map(draw));
  const more = roots(all.filter((one) => one.more).map(draw));
  if (more.length === 0) return first;
  const fold = element("details", { class: "more", id: "server-more" },
    element("summary", {}, element("h3", {}, `More of the server's side: ${more.length === 1 ? "one chart" : `${more.length} charts`}`)),
    element("div", { class: "charts" }, ...more));
  return [...first, fold];
}

/** The server's side against the load, over the axis of the other charts of a ladder. */
export function climbs(all: readonly Climb[] | undefined, x: Spec["x"], group: Group, stands: Spec["lines"] = []): HTMLElement[] {
  return folded(all ?? [], (climb) =>
    new Chart({ id: climb.id, title: climb.title, about: climb.about, x, left: axis(climb), series: lines(climb, climb.loads), lines: stands }, group));
}
