/** The run under way: drawn tick by tick, as it is told; stopped from here; a report once it is over. */

import { clock, count, figure, percent, time } from "../data/numbers";
import type { Page, RunPage, Tick } from "../data/page";
import { element } from "../parts/element";
import { table } from "../parts/frame";
import { render, type Shown } from "../report/render";
import { listen, state, stopTest, type State } from "./api";
import { failed, sentence, titled, top, type Mode } from "./frame";

export async function live(root: HTMLElement, mode: Mode): Promise<void> {
  titled("Live");
  // Whoever has no token is told so here: a stream that is refused says nothing.
  const now = await state();
  const head = top(mode, "/live");
  const panel = new Panel();
  const course = element("div", { class: "course-of-run" });
  const rows = element("div", { class: "tables" });
  const so_far = element("div", { class: "so-far" });
  root.replaceChildren(head, element("div", { class: "live" }, panel.root, course, rows, so_far));
  panel.state(now, mode);

  let shown: Shown | null = null;
  let waiting: Tick[] = [];
  let drawing = 0;
  // Who comes late is told an hour at once: drawn in one go.
  const draw = () => {
    drawing = 0;
    const ticks = waiting;
    waiting = [];
    if (shown) shown.update(...ticks);
    panel.ticks(ticks);
    root.dataset["ticks"] = String(Number(root.dataset["ticks"] ?? 0) + ticks.length);
  };
  const flush = () => { clearTimeout(drawing); draw(); };

  listen({
    begun: (begun) => {
      panel.state({ ...begun, state: "running" }, mode);
      titled(`live: ${begun.title ?? ""}`);
      so_far.replaceChildren();
      root.dataset["state"] = "running";
    },
    load: (what, page) => {
      waiting = [];
      root.dataset["ticks"] = "0";
      panel.load(what, page);
      const inside = element("div");
      shown = render(inside, page, []);
      course.replaceChildren(inside);
      rows.replaceChildren();
    },
    tick: (tick) => {
      waiting.push(tick);
      if (drawing === 0) drawing = setTimeout(draw, 30);
    },
    rows: (tables) => rows.replaceChildren(...tables.map(table)),
    result: (page) => {
      const inside = element("div");
      render(inside, distinct(page, "so-far"), []);
      so_far.replaceChildren(element("h2", {}, "So far"), inside);
    },
    ended: (page, saved, trouble) => {
      flush();
      root.dataset["state"] = "ended";
      titled(page ? page.title : "ended");
      panel.ended(saved, trouble, mode);
      if (mode === "all") panel.next();
      if (page) render(root, page, [head, panel.root]);
    },
    heard: (yes) => panel.heard(yes),
  });
}

/** Two pages on one: what is linked to within one must not lead into the other. */
function distinct(page: Page, mark: string): Page {
  return {
    ...page,
    answers: page.answers.map((answer) => ({ ...answer, evidence: null })),
    tables: page.tables.map((table) => ({ ...table, id: `${mark}-${table.id}` })),
    text: "",
    measured_by: "",
  } as Page;
}

/** So often it is asked whether another run has begun. */
const NEXT_MS = 3_000;

/** What stands above the charts: how far it is, the latest figures, and the button that ends it. */
class Panel {
  readonly root = element("section", { class: "panel", "aria-label": "The run under way" });
  private readonly said = element("p", { class: "state", role: "status" });
  private readonly bar = element("progress", { max: 1, value: 0, "aria-label": "How far the run is" });
  private readonly left = element("span", { class: "left" });
  private readonly stop = element("button", { type: "button", class: "stop" }, "Stop");
  private readonly figures = element("dl", { class: "figures-row now" });
  private readonly lost = element("p", { class: "lost", role: "alert", hidden: true }, "The connection is lost; trying again. What happens meanwhile is not missed.");
  private readonly trouble = element("div");
  private until = 0;
  private what = "";
  private answered = 0;
  private bad = 0;

  constructor() {
    this.stop.hidden = true;
    this.bar.hidden = true;
    this.stop.addEventListener("click", () => {
      this.stop.textContent = "Stop at once";
      stopTest().then(() => this.say("ending: waiting for the last answers"), (error: unknown) => this.trouble.replaceChildren(failed(error)));
    });
    this.root.append(element("div", { class: "state-row" }, this.said, this.stop), element("div", { class: "progress-row" }, this.bar, this.left), this.lost, this.trouble, this.figures);
  }

  /** Another run may begin while this one is read: it is told, and does not push itself forward. */
  next(): void {
    const look = setInterval(() => void state().then((now) => {
      if (now.state !== "running") return;
      clearInterval(look);
      this.trouble.append(element("p", { class: "under-way", role: "status" }, "Another run is under way: ", element("a", { href: "/live" }, now.title ?? "watch it")));
    }, () => undefined), NEXT_MS);
  }

  state(now: State, mode: Mode): void {
    this.stop.hidden = now.state !== "running";
    if (now.state === "idle") {
      this.said.replaceChildren(...(mode === "all" ? ["Nothing is under way. ", element("a", { href: "/new" }, "Start a test"), "."] : ["Waiting for the first load."]));
    } else if (now.state === "running") {
      this.stop.textContent = "Stop";
      this.say("under way");
    }
  }

  load(what: string, page: RunPage): void {
    [this.answered, this.bad] = [0, 0];
    this.what = what;
    this.until = page.data.load_until_ns / 1e9;
    this.bar.hidden = this.until <= 0;
    this.bar.value = 0;
    this.left.textContent = "";
    this.figures.replaceChildren();
    this.say("under way");
  }

  ticks(ticks: Tick[]): void {
    const last = ticks.at(-1);
    if (!last) return;
    for (const tick of ticks) {
      this.answered += tick.answered;
      this.bad += tick.failed + tick.unsent;
    }
    const at = last.to_ns / 1e9;
    if (this.until > 0) {
      this.bar.value = Math.min(1, at / this.until);
      this.left.textContent = at < this.until ? `${clock(Math.round(this.until - at))} left` : "waiting for the last answers";
    } else this.left.textContent = clock(Math.round(at));
    const seconds = (last.to_ns - last.from_ns) / 1e9;
    const times = last.response_time;
    const all = this.answered + this.bad;
    const one = (name: string, value: string, note: string, tone = "") => element("div", { class: tone }, element("dt", {}, name), element("dd", {}, element("b", {}, value), element("span", {}, note)));
    this.figures.replaceChildren(
      one("QPS", seconds > 0 ? figure(last.answered / seconds) : "–", "this second"),
      ...(last.journeys ? [one("TPS", seconds > 0 ? figure(last.journeys.completed / seconds) : "–", "journeys to their end")] : []),
      one("p50", time(times.quantiles["0.5"] ?? null), "response time"),
      one("p99", time(times.quantiles["0.99"] ?? null), "response time"),
      one("failed", count(this.bad), all > 0 ? `${percent((this.bad * 100) / all)} of all` : "so far", this.bad > 0 ? "tone-bad" : ""),
      one("in flight", count(last.in_flight), `on ${count(last.connections)} connections`),
      one("lag", time(last.lag_max_ns), "the latest send"),
      ...(last.server ? [one("server", figure(last.server.cpu), last.server.told)] : []),
    );
    if (last.warmup) this.say("warming up");
    else if (this.said.textContent?.includes("warming up")) this.say("under way");
  }

  ended(saved: string | null, trouble: string | null, mode: Mode): void {
    this.stop.hidden = true;
    this.bar.hidden = true;
    this.left.textContent = "";
    this.figures.replaceChildren();
    this.said.replaceChildren("Ended. ", ...(saved === null ? [] : mode === "all" ? ["Saved as ", element("a", { href: `/runs/${saved}` }, saved.slice(0, 4)), "."] : [`Saved; loadline show ${saved.slice(0, 4)}`]));
    this.trouble.replaceChildren(...(trouble === null ? [] : [element("div", { class: "trouble", role: "alert" }, element("p", {}, sentence(trouble)))]));
  }

  heard(yes: boolean): void {
    this.lost.hidden = yes;
  }

  private say(what: string): void {
    this.said.replaceChildren(element("span", { class: "dot-live", "aria-hidden": "true" }), sentence(this.what === "" ? what : `${this.what}: ${what}`));
  }
}
