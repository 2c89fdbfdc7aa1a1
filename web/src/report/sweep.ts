/** The charts of a ladder of loads. */

import { Chart, type Spec } from "../charts/chart";
import { Flame } from "../charts/flame";
import { Group } from "../charts/group";
import { figure, percent, time } from "../data/numbers";
import type { DiffPage, Point, SweepPage } from "../data/page";
import { climbs, roots } from "./observed";

type Levels = SweepPage["data"]["levels"];

const COUNTED: Record<Levels, string> = { users: "concurrent users", offered: "offered, requests a second", journeys: "journeys begun a second" };

/** Levels that span more than this are shown by their proportions. */
const WIDE = 20;

const x_axis = (levels: Levels, points: readonly Point[]) => {
  const places = points.map((point) => point.level);
  const wide = Math.max(...places) / Math.min(...places) > WIDE;
  return { title: COUNTED[levels], show: figure, law: wide ? "log" as const : "linear" as const };
};

const at = (points: readonly Point[]) => points.map((point) => point.level);

export function sweep(page: SweepPage): HTMLElement[] {
  const { points, levels, runs, fit, best } = page.data;
  if (points.length === 0) return [];
  const x = x_axis(levels, points);
  const group = new Group();
  const throughput: Spec = {
    id: "throughput", title: "Throughput and response time", about: fit ? `Requests a second that succeeded, with the fitted model (${fit.name}) and its 95 % band, and the mean latency.` : "Requests a second that succeeded, and the mean latency.",
    x, left: { title: "requests a second", show: figure, zero: true }, right: { title: "latency", show: time, zero: true },
    series: [
      { name: "QPS", ink: "a", kind: "line", x: at(points), y: points.map((point) => point.qps) },
      ...(runs.length > 0 ? [{ name: "single runs", ink: "faint" as const, kind: "points" as const, x: runs.map((run) => run[0]), y: runs.map((run) => run[1]) }] : []),
      ...(fit ? [
        { name: fit.name, ink: "c" as const, kind: "line" as const, dashed: true, x: fit.points.map((it) => it[0]), y: fit.points.map((it) => it[2]) },
        { name: "95 % band", ink: "c" as const, kind: "band" as const, x: fit.points.map((it) => it[0]), y: fit.points.map((it) => it[3]), low: fit.points.map((it) => it[1]) },
      ] : []),
      { name: "mean latency", ink: "b", kind: "line", axis: "right", x: at(points), y: points.map((point) => point.ttlb_mean_ns) },
      { name: "measured", ink: "a", kind: "points", x: at(points), y: points.map((point) => point.qps), hollow: points.map((point) => point.generator_limited) },
    ],
    lines: best === null ? [] : [{ at: best, text: `best: ${figure(best)}` }],
  };
  const flames = (page.data.profiles ?? []).map((profile) => new Flame(profile));
  const load = [throughput, ...journeys(x, points), ...events(x, points), tail(x, points), success(x, points)].map((spec) => new Chart(spec, group));
  return [...roots(load), ...climbs(page.data.observed, x, group, throughput.lines), ...roots(flames)];
}

const tps = (point: Point) => point.tps ?? null;
const travelled = (points: readonly Point[]) => points.some((point) => point.tps !== undefined);

/** A journey is of several requests: journeys have a chart of their own, or they would lie on the floor of the requests'. */
export function journeys(x: Spec["x"], points: readonly Point[]): Spec[] {
  if (!travelled(points)) return [];
  return [{
    id: "journeys", title: "Journeys", about: "Journeys finished a second (TPS), and how many requests were answered for each of them.", x,
    left: { title: "journeys a second", show: figure, zero: true }, right: { title: "requests a journey", show: figure, zero: true },
    series: [
      { name: "TPS", ink: "c", kind: "line", x: at(points), y: points.map(tps) },
      { name: "requests a journey", ink: "e", kind: "line", dashed: true, axis: "right", x: at(points), y: points.map((point) => point.requests_per_journey ?? null) },
      { name: "measured", ink: "c", kind: "points", x: at(points), y: points.map(tps), hollow: points.map((point) => point.generator_limited) },
    ],
  }];
}

/** What answers that stream are compared by: tokens, where every level that streams has them. */
const unit = (points: readonly Point[]) => points.every((point) => point.events_per_second === undefined || point.tokens_per_second !== undefined)
  ? { name: "tokens", a_second: (point: Point) => point.tokens_per_second ?? null, next: (point: Point) => point.time_per_token_p99_ns ?? null, next_name: "time per token p99", title: "Time per token", about: "the time an answer takes for each token behind the first (p99)" }
  : { name: "events", a_second: (point: Point) => point.events_per_second ?? null, next: (point: Point) => point.between_events_p99_ns ?? null, next_name: "between events p99", title: "Between events", about: "from one event of an answer to its next (p99)" };
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const first_event = (point: Point) => point.first_event_p95_ns ?? null;
const streamed = (points: readonly Point[]) => points.some((point) => point.events_per_second !== undefined);

/** Events a second, or tokens, stop growing where their times begin to. */
export function events(x: Spec["x"], points: readonly Point[]): Spec[] {
  if (!streamed(points)) return [];
  const { name, a_second, next, next_name, title, about } = unit(points);
  return [{
    id: "events", title: `${capital(name)} a second, first event and ${title.toLowerCase()}`, about: `${capital(name)} of all answers a second; from when a request was due to its answer's first event (p95), and ${about}.`, x,
    left: { title: `${name} a second`, show: figure, zero: true }, right: { title: "time", show: time, law: "log" },
    series: [
      { name: `${name} a second`, ink: "c", kind: "line", x: at(points), y: points.map(a_second) },
      { name: "first event p95", ink: "b", kind: "line", axis: "right", x: at(points), y: points.map(first_event) },
      { name: next_name, ink: "d", kind: "line", dashed: true, axis: "right", x: at(points), y: points.map(next) },
      { name: "measured", ink: "c", kind: "points", x: at(points), y: points.map(a_second), hollow: points.map((point) => point.generator_limited) },
    ],
  }];
}

function tail(x: Spec["x"], points: Point[]): Spec {
  return {
    id: "ttlb", title: "Response time by level", about: "Mean and 99th percentile of the response time. Levels at which most requests failed have none: failures are often fast.", x,
    left: { title: "response time", show: time, zero: true, law: "log", switchable: true },
    series: [
      { name: "mean", ink: "b", kind: "line", x: at(points), y: points.map((point) => point.ttlb_mean_ns) },
      { name: "p99", ink: "d", kind: "line", x: at(points), y: points.map((point) => point.ttlb_p99_ns) },
    ],
  };
}

/** From nothing on, except where that would hide the little that failed. */
const least = (points: readonly Point[]) => { const low = Math.min(...points.map((point) => point.success_percent)); return low >= 99 ? 98 : low >= 90 ? 88 : 0; };

function success(x: Spec["x"], points: Point[]): Spec {
  const from = least(points);
  return {
    id: "success", title: "Success rate", about: from > 0 ? `Requests that succeeded, of all that fell due. The axis begins at ${from} %.` : "Requests that succeeded, of all that fell due.", x,
    left: { title: "succeeded", show: percent, from, to: 100 + (100 - from) * 0.04 },
    series: [
      { name: "succeeded", ink: "c", kind: "line", x: at(points), y: points.map((point) => point.success_percent) },
      { name: "level", ink: "c", kind: "points", x: at(points), y: points.map((point) => point.success_percent) },
    ],
  };
}

export function diff(page: DiffPage): HTMLElement[] {
  const [a, b] = page.data.sides;
  const all = [...a.points, ...b.points];
  if (all.length === 0) return [];
  const x = x_axis(page.data.levels, all);
  const group = new Group();
  const both = (value: (point: Point) => number | null): Spec["series"] => [
    { name: "A", ink: "a", kind: "line", x: at(a.points), y: a.points.map(value) },
    { name: "B", ink: "b", kind: "line", dashed: true, x: at(b.points), y: b.points.map(value) },
    { name: "A levels", ink: "a", kind: "points", x: at(a.points), y: a.points.map(value) },
    { name: "B levels", ink: "b", kind: "points", x: at(b.points), y: b.points.map(value) },
  ];
  const from = least(all);
  const { name, a_second, next, next_name, title, about } = unit(all);
  const specs: Spec[] = [
    { id: "throughput", title: "Throughput of both", about: "Requests a second that succeeded, by level.", x, left: { title: "requests a second", show: figure, zero: true }, series: both((point) => point.qps) },
    ...(travelled(all) ? [{ id: "journeys", title: "Journeys of both", about: "Journeys finished a second (TPS), by level.", x, left: { title: "journeys a second", show: figure, zero: true }, series: both(tps) }] : []),
    ...(streamed(all) ? [
      { id: "events", title: `${capital(name)} of both`, about: `${capital(name)} of all answers a second, by level.`, x, left: { title: `${name} a second`, show: figure, zero: true }, series: both(a_second) },
      { id: "first-event", title: "First event of both", about: "From when a request was due to its answer's first event (p95), by level.", x, left: { title: "first event p95", show: time, zero: true, switchable: true }, series: both(first_event) },
      { id: "between-events", title: `${title} of both`, about: `${capital(about)}, by level.`, x, left: { title: next_name, show: time, zero: true, switchable: true }, series: both(next) },
    ] : []),
    { id: "ttlb", title: "Response time of both", about: "Mean latency, by level.", x, left: { title: "mean latency", show: time, zero: true, switchable: true }, series: both((point) => point.ttlb_mean_ns) },
    { id: "success", title: "Success rate of both", about: from > 0 ? `Requests that succeeded. The axis begins at ${from} %.` : "Requests that succeeded.", x, left: { title: "succeeded", show: percent, from, to: 100 + (100 - from) * 0.04 }, series: both((point) => point.success_percent) },
  ];
  return specs.map((spec) => new Chart(spec, group).root);
}
