// Load tests from JavaScript: the binary, called, and the JSON that it writes as objects.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { binary } from "./binary.js";

export { binary };

/** What was given is wrong; the message is the command line's. */
export class InputError extends Error { name = "InputError"; }
/** The binary ended without a result. */
export class LoadlineError extends Error { name = "LoadlineError"; }
/** A promise can neither be said to be kept nor to be broken. */
export class CannotTell extends Error { name = "CannotTell"; }

/** Exit codes with which a result is there: a check broke, the figures are not to be used, or the load was interrupted. */
const MEASURED = [0, 1, 4, 130];

const UNITS = { ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };

/** The seconds of a time such as `50ms` or `1m30s`. */
function seconds(text) {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("").replaceAll(/\s/g, "") !== text.replaceAll(/\s/g, "")) {
    throw new TypeError(`'${text}' is no time: write one with its unit, such as 50ms`);
  }
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * UNITS[unit], 0);
}

/** A time in seconds, which may be unknown. */
export class Time {
  constructor(seconds, doubt) {
    this.seconds = seconds;
    this.doubt = doubt;
  }

  get ms() { return this.seconds * 1e3; }

  /** Whether it is below this limit; throws CannotTell where that cannot be said. */
  below(limit) {
    const most = seconds(limit);
    if (this.doubt !== null) throw new CannotTell(`cannot tell: ${this.doubt}`);
    return this.seconds < most;
  }

  toString() {
    if (Number.isNaN(this.seconds)) return "–";
    for (const [factor, unit] of [[1, "s"], [1e3, "ms"], [1e6, "µs"]]) {
      if (Math.abs(this.seconds) * factor >= 1) return `${Number((this.seconds * factor).toPrecision(3))} ${unit}`;
    }
    return `${Number((this.seconds * 1e9).toPrecision(3))} ns`;
  }
}

const time = (ns, doubt) => new Time(ns === null || ns === undefined ? NaN : ns / 1e9, doubt);

/** A result of any kind: `document` is all that the binary wrote. */
export class Result {
  constructor(document) { this.document = document; }
  /** What stops the server there, the most likely first. */
  get limits() { return this.document.bottleneck ?? []; }
  async save(path) { await writeFile(path, JSON.stringify(this.document)); }
  report() { return rendered(this, "text"); }
  markdown() { return rendered(this, "markdown"); }
  page() { return rendered(this, "html"); }
}

/** One load. */
export class Run extends Result {
  get qps() { return this.document.qps_succeeded; }
  get requests() { return this.document.requests; }
  get status() { return this.document.status; }
  get failures() { return this.document.failures; }
  get checks() { return this.document.checks ?? []; }
  get validity() { return this.document.validity ?? { standing: "valid", causes: [] }; }
  /** The quantile of response time, from 0 to 1. */
  quantile(q) {
    const times = this.document.response_time;
    const known = Object.entries(times.quantiles).find(([name]) => Number(name) === q);
    if (known === undefined) throw new RangeError(`the result has no quantile ${q}, but ${Object.keys(times.quantiles).join(", ")}`);
    const { standing, causes } = this.validity;
    const invalid = standing === "invalid" ? `the run is INVALID (${causes.map(({ cause }) => cause).join(", ")})` : null;
    return time(known[1], invalid ?? (known[1] === null ? `${times.count} requests are too few for the quantile ${q}` : null));
  }
  get p50() { return this.quantile(0.5); }
  get p90() { return this.quantile(0.9); }
  get p95() { return this.quantile(0.95); }
  get p99() { return this.quantile(0.99); }
}

/** Loads of rising levels. */
export class Sweep extends Result {
  get rows() { return this.document.rows; }
  /** The row of the least level at which nearly all of the throughput is reached; null where the levels do not say. */
  get best() {
    const { best, level } = this.document.best;
    return best === "at" ? this.rows.find((row) => Object.values(row.level)[0] === level) ?? null : null;
  }
}

/** A search for the highest rate that keeps promises. */
export class Search extends Result {
  get carries() { return this.document.carries; }
  get interval() { return this.document.capacity ?? null; }
  get limitedBy() { return this.document.limited_by.by; }
  get trials() { return this.document.trials; }
}

/** Two servers measured in pairs. */
export class Comparison extends Result {
  get verdict() { return this.document.comparison.verdict.verdict; }
  get changes() { return this.document.comparison.changes; }
  get reading() { return this.document.reading; }
  /** Whether B is worse than A; throws CannotTell where that cannot be said. */
  get isWorse() {
    if (this.verdict === "cannot_tell") throw new CannotTell(`cannot tell: ${this.reading.join(" ")}`);
    return this.verdict === "worse";
  }
}

/** One load on a URL, or through the scenario in a file. */
export const run = (target, settings = {}) => measured("run", [target], settings, Run);
/** Rising levels. */
export const sweep = (target, settings = {}) => measured("sweep", [target], settings, Sweep);
/** The highest rate that keeps promises. */
export const find = (target, settings = {}) => measured("find", [target], settings, Search);
/** Whether B is slower than A. */
export const compare = (a, b, settings = {}) => measured("compare", [a, b], settings, Comparison);

const KINDS = { run: Run, sweep: Sweep, find: Search, compare: Comparison };

/** A saved result. */
export async function read(path) {
  const document = JSON.parse(await readFile(path, "utf8"));
  const kind = /^loadline\.(\w+)\//.exec(document.schema ?? "")?.[1];
  if (kind === undefined || !(kind in KINDS)) throw new InputError("this is no result of loadline that this package reads");
  return new KINDS[kind](document);
}

/** `noKeepalive: true` is `--no-keepalive`, a list is a flag for each, and what is undefined, null or false is left out. */
function flags(settings) {
  const { users, levels, checks, headers, signal: _, ...others } = settings;
  const all = { connections: users, levels: Array.isArray(levels) ? levels.join(",") : levels, check: checks, ...others };
  const words = Object.entries(headers ?? {}).map(([name, value]) => `--header=${name}: ${value}`);
  for (const [name, value] of Object.entries(all)) {
    const flag = `--${name.replaceAll("_", "-").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    const whole = (name === "json" || name === "message") && typeof value === "object" && value !== null ? JSON.stringify(value) : value;
    for (const one of Array.isArray(whole) ? whole : [whole]) {
      if (one === undefined || one === null || one === false) continue;
      // One word: a value may begin with a dash.
      words.push(one === true ? flag : `${flag}=${one}`);
    }
  }
  return words;
}

async function measured(command, targets, settings, Kind) {
  const dashed = targets.find((target) => String(target).startsWith("-"));
  if (dashed !== undefined) throw new InputError(`'${dashed}' is no target: give a URL, or the file of a scenario`);
  const folder = await mkdtemp(join(tmpdir(), "loadline-"));
  try {
    const path = join(folder, "result.json");
    const files = command === "run" ? [] : [`--dir=${folder}`, "--name=result"];
    const words = [command, ...targets.map(String), ...flags(settings), ...files, `--out=json=${path}`, "--force"];
    const { code, said } = await called(words, settings.signal);
    if (MEASURED.includes(code) && existsSync(path)) return new Kind(JSON.parse(await readFile(path, "utf8")));
    const why = said.trim() || `loadline ${command} ended with ${code}`;
    throw code === 2 ? new InputError(why) : new LoadlineError(why);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Calls the binary; a signal that is aborted interrupts the load, and what was measured until then is the result. */
function called(words, signal) {
  return new Promise((resolve, reject) => {
    const child = spawn(binary(), words, { stdio: ["ignore", "pipe", "pipe"] });
    let [out, said] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text) => { out += text; });
    child.stderr.setEncoding("utf8").on("data", (text) => { said += text; });
    const interrupt = () => child.kill("SIGINT");
    signal?.addEventListener("abort", interrupt, { once: true });
    if (signal?.aborted) interrupt();
    child.on("error", reject);
    child.on("close", (code) => {
      signal?.removeEventListener("abort", interrupt);
      resolve({ code: code ?? 130, out, said });
    });
  });
}

async function rendered(result, form) {
  const folder = await mkdtemp(join(tmpdir(), "loadline-"));
  try {
    const path = join(folder, "result.json");
    await result.save(path);
    const { code, out, said } = await called(["report", path, "--quiet", `--out=${form}=-`]);
    if (!MEASURED.includes(code)) throw new LoadlineError(said.trim());
    return out;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
