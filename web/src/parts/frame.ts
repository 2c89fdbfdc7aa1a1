/** What every page has around its charts: the head with its answers, tables, the report in words, and the foot. */

import type { Answer, Figure, Page, Question, Table } from "../data/page";
import { element } from "./element";
import { themeSwitch } from "./theme";

const QUESTIONS: Record<Question, string> = {
  checks: "Were the checks kept?",
  carries: "How much does it carry?",
  knee: "Where is the knee?",
  changed: "What changed?",
  steady: "Was it the same throughout?",
  fails: "What fails?",
  holds: "Does it hold?",
  limits: "What limits it?",
  comes: "How much comes?",
  routes: "Where does it go?",
  users: "Who makes it?",
  bursts: "How evenly does it come?",
};

const KINDS: Record<Page["kind"], string> = { run: "run", sweep: "sweep", find: "capacity search", compare: "comparison", diff: "two sweeps", plot: "results", runs: "two runs", searches: "two searches", trend: "over time", traffic: "traffic" };

/** Lays out a page; `charts` and `tables` come in the order in which they are to stand. */
export function frame(page: Page, charts: HTMLElement[], above?: HTMLElement[]): HTMLElement[] {
  // What was promised is looked at before anything else.
  const is_first = (given: Table) => given.id === "checks";
  const promises = page.tables.filter(is_first).map(table);
  const tables = page.tables.filter((given) => !is_first(given)).map(table);
  const links = [...promises, ...charts, ...tables].map((section) => {
    const title = section.querySelector("h3")?.textContent ?? section.id;
    return element("li", {}, element("a", { href: `#${section.id}` }, title));
  });
  return [
    ...(page.answers.length > 0 ? [element("a", { class: "skip", href: "#answers" }, "To the answers")] : []),
    ...(above ?? [element("header", { class: "top" },
      element("span", { class: "brand" }, "loadline", element("span", { class: "kind" }, ` ${KINDS[page.kind]}`)),
      themeSwitch(),
    )]),
    element("main", {},
      element("div", { class: "title" },
        element("h1", {}, page.title),
        page.standing && element("p", { class: `standing tone-${page.standing.tone}` }, element("strong", {}, page.standing.word), ` ${page.standing.why}`),
        ...page.about.map((line) => element("p", { class: "lead" }, line)),
      ),
      page.answers.length > 0 && answers(page.answers),
      promises.length > 0 && element("div", { class: "promises" }, ...promises),
      page.figures.length > 0 && figures(page.figures),
      page.remarks.length > 0 && remarks(page.remarks),
      element("nav", { class: "contents", "aria-label": "Charts and tables" }, element("ul", {}, ...links)),
      charts.length > 0 && element("div", { class: "charts" }, element("h2", { class: "spoken" }, "Charts"), ...charts),
      tables.length > 0 && element("div", { class: "tables" }, element("h2", { class: "spoken" }, "Tables"), ...tables),
      page.text !== "" && element("details", { class: "words" }, element("summary", {}, "The report in words"), element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The report in words" }, element("pre", {}, page.text))),
    ),
    ...(page.measured_by === "" ? [] : [element("footer", {}, element("p", {}, page.measured_by))]),
  ];
}

function answers(all: Answer[]): HTMLElement {
  const one = (answer: Answer) => {
    const link = answer.evidence && element("a", { href: `#${answer.evidence}`, "aria-label": `Evidence: ${QUESTIONS[answer.question]}` }, "evidence");
    return element("li", { class: `answer tone-${answer.tone}${answer.evidence ? "" : " unmeasured"}${answer.question === "checks" ? " first" : ""}` },
      element("h3", {}, QUESTIONS[answer.question]),
      element("p", {}, answer.sentence, " ", link || element("span", { class: "not" }, "not measured")),
    );
  };
  return element("section", { class: "answers", id: "answers", "aria-labelledby": "answers-title" },
    element("h2", { id: "answers-title", class: "spoken" }, "The answers"), element("ol", {}, ...all.map(one)));
}

function figures(all: Figure[]): HTMLElement {
  return element("dl", { class: "figures-row" }, ...all.map((figure) =>
    element("div", {}, element("dt", {}, figure.name), element("dd", {}, element("b", {}, figure.value), element("span", {}, figure.note)))));
}

function remarks(all: string[]): HTMLElement {
  return element("section", { class: "remarks", id: "remarks", "aria-labelledby": "remarks-title" },
    element("h2", { id: "remarks-title" }, "Noticed"), element("ul", {}, ...all.map((remark) => element("li", {}, remark))));
}

/** A table in its own section; too wide a one scrolls in itself. */
export function table(given: Table): HTMLElement {
  const cell = (text: string, index: number) => {
    const figures = given.heads[index]?.figures ?? false;
    return index === 0 ? element("th", { scope: "row", class: figures ? "figures" : "" }, text) : element("td", { class: figures ? "figures" : "" }, text);
  };
  const head = element("tr", {}, ...given.heads.map((head) => element("th", { scope: "col", class: head.figures ? "figures" : "" }, head.text || element("span", { class: "spoken" }, "of"))));
  const body = element("tbody", {}, ...given.rows.map((row) => element("tr", {}, ...row.map(cell))));
  return element("section", { class: "table", id: given.id, "aria-labelledby": `${given.id}-title`, tabindex: -1 },
    element("h3", { id: `${given.id}-title` }, given.title),
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": given.title }, element("table", {}, element("thead", {}, head), body)),
    given.note !== "" && element("p", { class: "about" }, given.note),
  );
}
