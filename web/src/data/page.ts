/**
 * What Rust puts into a page: the types of crates/report/src/page.rs, key by key.
 *
 * Sentences, tables and figures come worded; only the points of charts are numbers. Times are nanoseconds.
 */

export type Tone = "plain" | "good" | "caution" | "bad";
export type Question = "checks" | "carries" | "knee" | "changed" | "steady" | "fails" | "holds" | "limits" | "comes" | "routes" | "users" | "bursts";

export interface Mark { word: string; tone: Tone; why: string }
export interface Answer { question: Question; sentence: string; evidence: string | null; tone: Tone }
export interface Figure { name: string; value: string; note: string }
export interface Head { text: string; figures: boolean }
export interface Table { id: string; title: string; heads: Head[]; rows: string[][]; note: string }

interface Common<K extends string, D> {
  schema: "loadline.page/1";
  kind: K;
  title: string;
  about: string[];
  standing: Mark | null;
  answers: Answer[];
  remarks: string[];
  figures: Figure[];
  tables: Table[];
  text: string;
  measured_by: string;
  data: D;
}

/** One interval, as a live page gets it: the keys of a tick in the result. */
export interface Tick {
  from_ns: number;
  to_ns: number;
  warmup?: boolean;
  answered: number;
  due: number;
  succeeded: number;
  failed: number;
  /** By class; classes that did not occur are left out. */
  failures?: Record<string, number>;
  unsent: number;
  bytes_sent: number;
  bytes_received: number;
  in_flight: number;
  connections: number;
  cpu_ns: number;
  lag_max_ns: number;
  response_time: { mean_ns: number | null; max_ns: number | null; quantiles: Record<string, number | null> };
  /** What the server did a moment before, if it is watched. */
  server?: Server;
  /** Of a scenario. */
  journeys?: { started: number; completed: number; succeeded: number; broke_off: number };
  /** Of answers that stream. */
  streams?: Events;
}

/** Events of an interval: how many, and the times to the first of an answer and between two. */
export interface Events { events: number; first_mean_ns: number | null; first_p95_ns: number | null; first_max_ns: number | null; between_p99_ns: number | null; between_max_ns: number | null }

/** The server at a moment: cores that it used, the share of one that its busiest thread did, and busy cores of its machine. */
export interface Server {
  cpu: number;
  busiest_thread: number | null;
  machine_cpu: number | null;
  /** What is said beside the cores. */
  told: string;
}

/** All intervals, a list for each key. */
export interface Timeline {
  from_ns: number[];
  to_ns: number[];
  warmup: boolean[];
  answered: number[];
  due: number[];
  succeeded: number[];
  failed: number[];
  /** By class: of every class that occurred, a count for each interval. */
  failures: Record<string, number[]>;
  unsent: number[];
  bytes_sent: number[];
  bytes_received: number[];
  in_flight: number[];
  connections: number[];
  cpu_ns: number[];
  lag_max_ns: number[];
  mean_ns: (number | null)[];
  p50_ns: (number | null)[];
  p90_ns: (number | null)[];
  p99_ns: (number | null)[];
  max_ns: (number | null)[];
  /** Of a run whose answers stream. */
  streams?: Events[];
}

const NO_EVENTS: Events = { events: 0, first_mean_ns: null, first_p95_ns: null, first_max_ns: null, between_p99_ns: null, between_max_ns: null };

/** Adds an interval to the others. */
export function push(timeline: Timeline, tick: Tick): void {
  const times = tick.response_time;
  for (const failure of Object.keys(tick.failures ?? {})) timeline.failures[failure] ??= timeline.from_ns.map(() => 0);
  for (const [failure, counts] of Object.entries(timeline.failures)) counts.push(tick.failures?.[failure] ?? 0);
  if (tick.streams) timeline.streams ??= timeline.from_ns.map(() => NO_EVENTS);
  timeline.streams?.push(tick.streams ?? NO_EVENTS);
  timeline.from_ns.push(tick.from_ns);
  timeline.to_ns.push(tick.to_ns);
  timeline.warmup.push(tick.warmup ?? false);
  timeline.answered.push(tick.answered);
  timeline.due.push(tick.due);
  timeline.succeeded.push(tick.succeeded);
  timeline.failed.push(tick.failed);
  timeline.unsent.push(tick.unsent);
  timeline.bytes_sent.push(tick.bytes_sent);
  timeline.bytes_received.push(tick.bytes_received);
  timeline.in_flight.push(tick.in_flight);
  timeline.connections.push(tick.connections);
  timeline.cpu_ns.push(tick.cpu_ns);
  timeline.lag_max_ns.push(tick.lag_max_ns);
  timeline.mean_ns.push(times.mean_ns);
  timeline.p50_ns.push(times.quantiles["0.5"] ?? null);
  timeline.p90_ns.push(times.quantiles["0.9"] ?? null);
  timeline.p99_ns.push(times.quantiles["0.99"] ?? null);
  timeline.max_ns.push(times.max_ns);
}

/** A distribution: bars from, to, how many; and the curve of quantiles. */
export interface Times {
  name: string;
  count: number;
  mean_ns: number | null;
  max_ns: number | null;
  bars: [number, number, number][];
  curve: [number, number][];
}

export type RunPage = Common<"run", {
  load: "open" | "closed";
  started: string;
  duration_s: number;
  offered_qps: number | null;
  load_until_ns: number;
  threads: number;
  timeline: Timeline;
  times: Times[];
  /** What was seen of the server's side; a page written by an earlier version has none. */
  observed?: Observed[];
  /** Where the server spent what it spent; a page written by an earlier version has none. */
  profiles?: Profile[];
}>;

/** A tree of calls, drawn with as much width as was spent. */
export interface Profile {
  id: string;
  title: string;
  about: string;
  unit: "nanoseconds" | "bytes" | "count";
  total: number;
  names: string[];
  /** In preorder: which name, how deep, spent in itself, and with all it called. */
  frames: [name: number, depth: number, flat: number, cum: number][];
  /** By how much each frame's share of all is greater than before, from -1 to 1; empty where nothing is compared. */
  grown: number[];
}

/** Series of the server's side that are drawn together. */
export interface Observed {
  id: string;
  title: string;
  about: string;
  unit: "cores" | "share" | "count" | "per_second" | "bytes" | "bytes_per_second" | "number";
  /** Whether it stands folded below the others; a page written by an earlier version does not say. */
  more?: boolean;
  from_ns: number[];
  to_ns: number[];
  lines: { name: string; values: (number | null)[] }[];
}

/** The same with a figure for each load of a ladder. */
export type Climb = Omit<Observed, "from_ns" | "to_ns"> & { loads: number[] };

export interface Point {
  level: number;
  qps: number;
  ttlb_mean_ns: number | null;
  ttlb_p99_ns: number | null;
  success_percent: number;
  /** Of a scenario: journeys finished a second, and answers for each of them. */
  tps?: number;
  requests_per_journey?: number;
  /** Of answers that stream: events a second, and percentiles of the times to the first of an answer and between two. */
  events_per_second?: number;
  first_event_p95_ns?: number | null;
  between_events_p99_ns?: number | null;
  /** Where tokens are counted that are not events: these, and the 99th percentile over answers of the time for each. */
  tokens_per_second?: number;
  time_per_token_p99_ns?: number | null;
  generator_limited: boolean;
}

export type SweepPage = Common<"sweep", {
  levels: "users" | "offered" | "journeys";
  points: Point[];
  runs: [number, number][];
  fit: { name: string; points: [number, number, number, number][] } | null;
  best: number | null;
  /** What was seen of the server's side at each level; a page written by an earlier version has none. */
  observed?: Climb[];
  profiles?: Profile[];
}>;

/** What a rate came to. */
export interface Rate { rate: number; throughput: number; goodput: number; quantile_ns: number | null; generator_limited: boolean }

export type FindPage = Common<"find", {
  carries: number | null;
  capacity_low: number;
  capacity_high: number | null;
  quantile: number;
  good_within_ns: number | null;
  rated: "requests" | "journeys";
  rates: Rate[];
  trials: { rate: number; seconds: number; purpose: string; outcome: "holds" | "breaks" | "does not count" }[];
  observed?: Climb[];
  profiles?: Profile[];
}>;

export type ComparePage = Common<"compare", {
  a: string;
  b: string;
  times: Times[];
  shifts: { q: number; change: number; low: number; high: number; margin: number }[];
  pairs: {
    first: "A" | "B";
    qps: [number, number];
    p50_ns: [number | null, number | null];
    p99_ns: [number | null, number | null];
    left_out: string | null;
  }[];
  profiles?: Profile[];
}>;

export type DiffPage = Common<"diff", { levels: "users" | "offered" | "journeys"; sides: [{ name: string; points: Point[] }, { name: string; points: Point[] }] }>;

/** Of each series, pairs of seconds since the start and milliseconds. */
export type PlotPage = Common<"plot", { courses: { name: string; failed: boolean; points: [number, number][] }[] }>;

export type RunsPage = Common<"runs", { names: [string, string]; times: [Times, Times]; timelines: [Timeline, Timeline]; shifts: { q: number; change: number }[] }>;

export type SearchesPage = Common<"searches", {
  sides: [SearchSide, SearchSide];
  quantile: number | null;
}>;

export interface SearchSide { carries: number | null; rates: Rate[] }

export type TrendPage = Common<"trend", {
  kind: string;
  runs: { id: string; started: string; revision: string | null }[];
  series: {
    id: string;
    name: string;
    unit: "figure" | "time_ns" | "percent";
    values: (number | null)[];
    changes: { at: number; before: number; after: number; change: number }[];
  }[];
}>;

export type TrafficPage = Common<"traffic", {
  first_s: number;
  step_s: number;
  timeline: { at_s: number; requests: number; second_max: number }[];
  time_of_day: number[];
  routes: { name: string; share: number; cumulative_share: number }[];
}>;

export type Page = RunPage | SweepPage | FindPage | ComparePage | DiffPage | PlotPage | RunsPage | SearchesPage | TrendPage | TrafficPage;
