/** All saved runs: found by words and filters, two of them chosen to be compared. */

import { count, figure, percent, time } from "../data/numbers";
import { element, svg } from "../parts/element";
import { course, list, state, type Entry } from "./api";
import { failed, frame, titled } from "./frame";

const AT_ONCE = 50;
const FILTERS = [["q", "Search"], ["name", "Name"], ["tag", "Tag"], ["target", "Target"], ["revision", "Git revision"]] as const;
const KINDS = ["run", "sweep", "find", "compare"];
/** Typing is waited for that long. */
const PAUSE_MS = 200;

export async function runs(root: HTMLElement): Promise<void> {
  titled("Runs");
  const chosen: string[] = [];
  const began = new Map<string, string>();
  const told = element("p", { class: "quiet", role: "status" });
  const body = element("tbody");
  const more = element("button", { type: "button", hidden: true }, "Show more");
  const both = element("button", { type: "button", class: "primary", disabled: true }, "Compare two");
  both.addEventListener("click", () => {
    // A is what was before, whichever was chosen first: then a change reads as it happened.
    const [a = "", b = ""] = [...chosen].sort((one, other) => (began.get(one) ?? "").localeCompare(began.get(other) ?? ""));
    location.href = `/compare?${new URLSearchParams({ a, b })}`;
  });
  const heads = ["Choose", "Name", "Course", "QPS", "p99", "Failed", "Began (UTC)", "Revision", "Outcome"];
  const table = element("table", { class: "runs" },
    element("caption", { class: "spoken" }, "Saved runs, those that began last first"),
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col", class: ["QPS", "p99", "Failed"].includes(head) ? "figures" : "" }, head === "Choose" ? element("span", { class: "spoken" }, head) : head)))),
    body);
  const form = filters(() => void fill(0));
  const under_way = element("div");
  frame(root, "all", "/",
    element("h1", { class: "spoken" }, "Runs"), under_way, form,
    element("div", { class: "above" }, told, both),
    element("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": "Saved runs" }, table), more);
  void state().then((now) => {
    if (now.state === "running") under_way.replaceChildren(element("p", { class: "under-way" }, "A test is under way: ", element("a", { href: "/live" }, now.title ?? "watch it")));
  }, () => undefined);
  more.addEventListener("click", () => void fill(body.rows.length));

  const choose = (id: string, yes: boolean) => {
    const at = chosen.indexOf(id);
    if (at >= 0) chosen.splice(at, 1);
    if (yes) chosen.push(id);
    // A third takes the place of the one that was chosen first.
    if (chosen.length > 2) {
      const gone = chosen.shift();
      const box = body.querySelector<HTMLInputElement>(`input[value="${gone}"]`);
      if (box) box.checked = false;
    }
    both.disabled = chosen.length !== 2;
  };

  let asked = 0;
  async function fill(offset: number): Promise<void> {
    const query = given(form);
    history.replaceState(null, "", query.size > 0 ? `/?${query}` : "/");
    const mine = ++asked;
    const wanted = new URLSearchParams(query);
    wanted.set("limit", String(AT_ONCE));
    wanted.set("offset", String(offset));
    try {
      const found = await list(wanted);
      // Letters typed meanwhile ask again.
      if (mine !== asked) return;
      for (const entry of found.runs) began.set(entry.id, entry.started);
      const rows = found.runs.map((entry) => row(entry, chosen.includes(entry.id), choose));
      if (offset === 0) { body.replaceChildren(...rows); } else { body.append(...rows); }
      more.hidden = body.rows.length >= found.total;
      table.hidden = body.rows.length === 0;
      told.replaceChildren(...(found.total > 0 ? [`${count(found.total)} ${found.total === 1 ? "run" : "runs"}${chosen.length === 0 && found.total > 1 ? "; choose two to compare them" : ""}`]
        : query.size > 0 ? ["None of the saved runs is like that."]
        : ["Nothing is saved yet. ", element("a", { href: "/new" }, "Start a test"), ", or measure with loadline run: every result is saved on its own."]));
    } catch (error) {
      if (mine === asked) told.replaceChildren(failed(error));
      throw error;
    }
  }
  await fill(0);
}

function filters(changed: () => void): HTMLFormElement {
  const asked = new URLSearchParams(location.search);
  const form = element("form", { class: "filters", role: "search", "aria-label": "Find runs" });
  for (const [name, label] of FILTERS) {
    const field = element("input", { id: `filter-${name}`, name, type: name === "q" ? "search" : "text", autocomplete: "off", spellcheck: "false", placeholder: name === "name" ? "checkout*" : null });
    field.value = asked.get(name) ?? "";
    form.append(element("div", { class: name === "q" ? "wide" : "" }, element("label", { for: field.id }, label), field));
  }
  const kind = element("select", { id: "filter-kind", name: "kind" }, element("option", { value: "" }, "all"), ...KINDS.map((kind) => element("option", { value: kind }, kind)));
  kind.value = asked.get("kind") ?? "";
  form.append(element("div", {}, element("label", { for: kind.id }, "Kind"), kind));
  let waiting = 0;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(changed, PAUSE_MS); });
  form.addEventListener("submit", (event) => { event.preventDefault(); changed(); });
  return form;
}

function given(form: HTMLFormElement): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string" && value.trim() !== "") query.set(name, value.trim());
  return query;
}

function row(entry: Entry, chosen: boolean, choose: (id: string, yes: boolean) => void): HTMLTableRowElement {
  const box = element("input", { type: "checkbox", value: entry.id, "aria-label": `Choose ${entry.name} ${entry.short}` });
  box.checked = chosen;
  box.addEventListener("change", () => choose(entry.id, box.checked));
  const { qps, p99_ns, failed_share } = entry.figures;
  const cell = (label: string, kind: string, ...inside: (Node | string | false)[]) => element("td", { class: kind, "data-label": label }, ...inside);
  return element("tr", {},
    cell("", "choice", box),
    element("th", { scope: "row" },
      element("a", { href: `/runs/${entry.id}` }, entry.name), " ", element("span", { class: "quiet" }, entry.kind === "run" ? entry.short : `${entry.kind} ${entry.short}`),
      entry.baseline && element("span", { class: "tag" }, "baseline"), ...entry.tags.map((tag) => element("span", { class: "tag" }, tag)),
      entry.note !== "" && element("span", { class: "note" }, entry.note)),
    cell("", "course", sparkline(entry)),
    cell("QPS", "figures", qps === null ? "–" : figure(qps)),
    cell("p99", "figures", time(p99_ns)),
    cell("failed", "figures", failed_share === null ? "–" : percent(failed_share * 100)),
    cell("began", "", entry.started.replace("T", " ").slice(0, 16)),
    cell("revision", "", entry.revision ? `${entry.revision.commit.slice(0, 7)}${entry.revision.changes === "some" ? "+" : ""}` : "–"),
    cell("", "outcome", entry.outcome, element("span", { class: "quiet target" }, entry.target)),
  );
}

const WIDTH = 96;
const HEIGHT = 26;

/** The course of a run; read once it comes into view. */
function sparkline(entry: Entry): SVGSVGElement {
  const words: Record<Entry["kind"], string> = { run: "Answers a second over time", sweep: "Throughput by level", find: "Throughput by trial", compare: "Throughput by pair" };
  const drawing = svg("svg", { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, role: "img", "aria-label": words[entry.kind] });
  new IntersectionObserver((seen, observer) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    observer.disconnect();
    void course(entry.id).then(({ values }) => {
      const most = Math.max(...values, Number.MIN_VALUE);
      const place = (value: number, index: number) => `${((index + 0.5) * WIDTH / values.length).toFixed(1)},${(HEIGHT - 2 - (value / most) * (HEIGHT - 4)).toFixed(1)}`;
      if (values.length === 1) drawing.append(svg("circle", { cx: WIDTH / 2, cy: 2, r: 2, class: "spark-dot" }));
      else drawing.append(svg("polyline", { points: values.map(place).join(" "), class: "spark-line" }));
    }, () => undefined);
  }).observe(drawing);
  return drawing;
}
