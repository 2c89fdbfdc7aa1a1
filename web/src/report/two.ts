/** The charts of two runs side by side: everything overlaid, and the shift at each percentile. */

import { Chart, type Ink, type Spec } from "../charts/chart";
import { Group } from "../charts/group";
import { clock, figure, signed, time } from "../data/numbers";
import type { RunsPage, Timeline } from "../data/page";
import { histogram, percentile, percentiles } from "./times";

const INKS: readonly Ink[] = ["a", "b"];

export function two(page: RunsPage): HTMLElement[] {
  const { timelines, times, shifts } = page.data;
  const specs: [Spec, Group][] = [];
  const group = new Group();
  const course = (id: string, title: string, about: string, left: Spec["left"], values: (timeline: Timeline, index: number) => number | null): [Spec, Group] => [{
    id, title, about, left,
    x: { title: "time since the start", show: clock, unit: "clock", from: 0, to: Math.max(1e-3, ...timelines.map((timeline) => (timeline.to_ns.at(-1) ?? 0) / 1e9)) },
    series: timelines.map((timeline, side) => ({
      name: side === 0 ? "A" : "B", ink: INKS[side] ?? "c", kind: "line", dashed: side === 1,
      x: timeline.from_ns.map((from, index) => (from + (timeline.to_ns[index] ?? from)) / 2e9), y: timeline.from_ns.map((_, index) => values(timeline, index)),
    })),
  }, group];
  specs.push(course("qps", "Requests a second", "Answers a second of both, from their own beginnings.", { title: "requests a second", show: figure, zero: true }, rate));
  specs.push(course("p99", "p99 over time", "The 99th percentile of the response time of each interval.", { title: "p99", show: time, zero: true, switchable: true }, (timeline, index) => timeline.p99_ns[index] ?? null));
  if (shifts.length > 0) {
    const order = shifts.map((_, index) => index + 1);
    specs.push([{
      id: "shift", title: "Shift by percentile", about: "How much each percentile of the response time differs from A to B. How much of that is chance is not known from one run of each.",
      x: { title: "percentile of the response time", show: figure, from: 0.5, to: shifts.length + 0.5, ticks: shifts.map((shift, index) => ({ at: index + 1, label: percentile(shift.q) })) },
      left: { title: "change from A to B", show: signed, zero: false }, level: 0,
      series: [{ name: "change", ink: "b", kind: "points", x: order, y: shifts.map((shift) => shift.change) }],
    }, new Group()]);
  }
  const measured = times.filter((it) => it.count > 0);
  if (measured.length > 0) {
    specs.push([percentiles("curve", "Both by percentile", "Each step to the right is one more nine.", measured), new Group()]);
    specs.push([histogram("distribution", "Both distributions", "Which share of each run's requests took how long, on a logarithmic axis.", measured), new Group()]);
  }
  return specs.map(([spec, group]) => new Chart(spec, group).root);
}

/** The last moments of a drain have no rate. */
function rate(timeline: Timeline, index: number): number | null {
  const span = ((timeline.to_ns[index] ?? 0) - (timeline.from_ns[index] ?? 0)) / 1e9;
  return span >= 0.5 * Math.min(1, (timeline.to_ns[0] ?? 0) / 1e9) && span > 0 ? (timeline.answered[index] ?? 0) / span : null;
}
