/** The charts of a capacity search: what each rate did, and the way the search took; and those of two searches. */

import { Chart, type Spec } from "../charts/chart";
import { Flame } from "../charts/flame";
import { Group } from "../charts/group";
import { count, figure, time } from "../data/numbers";
import type { FindPage, Rate, SearchesPage } from "../data/page";
import { climbs, roots } from "./observed";

/** Rates that span more than this are shown by their proportions. */
const WIDE = 20;

const x_axis = (places: readonly number[], title = "offered, requests a second") => ({
  title, show: figure, law: Math.max(...places) / Math.min(...places) > WIDE ? "log" as const : "linear" as const,
});

const percentile = (quantile: number) => `p${Number((quantile * 100).toFixed(4))}`;

export function find(page: FindPage): HTMLElement[] {
  const { rates, trials, carries, capacity_low, capacity_high, quantile, good_within_ns, rated } = page.data;
  if (trials.length === 0) return [];
  const places = rates.map((rate) => rate.rate);
  const journeys = rated === "journeys";
  const x = x_axis(places, journeys ? "journeys begun a second" : undefined);
  const unit = journeys ? "journeys a second" : "requests a second";
  const name = percentile(quantile);
  const group = new Group();
  const lines = carries === null ? [] : [{ at: carries, text: `carries ${figure(carries)}/s` }];
  const stretches = capacity_high !== null && capacity_low > 0 ? [{ from: capacity_low, to: capacity_high, text: "capacity, 95 %" }] : [];
  const load: Spec = {
    id: "load", title: "What each rate came to", about: `${journeys ? "Journeys finished a second, and the part of their requests that succeeded" : "Answers a second, and those that succeeded"} ${good_within_ns === null ? "" : `within ${time(good_within_ns)} `}(goodput). Where the two part from what was offered, the server does not keep up.`,
    x, left: { title: unit, show: figure, zero: true, law: x.law },
    series: [
      { name: "offered", ink: "faint", kind: "line", dashed: true, x: places, y: places },
      { name: "throughput", ink: "a", kind: "line", x: places, y: rates.map((rate) => rate.throughput) },
      { name: "goodput", ink: "c", kind: "line", x: places, y: rates.map((rate) => rate.goodput) },
      { name: "measured", ink: "c", kind: "points", x: places, y: rates.map((rate) => rate.goodput), hollow: rates.map((rate) => rate.generator_limited) },
    ],
    lines, stretches,
  };
  const latency: Spec = {
    id: "latency", title: `Response time (${name}) by rate`, about: "From when a request was due. A gap where the percentile lies among requests that failed.",
    x, left: { title: name, show: time, law: "log", zero: true, switchable: true },
    series: [
      { name, ink: "d", kind: "line", x: places, y: rates.map((rate) => rate.quantile_ns) },
      { name: "trials", ink: "d", kind: "points", x: places, y: rates.map((rate) => rate.quantile_ns), hollow: rates.map((rate) => rate.generator_limited) },
      ...(good_within_ns === null ? [] : [{ name: "promised", ink: "bad" as const, kind: "line" as const, dashed: true, x: places, y: places.map(() => good_within_ns) }]),
    ],
    lines, stretches,
  };
  const of = (outcome: string) => trials.map((trial) => (trial.outcome === outcome ? trial.rate : null));
  const order = trials.map((_, index) => index + 1);
  const highest = Math.max(...trials.map((trial) => trial.rate)), lowest = Math.min(...trials.map((trial) => trial.rate));
  const search: Spec = {
    id: "search", title: "The search, trial by trial", about: "Each rate that was tried, in order: the search climbs until a promise breaks, then closes in, proves what it found, and tries it longer.",
    x: { title: "trial", show: count, from: 0.5, to: trials.length + 0.5, ticks: ticked(trials.map((trial) => trial.purpose)) },
    left: { title: unit, show: figure, zero: true, law: highest / lowest > WIDE ? "log" : "linear", switchable: true },
    series: [
      { name: "tried", ink: "faint", kind: "line", x: order, y: trials.map((trial) => trial.rate) },
      { name: "holds", ink: "c", kind: "points", x: order, y: of("holds") },
      { name: "breaks", ink: "bad", kind: "points", x: order, y: of("breaks") },
      { name: "does not count", ink: "e", kind: "points", x: order, y: of("does not count"), hollow: order.map(() => true) },
    ],
  };
  const flames = (page.data.profiles ?? []).map((profile) => new Flame(profile));
  return [...roots([new Chart(load, group), new Chart(latency, group), new Chart(search)]), ...climbs(page.data.observed, x, group, lines), ...roots(flames)];
}

const ticked = (purposes: string[]) => purposes.map((purpose, index) => ({ at: index + 1, label: `${index + 1} ${purpose}` }));

export function searches(page: SearchesPage): HTMLElement[] {
  const { sides: [a, b], quantile } = page.data;
  const all = [...a.rates, ...b.rates].map((rate) => rate.rate);
  if (all.length === 0) return [];
  const x = x_axis(all);
  const group = new Group();
  const both = (value: (rate: Rate) => number | null): Spec["series"] => [
    { name: "A", ink: "a", kind: "line", x: a.rates.map((rate) => rate.rate), y: a.rates.map(value) },
    { name: "B", ink: "b", kind: "line", dashed: true, x: b.rates.map((rate) => rate.rate), y: b.rates.map(value) },
    { name: "A rates", ink: "a", kind: "points", x: a.rates.map((rate) => rate.rate), y: a.rates.map(value), hollow: a.rates.map((rate) => rate.generator_limited) },
    { name: "B rates", ink: "b", kind: "points", x: b.rates.map((rate) => rate.rate), y: b.rates.map(value), hollow: b.rates.map((rate) => rate.generator_limited) },
  ];
  const lines = ([["A", a], ["B", b]] as const).flatMap(([name, side]) => (side.carries === null ? [] : [{ at: side.carries, text: `${name} ${figure(side.carries)}/s` }]));
  const specs: Spec[] = [{
    id: "load", title: "What each rate came to", about: "Answers a second that succeeded in time (goodput), by what was offered.",
    x, left: { title: "goodput, requests a second", show: figure, zero: true, law: x.law }, series: both((rate) => rate.goodput), lines,
  }];
  if (quantile !== null) {
    specs.push({
      id: "latency", title: `Response time (${percentile(quantile)}) of both`, about: "From when a request was due. A gap where the percentile lies among requests that failed.",
      x, left: { title: percentile(quantile), show: time, law: "log", zero: true, switchable: true }, series: both((rate) => rate.quantile_ns), lines,
    });
  }
  return specs.map((spec) => new Chart(spec, group).root);
}
