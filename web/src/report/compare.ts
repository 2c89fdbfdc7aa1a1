/** The charts of a comparison: where in the distribution a change is, both distributions, and every pair. */

import { Chart, type Spec } from "../charts/chart";
import { Flame } from "../charts/flame";
import { Group } from "../charts/group";
import { figure, signed, time } from "../data/numbers";
import type { ComparePage } from "../data/page";
import { histogram, percentile, percentiles } from "./times";

type Pair = ComparePage["data"]["pairs"][number];

export function compare(page: ComparePage): HTMLElement[] {
  const { shifts, times, pairs } = page.data;
  const specs: [Spec, Group][] = [];
  if (shifts.length > 0) {
    const order = shifts.map((_, index) => index + 1);
    specs.push([{
      id: "shift", title: "Shift by percentile", about: "How much each percentile of the response time changed from A to B, with its 95 % interval. The band is what does not matter.",
      x: { title: "percentile of the response time", show: figure, from: 0.5, to: shifts.length + 0.5, ticks: shifts.map((shift, index) => ({ at: index + 1, label: percentile(shift.q) })) },
      left: { title: "change from A to B", show: signed, zero: false }, level: 0,
      series: [
        { name: "does not matter", ink: "faint", kind: "band", x: [0.5, ...order, shifts.length + 0.5], y: edge(shifts.map((shift) => shift.margin)), low: edge(shifts.map((shift) => -shift.margin)) },
        { name: "95 % interval", ink: "b", kind: "range", x: order, y: shifts.map((shift) => shift.high), low: shifts.map((shift) => shift.low) },
        { name: "change", ink: "b", kind: "points", x: order, y: shifts.map((shift) => shift.change) },
      ],
    }, new Group()]);
  }
  const measured = times.filter((it) => it.count > 0);
  if (measured.length > 0) {
    specs.push([percentiles("curve", "Both by percentile", "All pairs that count, together. Each step to the right is one more nine.", measured), new Group()]);
    specs.push([histogram("distribution", "Both distributions", "Which share of each side's requests took how long, on a logarithmic axis.", measured), new Group()]);
  }
  if (pairs.length > 0) {
    const order = pairs.map((_, index) => index + 1);
    const x = { title: "pair", show: figure, from: 0.5, to: pairs.length + 0.5, ticks: order.map((at) => ({ at, label: String(at) })) };
    const hollow = pairs.map((pair) => pair.left_out !== null);
    const group = new Group();
    const both = (value: (pair: Pair, side: 0 | 1) => number | null): Spec["series"] => [
      { name: "A", ink: "a", kind: "line", x: order, y: pairs.map((pair) => value(pair, 0)) },
      { name: "B", ink: "b", kind: "line", dashed: true, x: order, y: pairs.map((pair) => value(pair, 1)) },
      { name: "A runs", ink: "a", kind: "points", x: order, y: pairs.map((pair) => value(pair, 0)), hollow },
      { name: "B runs", ink: "b", kind: "points", x: order, y: pairs.map((pair) => value(pair, 1)), hollow },
    ];
    specs.push([{ id: "pairs", title: "Requests a second, pair by pair", about: "What drifts on both sides is no difference between them. Hollow points are left out.", x, left: { title: "requests a second", show: figure, zero: false }, series: both((pair, side) => pair.qps[side]) }, group]);
    const known = tail(pairs);
    if (known) {
      const [name, word, key] = known;
      specs.push([{ id: `pairs-${name}`, title: `${name}, pair by pair`, about: `The ${word} of the response time of every run.`, x, left: { title: name, show: time, zero: true, switchable: true }, series: both((pair, side) => pair[key][side]) }, group]);
    }
  }
  const flames = (page.data.profiles ?? []).map((profile) => new Flame(profile));
  return [...specs.map(([spec, group]) => new Chart(spec, group)), ...flames].map((chart) => chart.root);
}

/** Of short runs the 99th percentile is not known, and an empty chart says nothing. */
export const tail = (pairs: readonly Pick<Pair, "p50_ns" | "p99_ns">[]) =>
  ([["p99", "99th percentile", "p99_ns"], ["p50", "median", "p50_ns"]] as const).find(([, , key]) => pairs.some((pair) => pair[key].some((ns) => ns !== null)));

/** The first and the last once more, to reach the ends of the axis. */
const edge = (values: number[]): (number | null)[] => [values[0] ?? null, ...values, values.at(-1) ?? null];
