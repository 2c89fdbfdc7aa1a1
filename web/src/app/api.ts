/** The API as docs/api/openapi.json describes it. */

import type { Page, RunPage, Table, Tick } from "../data/page";

/** In `marked`, the names of settings stand between marks. */
export interface Mistake { setting: string; message: string; help: string; marked: { message: string; help: string } }
export interface Problem { message: string; help: string; mistakes?: Mistake[] }

/** The server said no, and why. */
export class Refused extends Error {
  constructor(readonly status: number, readonly problem: Problem) {
    super(problem.message);
  }
}

export interface Entry {
  id: string;
  short: string;
  kind: "run" | "sweep" | "find" | "compare";
  name: string;
  target: string;
  started: string;
  outcome: string;
  figures: { qps: number | null; p50_ns: number | null; p99_ns: number | null; failed_share: number | null };
  revision: { commit: string; branch: string | null; changes: "none" | "some" | "unknown" } | null;
  tags: string[];
  note: string;
  baseline: boolean;
}

/** Settings of a load, as a plan names them; the form sends them as they are typed. */
export type Plan = Record<string, string | number | boolean | string[]>;
export interface Test {
  plan: Plan; check: string[]; abort_on: string[]; name: string | null; tag: string[]; note: string | null;
  /** One of these makes it an experiment of several loads. */
  sweep?: Plan; find?: Plan; compare?: Plan;
  slo?: string[];
  other?: string;
  /** Names of the machines that it comes from; none of them: the machine that serves. All of them where nothing is said. */
  agents?: string[];
}
export interface Stage { from: number; to: number; seconds: number | null }
export interface Checked { mistakes: Mistake[]; command: string; load: string | null; stages: Stage[] }
export interface State { state: "idle" | "running" | "ended"; kind?: string; name?: string; title?: string; started?: string }

export const list = (query: URLSearchParams): Promise<{ total: number; runs: Entry[] }> => get(`runs?${query}`);
export const read = (run: string): Promise<Entry & { plan: Plan | null }> => get(`runs/${encodeURIComponent(run)}`);
export const page = (run: string): Promise<Page> => get(`runs/${encodeURIComponent(run)}/page`);
export const course = (run: string): Promise<{ values: number[] }> => get(`runs/${encodeURIComponent(run)}/course`);
export const fileOf = (run: string): string => `/api/v1/runs/${encodeURIComponent(run)}/html`;
export const beside = (a: string, b: string): Promise<Page> => get(`compare?${new URLSearchParams({ a, b })}`);
export const overTime = (name: string, kind: string): Promise<Page> => get(`trend?${new URLSearchParams({ name, kind })}`);
export const state = (): Promise<State> => get("live");
export const check = (test: Test): Promise<Checked> => post("check", test);
export const agents = (): Promise<{ agents: string[] }> => get("agents");
export const startTest = (test: Test): Promise<unknown> => post("runs", test);
/** What is said of a saved run; what is left out stays. */
export interface Change { name?: string; note?: string; tags?: string[]; baseline?: true }
export const change = (run: string, said: Change): Promise<Entry> => post(`runs/${encodeURIComponent(run)}/change`, said);
export const remove = (run: string): Promise<Entry> => post(`runs/${encodeURIComponent(run)}/remove`);
export const stopTest = (): Promise<State> => post("live/stop");
export const signIn = (token: string): Promise<unknown> => post("session", { token });

export interface Listener {
  begun(state: State): void;
  load(what: string, page: RunPage): void;
  tick(tick: Tick): void;
  rows(tables: Table[]): void;
  result(page: Page): void;
  ended(page: Page | null, saved: string | null, trouble: string | null): void;
  /** Whether the server can be heard. */
  heard(yes: boolean): void;
}

/** Listens to the run under way; the browser connects again by itself and is told what it missed. */
export function listen(to: Listener): void {
  const source = new EventSource("/api/v1/live/stream");
  const on = <T>(name: string, tell: (data: T) => void) =>
    source.addEventListener(name, (event) => tell(JSON.parse((event as MessageEvent<string>).data) as T));
  source.addEventListener("open", () => to.heard(true));
  source.addEventListener("error", () => to.heard(source.readyState === EventSource.CLOSED));
  on<State>("begun", (data) => to.begun(data));
  on<{ what: string; page: RunPage }>("load", (data) => to.load(data.what, data.page));
  on<Tick>("tick", (data) => to.tick(data));
  on<Table[]>("rows", (data) => to.rows(data));
  on<Page>("result", (data) => to.result(data));
  on<{ page: Page | null; saved: string | null; trouble: string | null }>("ended", (data) => {
    source.close();
    to.ended(data.page, data.saved, data.trouble);
  });
}

async function get<T>(path: string): Promise<T> {
  return answered(await fetch(`/api/v1/${path}`, { credentials: "same-origin" }));
}

async function post<T>(path: string, body?: unknown): Promise<T> {
  return answered(await fetch(`/api/v1/${path}`, {
    method: "POST",
    credentials: "same-origin",
    ...(body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
  }));
}

async function answered<T>(response: Response): Promise<T> {
  if (response.status === 204) return undefined as T;
  const data: unknown = await response.json();
  if (!response.ok) throw new Refused(response.status, data as Problem);
  return data as T;
}
