/** The chart of results that came one by one: how long each took, over time. */

import { Chart, type Ink } from "../charts/chart";
import { clock, time } from "../data/numbers";
import type { PlotPage } from "../data/page";

const INKS: readonly Ink[] = ["a", "c", "d", "e", "b"];

export function plot(page: PlotPage): HTMLElement[] {
  const { courses } = page.data;
  if (courses.length === 0) return [];
  const going = courses.filter((course) => !course.failed);
  const last = courses.reduce((most, course) => Math.max(most, course.points.at(-1)?.[0] ?? 0), 0);
  const chart = new Chart({
    id: "latency", title: "Latency over time", about: "Each request by when it began and how long it took, on a logarithmic axis.",
    x: { title: "time since the attack began", show: clock, unit: "clock", from: 0, to: Math.max(1e-3, last) },
    left: { title: "latency", law: "log", show: time, switchable: true, zero: true },
    series: courses.map((course) => ({
      name: course.name, kind: "points", ink: course.failed ? "bad" : INKS[going.indexOf(course) % INKS.length] ?? "a",
      x: course.points.map(([at]) => at), y: course.points.map(([, ms]) => ms * 1e6), hollow: course.points.map(() => course.failed),
    })),
  });
  return [chart.root];
}
