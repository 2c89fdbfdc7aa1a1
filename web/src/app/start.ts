/** The form that starts a test: what the command line can say of a request and its load, checked while it is typed. */

import { Chart, type Spec } from "../charts/chart";
import { clock, figure } from "../data/numbers";
import { element } from "../parts/element";
import { Refused, agents, check, read, startTest, type Checked, type Mistake, type Plan, type Stage, type Test } from "./api";
import { failed, frame, sentence, titled } from "./frame";

/** Typing is waited for that long before it is checked. */
const PAUSE_MS = 150;

type Kind = "own" | "test" | "second" | "maintained" | "stages";
const KINDS: readonly { kind: Kind; name: string; about: string }[] = [
  { kind: "own", name: "As the scenario says", about: "Its own load: users or a rate, and how long." },
  { kind: "maintained", name: "Maintained clients", about: "A number of clients, each asking again as soon as it is answered. Finds out how much the server carries." },
  { kind: "second", name: "Clients per second", about: "A number of new clients every second, whether the server keeps up or not. Shows what independent users feel." },
  { kind: "test", name: "Clients per test", about: "A number of clients, spread evenly over the whole test." },
  { kind: "stages", name: "Stages", about: "A rate that rises and falls: each stage goes from one rate to another." },
];

/** What is carried out: one load, or an experiment of several. */
const EXPERIMENTS: [string, string][] = [
  ["", "how it does under one load"],
  ["sweep", "how much it carries: many levels, one after the other"],
  ["find", "the highest rate that keeps a promise"],
  ["compare", "whether another target is slower, in pairs"],
];

/** No machine is called so: what begins with a dash would be an option of ssh. */
const HERE = "-";

/** A scenario that is small and whole. */
const EXAMPLE = `target: http://127.0.0.1:8080
load: {users: 10, duration: 30s}
steps:
  - get: /question
    extract: {id: json $.id}
  - get: /answer?id={{id}}
    checks: {status: 200}`;

interface Field { root: HTMLElement; input: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement; wrong: HTMLElement; touched: boolean }

export async function start(root: HTMLElement): Promise<void> {
  titled("Start a test");
  const form = new Form((await agents()).agents);
  frame(root, "all", "/new", form.root);
  const from = new URLSearchParams(location.search).get("from");
  if (from !== null) {
    const entry = await read(from);
    form.take(entry.plan ?? {}, entry.name);
  }
  await form.check();
}

class Form {
  readonly root = element("form", { class: "start", novalidate: true, "aria-label": "Start a test" });
  private readonly fields = new Map<string, Field>();
  private readonly kinds = new Map<Kind, { radio: HTMLInputElement; part: HTMLElement; root: HTMLElement }>();
  private readonly stages: StageRows;
  private readonly others = element("div", { class: "others" });
  private readonly command = element("code", {});
  private readonly load = element("p", { class: "quiet", role: "status" });
  private readonly button = element("button", { class: "primary", id: "start" }, "Start");
  private readonly picture = element("div", { class: "preview" });
  private chart: Chart | null = null;
  private waiting = 0;
  private asked = 0;
  private tried = false;
  private kept: Plan = {};
  private readonly file = element("input", { type: "file", accept: ".yaml,.yml", "aria-label": "Take the scenario from a file" });
  private readonly upload = element("div", { class: "field wide" });

  /** With the machines that a test may come from, beside the one that serves. */
  constructor(machines: string[]) {
    this.stages = new StageRows(() => this.changed());
    const request = element("fieldset", {}, element("legend", {}, "Request"),
      this.select("what", "What is sent", [["", "one request"], ["scenario", "journeys of a scenario"]]),
      this.text("url", "Target", { placeholder: "such as http://127.0.0.1:8080/healthz", inputmode: "url" }, "wide"),
      this.text("method", "Method", { placeholder: "GET, or POST with a body", list: "methods" }),
      element("datalist", { id: "methods" }, ...["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].map((value) => element("option", { value }))),
      this.area("header", "Headers", "One a line, such as X-Trace: 1", 2),
      this.select("body", "Body", [["", "none"], ["data", "text"], ["json", "JSON"], ["message", "message of WebSocket or gRPC"]]),
      this.area("content", "Content of the body", "", 4),
      this.area("scenario", "Scenario (YAML)", EXAMPLE, 16, "wrong-lines"),
      this.upload,
    );
    const load = element("fieldset", { class: "load" }, element("legend", {}, "Load"),
      this.select("experiment", "What is to be found out", EXPERIMENTS, "wide"),
      this.text("levels", "Levels of clients", { placeholder: "1,2,5 and so on, while it pays" }),
      this.text("rates", "Or levels of rates", { placeholder: "such as 100/s,200/s,500/s" }),
      this.text("repeat", "Measure each level", { inputmode: "numeric", placeholder: "1 time" }),
      this.area("slo", "What is to be kept", "One a line, such as p99 < 50ms", 2, "wrong-lines"),
      this.select("exact", "How exactly", [["", "within 3 minutes, to 2 %"], ["quick", "within a minute, to 5 %"], ["publish", "within an hour, to 1 %"]]),
      this.text("budget", "Search for at most", { placeholder: "as long as that takes" }),
      this.text("rate-max", "Never load with more than", { placeholder: "such as 2000/s" }),
      this.text("other", "The server in question", { placeholder: "such as http://127.0.0.1:8081/healthz", inputmode: "url" }, "wide"),
      this.text("pairs", "Pairs of runs", { inputmode: "numeric", placeholder: "5 to 20, by their noise" }),
      this.text("margin", "A change that does not matter", { placeholder: "such as 3%" }),
      element("div", { class: "kinds", role: "radiogroup", "aria-label": "Kind of load" }, ...KINDS.map((kind) => this.kind(kind))),
      this.part("maintained", this.text("connections", "Clients", { inputmode: "numeric" }), this.text("pause", "Pause between requests", { placeholder: "none, 200ms, 100ms..300ms" })),
      this.part("second", this.text("per_second", "Clients per second", { inputmode: "decimal" })),
      this.part("test", this.text("per_test", "Clients in the whole test", { inputmode: "numeric" })),
      this.part("stages", this.stages.root),
      this.text("duration", "For", { placeholder: "such as 10s or 5m" }),
      this.text("warmup", "Warm-up before", { placeholder: "none, 5s, auto" }),
      this.select("arrivals", "Arrivals", [["", "poisson: as independent users come"], ["even", "even: at equal distances"]]),
      ...(machines.length === 0 ? [] : [this.select("agents", "Where the load comes from", [["", machines.join(", ")], ...(machines.length === 1 ? [] : machines.map((name): [string, string] => [name, `${name} alone`])), [HERE, "the machine that serves"]], "wide")]),
      this.picture,
    );
    const checks = element("fieldset", {}, element("legend", {}, "Promises"),
      this.area("check", "Checks", "One a line, such as p99 < 200ms", 2, "wrong-lines"),
      this.area("abort-on", "Give up once", "One a line, such as failed > 50% for 5s", 2, "wrong-lines"),
    );
    const more = element("details", { class: "more" }, element("summary", {}, "Connections, limits, and how it is saved"), element("fieldset", {}, element("legend", { class: "spoken" }, "More settings"),
      this.text("name", "Name", { placeholder: "from the path of the target" }),
      this.text("tag", "Tags", { placeholder: "words, with spaces between" }),
      this.text("note", "Note", {}, "wide"),
      this.text("max_connections", "Connections at most", { inputmode: "numeric", placeholder: "for loads by rate" }),
      this.text("timeout", "Give a request up after", { placeholder: "30s" }),
      this.text("connect-timeout", "Give connecting up after", { placeholder: "5s" }),
      this.text("follow", "Redirects followed", { placeholder: "0", inputmode: "numeric" }),
      this.select("stream", "Events of answers that stream", [["", "not measured"], ["auto", "as their Content-Type says"], ["sse", "server-sent events"], ["lines", "lines"], ["json-lines", "lines of JSON"]]),
      this.text("event-data", "Where events have their content", { placeholder: "such as $.choices[0].delta.content" }),
      this.text("tokens", "What a token is", { placeholder: "events, words, usage, or a path" }),
      this.text("stream-for", "Listen to a stream for", { placeholder: "to its end, or such as 30s" }),
      this.text("threads", "Threads", { inputmode: "numeric", placeholder: "as many as cores" }),
      this.text("processes", "Processes", { inputmode: "numeric", placeholder: "as many as files need" }),
      this.text("seed", "Seed", { inputmode: "numeric", placeholder: "1" }),
      this.text("connect-to", "Connect to", { placeholder: "HOST:PORT instead of the target's" }),
      this.text("user", "User and password", { placeholder: "name:password", autocomplete: "off", type: "password" }),
      this.text("bearer", "Bearer token", { autocomplete: "off", type: "password" }),
      this.select("http", "Version of HTTP", [["", "with https what the server chooses of 1.1 and 2"], ["1.1", "1.1"], ["2", "2"], ["3", "3"]]),
      this.text("streams", "Requests at once on a connection", { inputmode: "numeric", placeholder: "as the server allows, with HTTP/2 and 3" }),
      this.text("sni", "Name in TLS", { placeholder: "the target's" }),
      this.box("no_keepalive", "A new connection for every request"),
      this.box("insecure", "Accept any certificate"),
    ));
    this.root.append(
      element("h1", {}, "Start a test"), request, load, checks, more,
      element("section", { class: "typed", "aria-label": "The same on a command line" }, element("h2", {}, "The same on a command line"),
        element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Command" }, element("pre", {}, this.command))),
      this.others, element("div", { class: "go" }, this.button, this.load));
    this.upload.append(this.file);
    this.file.addEventListener("change", () => void this.fetched());
    this.choose("maintained");
    this.set("connections", "50");
    this.set("per_second", "100");
    this.set("per_test", "1000");
    this.set("duration", "10s");
    this.show_body();
    this.root.addEventListener("input", (event) => this.touch(event.target));
    this.root.addEventListener("change", (event) => this.touch(event.target));
    this.root.addEventListener("submit", (event) => { event.preventDefault(); void this.start(); });
  }

  /** Fills in a plan that was carried out before. What has no field here is sent along as it was. */
  take(plan: Plan, name: string): void {
    this.kept = { ...plan };
    const move = (key: string, field: string) => {
      const value = this.kept[key];
      if (value === undefined) return;
      delete this.kept[key];
      this.set(field, Array.isArray(value) ? value.join("\n") : String(value));
    };
    const rate = typeof plan["rate"] === "string" ? plan["rate"] : null;
    for (const key of ["url", "method", "header", "duration", "warmup", "pause", "timeout", "follow", "stream", "tokens", "threads", "processes", "seed", "sni", "http", "streams"]) move(key, key);
    move("event_data", "event-data");
    move("stream_for", "stream-for");
    move("connect_timeout", "connect-timeout");
    move("connect_to", "connect-to");
    for (const key of ["data", "json", "message"]) if (plan[key] !== undefined) { this.set("body", key); move(key, "content"); }
    if (this.kept["scenario_text"] !== undefined) { this.set("what", "scenario"); move("scenario_text", "scenario"); }
    for (const key of ["no_keepalive", "insecure"]) { if (this.kept[key] === true) this.tick(key); delete this.kept[key]; }
    if (this.kept["arrivals"] === "even") this.set("arrivals", "even");
    delete this.kept["arrivals"];
    delete this.kept["rate"];
    move("connections", rate === null ? "connections" : "max_connections");
    const steady = rate === null ? null : /^([\d.]+)\/s(?: for (\S+))?$/.exec(rate);
    if (steady) {
      this.choose("second");
      this.set("per_second", steady[1] ?? "");
      if (steady[2]) this.set("duration", steady[2]);
    } else if (rate !== null) {
      this.choose("stages");
      this.stages.take(rate);
      this.set("duration", "");
    }
    this.set("name", name);
    this.show_body();
  }

  async check(): Promise<void> {
    const mine = ++this.asked;
    let found: Checked;
    try {
      found = await check(this.test());
    } catch (error) {
      if (mine === this.asked) this.others.replaceChildren(failed(error));
      return;
    }
    if (mine !== this.asked) return;
    this.command.textContent = found.command;
    this.mistakes(found.mistakes);
    this.load.textContent = found.load === null ? "" : sentence(found.load);
    this.preview(found.stages);
    this.root.dataset["checked"] = String(mine);
  }

  private async start(): Promise<void> {
    this.tried = true;
    clearTimeout(this.waiting);
    this.button.disabled = true;
    this.load.textContent = this.from_here() ? "Looking for the target…" : "Calling the machines…";
    try {
      await startTest(this.test());
      location.href = "/live";
    } catch (error) {
      this.button.disabled = false;
      this.load.textContent = "";
      this.asked++;
      if (error instanceof Refused && error.problem.mistakes) this.mistakes(error.problem.mistakes);
      else this.others.replaceChildren(failed(error), error instanceof Refused && error.status === 409 ? element("p", {}, element("a", { href: "/live" }, "Watch the test under way")) : "");
      (this.root.querySelector<HTMLElement>('[aria-invalid="true"]') ?? this.others).focus();
    }
  }

  private changed(): void {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => void this.check(), PAUSE_MS);
  }

  private touch(target: EventTarget | null): void {
    for (const field of this.fields.values()) if (field.input === target) field.touched = true;
    // What a scenario says of its load holds until something else is chosen.
    if (target === this.fields.get("what")?.input) this.choose(this.journeys() ? "own" : "maintained");
    this.show_body();
    this.changed();
  }

  private from_here(): boolean {
    return !this.fields.has("agents") || this.value("agents") === HERE;
  }

  private journeys(): boolean {
    return this.value("what") === "scenario";
  }

  /** The text of a file that was chosen: it stays in this browser until it is sent as text. */
  private async fetched(): Promise<void> {
    const file = this.file.files?.[0];
    if (!file) return;
    this.set("scenario", await file.text());
    const field = this.fields.get("scenario");
    if (field) field.touched = true;
    this.changed();
  }

  private show_body(): void {
    const journeys = this.journeys();
    const show = (name: string, yes: boolean) => { const field = this.fields.get(name); if (field) field.root.hidden = !yes; };
    show("content", !journeys && this.value("body") !== "");
    for (const name of ["method", "body"]) show(name, !journeys);
    show("scenario", journeys);
    this.upload.hidden = !journeys;
    const own = this.kinds.get("own");
    if (own) own.root.hidden = !journeys;
    const experiment = this.value("experiment");
    for (const [name, of] of EXPERIMENT_FIELDS) show(name, of.includes(experiment));
    const chooses = this.chooses();
    const kinds = this.root.querySelector<HTMLElement>(".kinds");
    if (kinds) kinds.hidden = chooses;
    for (const [kind, { part }] of this.kinds) part.hidden = chooses || kind !== this.chosen();
    const target = this.fields.get("url")?.input;
    if (target instanceof HTMLInputElement) target.placeholder = journeys ? "as the scenario says" : "such as http://127.0.0.1:8080/healthz";
    const arrivals = this.fields.get("arrivals");
    const closed = experiment === "sweep" ? this.value("rates").trim() === "" : !chooses && (this.chosen() === "maintained" || this.chosen() === "own");
    if (arrivals) arrivals.root.hidden = closed;
    const most = this.fields.get("max_connections");
    if (most) most.root.hidden = closed;
    show("processes", this.from_here());
    const duration = this.fields.get("duration");
    if (duration) duration.root.hidden = experiment === "find" || !chooses && (this.chosen() === "stages" || this.chosen() === "own");
  }

  /** What is typed, under the names of a plan; empty fields are left out, and nothing is put right on the way. */
  private test(): Test {
    const plan: Plan = { ...this.kept };
    const give = (key: string, field: string) => { const value = this.value(field).trim(); if (value !== "") plan[key] = value; };
    const journeys = this.journeys();
    if (journeys) plan["scenario_text"] = this.value("scenario"); else give("method", "method");
    for (const key of ["url", "warmup", "timeout", "follow", "stream", "tokens", "threads", "seed", "user", "bearer", "sni", "http", "streams"]) give(key, key);
    give("event_data", "event-data");
    give("stream_for", "stream-for");
    if (this.from_here()) give("processes", "processes");
    give("connect_timeout", "connect-timeout");
    give("connect_to", "connect-to");
    const lines = (field: string) => this.value(field).split("\n").map((line) => line.trim()).filter((line) => line !== "");
    if (lines("header").length > 0) plan["header"] = lines("header");
    const body = this.value("body");
    if (!journeys && body !== "") plan[body] = this.value("content");
    for (const key of ["no_keepalive", "insecure"]) if ((this.fields.get(key)?.input as HTMLInputElement).checked) plan[key] = true;
    const experiment = this.value("experiment");
    const chooses = this.chooses();
    const kind = this.chosen();
    if (experiment === "sweep" || !chooses && kind !== "stages" && kind !== "own") give("duration", "duration");
    if (chooses) { if (experiment === "find" || this.value("rates").trim() !== "") { give("arrivals", "arrivals"); give("connections", "max_connections"); } } else if (kind === "own") { /* It says how much itself. */ } else if (kind === "maintained") { give("connections", "connections"); give("pause", "pause"); } else { give("arrivals", "arrivals"); give("connections", "max_connections"); }
    if (chooses) { /* The experiment chooses its loads. */ } else if (kind === "second") plan["rate"] = `${this.value("per_second").trim()}/s`;
    else if (kind === "stages") plan["rate"] = this.stages.text();
    else if (kind === "test") {
      plan["rate"] = `${spread(this.value("per_test"), this.value("duration"))}/s`;
      plan["arrivals"] ??= "even";
    }
    const words = (field: string) => this.value(field).split(/\s+/).filter((word) => word !== "");
    const text = (field: string) => { const value = this.value(field).trim(); return value === "" ? null : value; };
    const test: Test = { plan, check: lines("check"), abort_on: lines("abort-on"), name: text("name"), tag: words("tag"), note: text("note") };
    const from = this.value("agents");
    if (from !== "") test.agents = from === HERE ? [] : [from];
    const settings: Plan = {};
    const set = (...names: string[]) => { for (const name of names) { const value = this.value(name).trim(); if (value !== "") settings[name.replaceAll("-", "_")] = value; } };
    if (experiment === "sweep") { set("levels", "rates", "repeat"); Object.assign(test, { sweep: settings, slo: lines("slo") }); }
    const exact = this.value("exact");
    if (experiment === "find") { set("budget", "rate-max"); if (exact !== "") settings[exact] = true; Object.assign(test, { find: settings, slo: lines("slo") }); }
    if (experiment === "compare") { set("pairs", "margin"); Object.assign(test, { compare: settings, other: this.value("other").trim() }); }
    return test;
  }

  /** Each beside its field; what has none stands above the button. */
  private mistakes(all: Mistake[]): void {
    const kind = this.chosen();
    const places: Record<string, string> = { compare: "other", data: "content", json: "content", message: "content", connections: kind === "maintained" ? "connections" : "max_connections", rate: kind === "test" ? "per_test" : kind === "second" ? "per_second" : "stages" };
    const left: Mistake[] = [];
    const said = new Map<string, Mistake[]>();
    for (const mistake of all) {
      const name = places[mistake.setting] ?? mistake.setting;
      const field = this.fields.get(name);
      if (!field || field.root.hidden) left.push(mistake);
      else said.set(name, [...(said.get(name) ?? []), mistake]);
    }
    this.stages.wrong(kind === "stages" ? left.filter((mistake) => mistake.setting === "rate") : []);
    for (const [name, field] of this.fields) {
      const mine = field.touched || this.tried ? (said.get(name) ?? []) : [];
      field.wrong.replaceChildren(...mine.flatMap(worded));
      field.wrong.hidden = mine.length === 0;
      if (mine.length > 0) field.input.setAttribute("aria-invalid", "true"); else field.input.removeAttribute("aria-invalid");
    }
    const elsewhere = left.filter((mistake) => kind !== "stages" || mistake.setting !== "rate");
    this.others.replaceChildren(...(elsewhere.length === 0 ? [] : [element("div", { class: "trouble", role: "alert" }, ...elsewhere.flatMap(worded))]));
    this.button.disabled = false;
  }

  /** Rates over time; of clients that stay there is nothing to see. */
  private preview(stages: Stage[]): void {
    // Only a rate has a course to show.
    const spec = ["own", "maintained"].includes(this.chosen()) || this.chooses() ? null : rates(stages);
    this.picture.hidden = spec === null;
    if (spec === null) return;
    if (this.chart && this.picture.dataset["shows"] === spec.title) { this.chart.update(spec); return; }
    this.picture.dataset["shows"] = spec.title;
    this.chart = new Chart(spec);
    this.picture.replaceChildren(this.chart.root);
  }

  /** Whether the experiment chooses its loads itself. */
  private chooses(): boolean {
    return ["sweep", "find"].includes(this.value("experiment"));
  }

  private chosen(): Kind {
    for (const [kind, { radio }] of this.kinds) if (radio.checked) return kind;
    return "maintained";
  }

  private choose(chosen: Kind): void {
    for (const [kind, { radio, part }] of this.kinds) { radio.checked = kind === chosen; part.hidden = kind !== chosen; }
    this.show_body();
  }

  private kind({ kind, name, about }: { kind: Kind; name: string; about: string }): HTMLElement {
    const radio = element("input", { type: "radio", name: "kind", value: kind, id: `kind-${kind}`, "aria-describedby": `kind-${kind}-about` });
    radio.addEventListener("change", () => this.choose(kind));
    const root = element("div", { class: "kind-choice" }, radio, element("label", { for: radio.id }, name), element("p", { class: "quiet", id: `kind-${kind}-about` }, about));
    this.kinds.set(kind, { radio, part: element("div", { class: "part" }), root });
    return root;
  }

  private part(kind: Kind, ...inside: HTMLElement[]): HTMLElement {
    const part = this.kinds.get(kind)?.part ?? element("div");
    part.append(...inside);
    return part;
  }

  private text(name: string, label: string, attributes: Record<string, string>, kind = ""): HTMLElement {
    return this.field(name, label, element("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes }), kind);
  }

  private area(name: string, label: string, placeholder: string, rows: number, kind = ""): HTMLElement {
    return this.field(name, label, element("textarea", { rows, placeholder, spellcheck: "false" }), `wide ${kind}`);
  }

  private select(name: string, label: string, options: [string, string][], kind = ""): HTMLElement {
    return this.field(name, label, element("select", {}, ...options.map(([value, text]) => element("option", { value }, text))), kind);
  }

  private box(name: string, label: string): HTMLElement {
    return this.field(name, label, element("input", { type: "checkbox" }), "box");
  }

  private field(name: string, label: string, input: Field["input"], kind: string): HTMLElement {
    const wrong = element("div", { class: "wrong", id: `${name}-wrong`, hidden: true, role: "status" });
    input.id = `field-${name}`;
    input.setAttribute("name", name);
    input.setAttribute("aria-describedby", wrong.id);
    const root = element("div", { class: `field ${kind}` }, element("label", { for: input.id }, label), input, wrong);
    this.fields.set(name, { root, input, wrong, touched: false });
    return root;
  }

  private value(name: string): string {
    return this.fields.get(name)?.input.value ?? "";
  }

  private set(name: string, value: string): void {
    const field = this.fields.get(name);
    if (field) field.input.value = value;
  }

  private tick(name: string): void {
    const field = this.fields.get(name);
    if (field) (field.input as HTMLInputElement).checked = true;
  }
}

/** Stages as rows: from one rate to another, for a time. */
class StageRows {
  readonly root = element("div", { class: "stages", id: "stages" });
  private readonly rows = element("ol", {});
  private readonly mistaken = element("div", { class: "wrong", hidden: true, role: "status" });

  constructor(private readonly changed: () => void) {
    const add = element("button", { type: "button" }, "Add a stage");
    add.addEventListener("click", () => { const last = this.values().at(-1); this.add(last?.[1] ?? "100", last?.[1] ?? "100", "30s"); this.changed(); });
    this.root.append(this.rows, add, this.mistaken);
    this.add("0", "100", "10s");
    this.add("100", "100", "20s");
  }

  text(): string {
    return this.values().map(([from, to, length]) => `${from === to || to === "" ? `${from}/s` : `${from}/s to ${to}/s`}${length === "" ? "" : ` for ${length}`}`).join(", ");
  }

  take(text: string): void {
    this.rows.replaceChildren();
    for (const stage of text.split(",")) {
      const found = /^\s*([\d.]+)\/s(?: to ([\d.]+)\/s)?(?: for (\S+))?\s*$/.exec(stage);
      this.add(found?.[1] ?? stage.trim(), found?.[2] ?? found?.[1] ?? "", found?.[3] ?? "");
    }
  }

  wrong(mistakes: Mistake[]): void {
    this.mistaken.replaceChildren(...mistakes.flatMap(worded));
    this.mistaken.hidden = mistakes.length === 0;
  }

  private values(): [string, string, string][] {
    return [...this.rows.children].map((row) => [...row.querySelectorAll("input")].map((input) => input.value.trim()) as [string, string, string]);
  }

  private add(from: string, to: string, length: string): void {
    const input = (label: string, value: string) => {
      const made = element("input", { type: "text", "aria-label": label, autocomplete: "off", inputmode: label === "lasting" ? "text" : "decimal" });
      made.value = value;
      return made;
    };
    const remove = element("button", { type: "button", class: "tool", "aria-label": "Remove this stage" }, "Remove");
    const row = element("li", {}, element("span", {}, "from"), input("from, a second", from), element("span", {}, "/s to"), input("to, a second", to), element("span", {}, "/s for"), input("lasting", length), remove);
    remove.addEventListener("click", () => { if (this.rows.children.length > 1) { row.remove(); this.changed(); } });
    this.rows.append(row);
  }
}

/** Which experiments have a field. */
const EXPERIMENT_FIELDS: [string, string[]][] = [
  ["exact", ["find"]], ["levels", ["sweep"]], ["rates", ["sweep"]], ["repeat", ["sweep"]], ["slo", ["sweep", "find"]], ["budget", ["find"]], ["rate-max", ["find"]],
  ["other", ["compare"]], ["pairs", ["compare"]], ["margin", ["compare"]],
];

/** What the form calls a setting; of others the name alone is left. */
const LABELS: Record<string, string> = {
  connections: "Clients", rate: "Clients per second", duration: "For", pause: "Pause between requests", warmup: "Warm-up before", header: "Headers", data: "Content of the body",
  json: "Content of the body", message: "Content of the body", check: "Checks", "abort-on": "Give up once", timeout: "Give a request up after", "connect-timeout": "Give connecting up after", follow: "Redirects followed",
  stream: "Events of answers that stream", "event-data": "Where events have their content", tokens: "What a token is", "stream-for": "Listen to a stream for",
  slo: "What is to be kept", levels: "Levels of clients", rates: "Or levels of rates", repeat: "Measure each level", budget: "Search for at most", "rate-max": "Never load with more than",
  agents: "Where the load comes from", pairs: "Pairs of runs", margin: "A change that does not matter",
  http: "Version of HTTP", streams: "Requests at once on a connection", "connect-to": "Connect to", user: "User and password", bearer: "Bearer token", sni: "Name in TLS", tag: "Tags",
};

/** A text with the words of this form in the place of settings, whose names stand between marks. */
export function labelled(text: string): string {
  return text
    .replace(/(such as|give|write|keep) (at least |at most )?\u{10fff0}[a-z-]+:\u{10fff1} (?=['\d])/gu, "$1 $2")
    .replace(/\u{10fff0}([a-z-]+):?\u{10fff1}/gu, (_, name: string) => `“${LABELS[name] ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ")}”`);
}

/** The sentence, which wraps; what it points at, which keeps its places and is moved by the keyboard where it is too wide; and the help. */
function worded(mistake: Mistake): HTMLElement[] {
  const [said = "", ...pointed] = mistake.marked.message.split("\n");
  return [
    element("p", { class: "message" }, labelled(said)),
    ...(pointed.length === 0 ? [] : [element("pre", { class: "pointed", tabindex: 0, role: "region", "aria-label": "Where the mistake is" }, pointed.join("\n"))]),
    element("p", { class: "help" }, labelled(mistake.marked.help)),
  ];
}

const UNITS: Record<string, number> = { ms: 1e-3, s: 1, m: 60, h: 3600 };

/** A time as it is typed; null if it is none. Only for the picture: what is sent is what was typed. */
function seconds(text: string): number | null {
  let sum = 0;
  const rest = text.trim().replace(/([\d.]+)\s*(ms|s|m|h)/g, (_, number: string, unit: string) => { sum += Number(number) * (UNITS[unit] ?? NaN); return ""; });
  return rest === "" && sum > 0 ? sum : null;
}

/** So many clients over such a time, a second; what is no number goes on as it is, for the server to say so. */
function spread(clients: string, lasting: string): string {
  const number = Number(clients.trim());
  const length = seconds(lasting);
  return clients.trim() === "" || !Number.isFinite(number) || length === null ? clients.trim() : String(Number((number / length).toPrecision(9)));
}

function rates(stages: Stage[]): Spec | null {
  if (stages.length === 0) return null;
  const [x, y]: [number[], number[]] = [[], []];
  let at = 0;
  for (const stage of stages) {
    const length = stage.seconds ?? 10;
    x.push(at, at + length);
    y.push(stage.from, stage.to);
    at += length;
  }
  return preview("Requests due a second", figure, x, y, at);
}

function preview(title: string, show: (value: number) => string, x: number[], y: number[], to: number): Spec {
  return {
    id: "preview", title, about: "What is asked for, over the time of the test.",
    x: { title: "time since the start", show: clock, unit: "clock", from: 0, to },
    left: { title: title.toLowerCase(), show, zero: true },
    series: [{ name: title.toLowerCase(), ink: "a", kind: "area", x, y }],
  };
}
