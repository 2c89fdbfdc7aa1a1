/** The charts of one run: finished, or on its way with a tick a second. */

import { Chart, type Axis, type Ink, type Spec } from "../charts/chart";
import { Flame } from "../charts/flame";
import { Group } from "../charts/group";
import { clock, count, figure, percent, time } from "../data/numbers";
import { push, type Observed, type RunPage, type Tick, type Timeline } from "../data/page";
import { axis, folded, lines, roots } from "./observed";
import { histogram, percentiles, samples } from "./times";

export interface Drawn { charts: HTMLElement[]; update(...ticks: Tick[]): void }

export function run(page: RunPage): Drawn {
  const { timeline, times } = page.data;
  const over_time = new Group();
  // Of a run that another tool measured, nothing is known of its generator and its connections.
  const streams = timeline.streams !== undefined;
  const specs = COURSES.filter((spec) => (spec !== health || page.data.threads > 0) && (streams || (spec !== events && spec !== event_times)));
  const courses = specs.map((spec) => new Chart(spec(page), over_time));
  const shapes = times.length === 0 ? [] : [
    new Chart(histogram("latency", "How long requests took", `How many of ${samples(times[0])} took how long, on a logarithmic axis.`, times)),
    new Chart(percentiles("percentile-curve", "Times by percentile, to the last nines", "Each step to the right is one more nine: the far end is the slowest request of all.", times)),
  ];
  const server = folded(page.data.observed ?? [], (seen) => new Chart(observed(page, seen), over_time));
  const flames = (page.data.profiles ?? []).map((profile) => new Flame(profile));
  const watched = new Watched();
  return {
    charts: [...roots(courses), ...server, ...roots(shapes), ...roots(flames)],
    update(...ticks) {
      for (const tick of ticks) {
        // What came after the load is its drain, and no part of the course.
        if (page.data.load_until_ns > 0 && tick.from_ns >= page.data.load_until_ns) continue;
        push(timeline, tick);
        watched.push(tick);
      }
      courses.forEach((chart, index) => { const spec = specs[index]; if (spec) chart.update(spec(page)); });
      watched.draw(page, over_time, courses.at(-1)?.root);
    },
  };
}

const COURSES: readonly ((page: RunPage) => Spec)[] = [throughput, response, events, event_times, failures, in_flight, health];

/** Rates stand at the middle of their interval. */
const middles = (timeline: Timeline) => timeline.from_ns.map((from, index) => (from + (timeline.to_ns[index] ?? from)) / 2e9);
const seconds = (timeline: Timeline, index: number) => ((timeline.to_ns[index] ?? 0) - (timeline.from_ns[index] ?? 0)) / 1e9;

/** A rate over the last moments of a run says nothing: intervals shorter than this share of the longest have none. */
const SPAN_LEAST = 0.5;

const longest = (timeline: Timeline) => timeline.to_ns.reduce((most, _, index) => Math.max(most, seconds(timeline, index)), 0);

function rates(timeline: Timeline, values: readonly number[]): (number | null)[] {
  const least = longest(timeline) * SPAN_LEAST;
  return values.map((value, index) => { const span = seconds(timeline, index); return span > 0 && span >= least ? value / span : null; });
}

function course(page: RunPage, spec: Pick<Spec, "id" | "title" | "about" | "left" | "series"> & { right?: Axis }): Spec {
  const { timeline } = page.data;
  const last = timeline.to_ns.at(-1) ?? 0;
  const warm = timeline.warmup.indexOf(false);
  const warmed = warm > 0 ? (timeline.from_ns[warm] ?? 0) : warm < 0 && timeline.warmup.length > 0 ? last : 0;
  const drained = page.data.load_until_ns < last && page.data.load_until_ns > 0;
  return {
    ...spec,
    x: { title: "time since the start", show: clock, unit: "clock", from: 0, to: Math.max(1e-3, last / 1e9) },
    stretches: [
      ...(warmed > 0 ? [{ from: 0, to: warmed / 1e9, text: "warm-up" }] : []),
      ...(drained ? [{ from: page.data.load_until_ns / 1e9, to: last / 1e9, text: "drain" }] : []),
    ],
  };
}

function throughput(page: RunPage): Spec {
  const { timeline, load } = page.data;
  const x = middles(timeline);
  const asked = load === "open" ? [{ name: "due", ink: "faint" as const, kind: "line" as const, dashed: true, x, y: rates(timeline, timeline.due) }] : [];
  return course(page, {
    id: "qps", title: "Requests a second", about: load === "open" ? "Answers and successes a second, beside the requests that fell due." : "Answers and successes a second, whatever their status and those below 400.",
    left: { title: "requests a second", show: figure, zero: true },
    series: [
      { name: "answered", ink: "a", kind: "line", x, y: rates(timeline, timeline.answered) },
      { name: "succeeded", ink: "c", kind: "line", dashed: true, x, y: rates(timeline, timeline.succeeded) },
      ...asked,
    ],
  });
}

function response(page: RunPage): Spec {
  const { timeline } = page.data;
  const x = middles(timeline);
  // Of a few requests only mean and maximum are known.
  const known = [timeline.p50_ns, timeline.p90_ns, timeline.p99_ns].some((times) => times.some((it) => it !== null));
  return course(page, {
    id: "response", title: "Response time", about: "Percentiles of each interval; a gap where too few requests were timed to tell.",
    left: { title: "response time", show: time, zero: true, switchable: true },
    series: [
      { name: "p50", ink: "a", kind: "line", x, y: timeline.p50_ns },
      { name: "p90", ink: "b", kind: "line", x, y: timeline.p90_ns },
      { name: "p99", ink: "d", kind: "line", x, y: timeline.p99_ns },
      { name: "max", ink: "faint", kind: "line", x, y: timeline.max_ns, off: known },
      { name: "mean", ink: "e", kind: "line", dashed: true, x, y: timeline.mean_ns, off: known },
    ],
  });
}

function events(page: RunPage): Spec {
  const { timeline } = page.data;
  const x = middles(timeline);
  return course(page, {
    id: "events", title: "Events a second", about: "Events of all answers, as they came; of language models tokens.",
    left: { title: "events a second", show: figure, zero: true },
    series: [{ name: "events", ink: "c", kind: "line", x, y: rates(timeline, (timeline.streams ?? []).map((interval) => interval.events)) }],
  });
}

function event_times(page: RunPage): Spec {
  const { timeline } = page.data;
  const x = middles(timeline);
  const streams = timeline.streams ?? [];
  return course(page, {
    id: "event-times", title: "First event, and between events", about: "From when a request was due to the first event of its answer, and from one event to the next; a gap where too few came to tell.",
    left: { title: "time", show: time, zero: true, law: "log", switchable: true },
    series: [
      { name: "first event, mean", ink: "a", kind: "line", x, y: streams.map((interval) => interval.first_mean_ns) },
      { name: "first event p95", ink: "b", kind: "line", x, y: streams.map((interval) => interval.first_p95_ns) },
      { name: "first event, max", ink: "d", kind: "line", x, y: streams.map((interval) => interval.first_max_ns) },
      { name: "between events p99", ink: "c", kind: "line", dashed: true, x, y: streams.map((interval) => interval.between_p99_ns) },
      { name: "between events, max", ink: "faint", kind: "line", x, y: streams.map((interval) => interval.between_max_ns) },
    ],
  });
}

/** Classes beyond these are few requests each; the table has them all. */
const CLASSES_MOST = 4;
const CLASS_INKS: readonly Ink[] = ["a", "b", "d", "e"];

function failures(page: RunPage): Spec {
  const { timeline } = page.data;
  const x = middles(timeline);
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  const classes = Object.entries(timeline.failures).sort(([, a], [, b]) => sum(b) - sum(a)).slice(0, CLASSES_MOST);
  return course(page, {
    id: "failures", title: "Failures", about: "Requests that failed, together and by class, or were given up unsent, a second.",
    left: { title: "requests a second", show: figure, zero: true },
    series: [
      { name: "failed", ink: "bad", kind: "area", x, y: rates(timeline, timeline.failed) },
      ...(classes.length < 2 ? [] : classes.map(([name, counts], index) => ({ name, ink: CLASS_INKS[index] ?? "faint", kind: "line" as const, x, y: rates(timeline, counts) }))),
      { name: "unsent", ink: "faint", kind: "line", dashed: true, x, y: rates(timeline, timeline.unsent) },
    ],
  });
}

function in_flight(page: RunPage): Spec {
  const { timeline } = page.data;
  const x = timeline.to_ns.map((to) => to / 1e9);
  return course(page, {
    id: "in-flight", title: "In flight", about: `Requests that had fallen due and had no end yet${page.data.threads > 0 ? ", and open connections," : ""} at the end of each interval.`,
    left: { title: "at once", show: count, zero: true },
    series: [
      { name: "requests", ink: "a", kind: "line", x, y: timeline.in_flight },
      ...(page.data.threads > 0 ? [{ name: "connections", ink: "c" as const, kind: "line" as const, dashed: true, x, y: timeline.connections }] : []),
    ],
  });
}

/** What was seen of the server's side, over the same seconds. */
function observed(page: RunPage, seen: Observed): Spec {
  const x = seen.from_ns.map((from, index) => (from + (seen.to_ns[index] ?? from)) / 2e9);
  return course(page, { id: seen.id, title: seen.title, about: seen.about, left: axis(seen), series: lines(seen, x) });
}

/** The server while the run goes on: a chart that is there once something was seen. */
class Watched {
  private chart: Chart | null = null;
  private readonly seen: Observed = {
    id: "server-cpu", title: "Processor of the server", about: "Cores that the server used, its busiest thread, and all that its machine had to do, as they were last looked at.", unit: "cores", from_ns: [], to_ns: [],
    lines: [{ name: "server", values: [] }, { name: "busiest thread", values: [] }, { name: "machine cpu", values: [] }],
  };

  push(tick: Tick): void {
    if (!tick.server) return;
    this.seen.from_ns.push(tick.from_ns);
    this.seen.to_ns.push(tick.to_ns);
    const { cpu, busiest_thread, machine_cpu } = tick.server;
    [cpu, busiest_thread, machine_cpu].forEach((value, index) => this.seen.lines[index]?.values.push(value));
  }

  /** Below the chart that stands above it. */
  draw(page: RunPage, group: Group, above: HTMLElement | undefined): void {
    if (this.seen.to_ns.length === 0) return;
    const spec = observed(page, this.seen);
    if (this.chart) {
      this.chart.update(spec);
    } else {
      this.chart = new Chart(spec, group);
      above?.after(this.chart.root);
    }
  }
}

function health(page: RunPage): Spec {
  const { timeline, threads } = page.data;
  const x = middles(timeline);
  return course(page, {
    id: "health", title: "Health of the load generator", about: `Processor time of its ${threads === 1 ? "one thread" : `${threads} threads`}, as a share of as many cores, and the latest send of each interval.`,
    left: { title: "of its cores", show: percent, from: 0, to: 100 },
    right: { title: "lag", show: time, zero: true },
    series: [
      { name: "processor", ink: "a", kind: "area", x, y: rates(timeline, timeline.cpu_ns).map((cpu) => (cpu === null ? null : Math.min(100, (cpu / 1e9 / Math.max(1, threads)) * 100))) },
      { name: "greatest lag", ink: "b", kind: "line", axis: "right", x, y: timeline.lag_max_ns },
    ],
  });
}
