/** The path of the binary. */
export function binary(): string;

/** What was given is wrong; the message is the command line's. */
export class InputError extends Error {}
/** The binary ended without a result. */
export class LoadlineError extends Error {}
/** A promise can neither be said to be kept nor to be broken. */
export class CannotTell extends Error {}

type Value = string | number | boolean | null | undefined;

/** Every setting of the command line, as `noKeepalive` or `no_keepalive`; those that are used most by name. */
export interface Settings {
  /** Users who send again as soon as they were answered. */
  users?: number | string;
  /** How long, such as `10s`. */
  duration?: string;
  /** Requests by the clock, such as `200/s`. */
  rate?: string;
  requests?: number;
  headers?: Record<string, string>;
  /** Held against the result, such as `p99 < 50ms`. */
  checks?: string | readonly string[];
  json?: unknown;
  message?: unknown;
  /** Levels of a sweep. */
  levels?: string | readonly number[];
  /** What a search has to keep. */
  slo?: string | readonly string[];
  /** Interrupts the load; what was measured until then is the result. */
  signal?: AbortSignal;
  [setting: string]: Value | readonly Value[] | Record<string, string> | AbortSignal | unknown;
}

/** A time in seconds; NaN where it is unknown. */
export class Time {
  readonly seconds: number;
  readonly ms: number;
  /** Why nothing can be said of it; null where something can. */
  readonly doubt: string | null;
  /** Whether it is below a limit such as `50ms`. Throws {@link CannotTell} where that cannot be said. */
  below(limit: string): boolean;
}

export interface Finding { kind: string; sentence: string; strength: number; evidence: string[]; remedy: string }

/** A result of any kind: `document` is all that the binary wrote. */
export class Result {
  readonly document: Record<string, unknown>;
  readonly limits: Finding[];
  save(path: string): Promise<void>;
  report(): Promise<string>;
  markdown(): Promise<string>;
  page(): Promise<string>;
}

/** One load. */
export class Run extends Result {
  /** Answers a second that succeeded. */
  readonly qps: number;
  readonly requests: { due: number; succeeded: number; failed: number; unsent: number };
  readonly status: Record<string, number>;
  readonly failures: { class: string; side: string; count: number }[];
  readonly checks: { check: string; verdict: "held" | "broken" | "not_judgeable" }[];
  readonly validity: { standing: "valid" | "degraded" | "invalid"; causes: { cause: string }[] };
  quantile(q: number): Time;
  readonly p50: Time;
  readonly p90: Time;
  readonly p95: Time;
  readonly p99: Time;
}

export interface SweepRow {
  level: { users: number } | { offered: number } | { journeys: number };
  qps: number;
  response_time_mean_ns: number | null;
  response_time_p99_ns: number | null;
  due: number;
  failed: number;
  success_percent: number;
  generator_limited: boolean;
  standing: "valid" | "degraded" | "invalid";
}

/** Loads of rising levels. */
export class Sweep extends Result {
  readonly rows: SweepRow[];
  readonly best: SweepRow | null;
}

/** A search for the highest rate that keeps promises. */
export class Search extends Result {
  readonly carries: number | null;
  readonly interval: { low: number | null; high: number | null } | null;
  readonly limitedBy: string;
  readonly trials: { rate: number; seconds: number; purpose: string; missed: number | null }[];
}

/** Two servers measured in pairs. */
export class Comparison extends Result {
  readonly verdict: "better" | "worse" | "same_within" | "cannot_tell";
  readonly isWorse: boolean;
  readonly changes: { metric: string; a: number; b: number; estimate: number; verdict: string }[];
  readonly reading: string[];
}

/** One load on a URL, or through the scenario in a file. */
export function run(target: string, settings?: Settings): Promise<Run>;
/** Rising levels. */
export function sweep(target: string, settings?: Settings): Promise<Sweep>;
/** The highest rate that keeps promises. */
export function find(target: string, settings?: Settings): Promise<Search>;
/** Whether B is slower than A. */
export function compare(a: string, b: string, settings?: Settings): Promise<Comparison>;
/** A saved result. */
export function read(path: string): Promise<Result>;
