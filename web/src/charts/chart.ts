/**
 * A chart: lines, points, bars and bands over one axis, drawn as SVG.
 *
 * Drawn as SVG and not on a canvas, so that a chart prints sharp, follows the page's colours without being drawn again, can be
 * saved as what it is, and has text that can be found and read aloud. An hour of seconds is 3,600 points a line, and no screen
 * has as many columns: each column gets the lowest and the highest value in it, so nothing that stands out is lost.
 *
 * Charts of one group share cursor and zoom. Everything the pointer does, the keyboard does too.
 */

import { element, svg } from "../parts/element";
import { Scale, ends, ticks, type Law, type Tick } from "./scale";
import { saveCsv, savePng, saveSvg } from "./save";
import { Group } from "./group";

export type Ink = "a" | "b" | "c" | "d" | "e" | "faint" | "bad";

export interface Series {
  name: string;
  ink: Ink;
  kind: "line" | "points" | "bars" | "band" | "area" | "range";
  axis?: "left" | "right";
  x: readonly number[];
  y: readonly (number | null)[];
  /** The lower edge of a band or a range, of which `y` is the upper; of bars, where each ends on the x axis. */
  low?: readonly (number | null)[];
  end?: readonly number[];
  dashed?: boolean;
  /** Points drawn hollow. */
  hollow?: readonly boolean[];
  /** Not shown until asked for. */
  off?: boolean;
}

export interface Axis {
  title: string;
  law?: Law;
  show: (value: number) => string;
  unit?: "number" | "clock";
  /** Whether it begins at nothing. */
  zero?: boolean;
  from?: number;
  to?: number;
  /** Instead of round numbers. */
  ticks?: readonly Tick[];
  /** Whether the reader may change to the other law. */
  switchable?: boolean;
}

export interface Spec {
  id: string;
  title: string;
  /** What it shows, for those who do not see it, and in small below it. */
  about: string;
  x: Axis;
  left: Axis;
  right?: Axis;
  series: Series[];
  /** Vertical lines. */
  lines?: readonly { at: number; text: string }[];
  /** Stretches of the x axis that are set apart. */
  stretches?: readonly { from: number; to: number; text: string }[];
  /** Whether a horizontal line is drawn at nothing. */
  level?: number;
}

interface Box { left: number; top: number; right: number; bottom: number }

const HEIGHT = 280;
const WIDTH_LEAST = 240;

export class Chart {
  readonly root: HTMLElement;
  private readonly drawing: SVGSVGElement;
  private readonly legend: HTMLElement;
  private readonly tip: HTMLElement;
  private readonly spoken: HTMLElement;
  private readonly reset: HTMLButtonElement;
  private readonly values: HTMLDetailsElement;
  private readonly hidden = new Set<string>();
  private law: Law;
  private width = 0;
  private box: Box = { left: 0, top: 0, right: 0, bottom: 0 };
  private scales: { x: Scale; left: Scale; right: Scale | null } | null = null;
  private cursor: SVGGElement | null = null;
  private brush: SVGRectElement | null = null;
  private pressed: number | null = null;
  private places: number[] = [];
  private waiting = false;

  constructor(private spec: Spec, private readonly group: Group = new Group()) {
    this.law = spec.left.law ?? "linear";
    for (const series of spec.series) if (series.off) this.hidden.add(series.name);
    this.drawing = svg("svg", { class: "drawing", tabindex: 0, role: "application", "aria-roledescription": "chart", "aria-label": `${spec.title}. ${spec.about} Arrow keys read values, plus and minus zoom, Escape shows all.` });
    this.legend = element("div", { class: "legend", role: "group", "aria-label": `Series of ${spec.title}` });
    this.tip = element("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    this.spoken = element("p", { class: "spoken", "aria-live": "polite" });
    this.reset = element("button", { type: "button", class: "tool", hidden: true }, "Show all");
    this.values = element("details", { class: "values" }, element("summary", {}, "Values as a table"));
    const tools = element("div", { class: "tools" }, this.reset);
    if (spec.left.switchable) tools.append(this.lawSwitch());
    for (const [name, save] of [["PNG", savePng], ["SVG", saveSvg]] as const) {
      tools.append(button(name, `Save ${spec.title} as ${name}`, () => save(this.drawing, spec.id, this.spec.title)));
    }
    tools.append(button("CSV", `Save the values of ${spec.title} as CSV`, () => saveCsv(this.spec)));
    this.root = element("section", { class: "chart", id: spec.id, "aria-labelledby": `${spec.id}-title`, tabindex: -1 },
      element("div", { class: "chart-head" }, element("h3", { id: `${spec.id}-title` }, spec.title), tools),
      this.legend,
      element("div", { class: "plot" }, this.drawing, this.tip),
      element("p", { class: "about" }, spec.about),
      this.spoken,
      this.values,
    );
    this.listen();
    group.join(this);
    new ResizeObserver((entries) => {
      const width = Math.floor(entries[0]?.contentRect.width ?? 0);
      if (width > 0 && width !== this.width) { this.width = width; this.draw(); }
    }).observe(this.drawing.parentElement as Element);
  }

  /** Other values under the same names; drawn with the next frame. */
  update(spec: Spec): void {
    this.spec = spec;
    this.places = [];
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  /** The ends of all values on the x axis. */
  extent(): [number, number] {
    let [low, high] = [Infinity, -Infinity];
    for (const series of this.spec.series) {
      for (const x of series.x) { if (x < low) low = x; if (x > high) high = x; }
      for (const x of series.end ?? []) { if (x > high) high = x; }
    }
    for (const line of this.spec.lines ?? []) { low = Math.min(low, line.at); high = Math.max(high, line.at); }
    return [this.spec.x.from ?? low, this.spec.x.to ?? high];
  }

  draw(): void {
    if (this.width <= 0) return;
    const width = Math.max(this.width, WIDTH_LEAST);
    const { spec } = this;
    const narrow = width < 480;
    const height = Math.max(HEIGHT, Math.min(420, Math.round(width * 0.36)));
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawing.setAttribute("width", String(width));
    this.drawing.setAttribute("height", String(height));
    const shown = spec.series.filter((series) => !this.hidden.has(series.name));
    const [all_from, all_to] = this.extent();
    const [x_from, x_to] = this.group.zoom ?? ends2(spec.x, all_from, all_to);
    const within = (axis: "left" | "right") => this.within(shown.filter((series) => (series.axis ?? "left") === axis), x_from, x_to, axis);
    const amounts = Math.max(2, Math.round(height / 56));
    // Proportions are read from labels alone; amounts from the grid as well.
    const rows = (law: Law) => (law === "log" ? amounts * 1.8 : amounts);
    const top = 12;
    const bottom = height - 42;
    const [left_from, left_to] = within("left");
    const left = new Scale(this.law, left_from, left_to, bottom, top);
    const left_ticks = spec.left.ticks ? [...spec.left.ticks] : ticks(left, rows(left.law), spec.left.show);
    const has_right = spec.right !== undefined && shown.some((series) => series.axis === "right");
    const [right_from, right_to] = has_right ? within("right") : [0, 1];
    const right = has_right && spec.right ? new Scale(spec.right.law ?? "linear", right_from, right_to, bottom, top) : null;
    const right_ticks = right && spec.right ? ticks(right, rows(right.law), spec.right.show) : [];
    const room = (found: readonly Tick[]) => Math.max(24, ...found.map((tick) => (tick.label?.length ?? 0) * 7 + 12));
    this.box = { left: room(left_ticks) + (narrow ? 0 : 18), top, right: width - (right ? room(right_ticks) + (narrow ? 0 : 18) : 14), bottom };
    const x = new Scale(spec.x.law ?? "linear", x_from, x_to, this.box.left, this.box.right);
    this.scales = { x, left, right };
    this.drawing.replaceChildren(
      this.clip(),
      this.apart(x),
      this.axes(x, left, right, left_ticks, right_ticks, narrow, height),
      this.body(shown, x, left, right),
      this.marks(x),
    );
    this.cursor = svg("g", { class: "cursor", visibility: "hidden" });
    this.brush = svg("rect", { class: "brush", visibility: "hidden" });
    this.drawing.append(this.cursor, this.brush);
    this.reset.hidden = this.group.zoom === null;
    this.name_series();
    if (this.values.open) this.fill_values();
    this.point(this.group.at, false);
  }

  /** Shows the values at a place of the x axis; `null` hides them. */
  point(at: number | null, here: boolean): void {
    const scales = this.scales;
    if (!this.cursor || !scales) return;
    const shown = at === null ? null : this.nearest(at);
    if (shown === null || shown < scales.x.from || shown > scales.x.to) {
      this.cursor.setAttribute("visibility", "hidden");
      this.tip.hidden = true;
      this.name_values(null);
      return;
    }
    const place = scales.x.place(shown);
    const dots: SVGElement[] = [svg("line", { x1: place, x2: place, y1: this.box.top, y2: this.box.bottom, class: "rule" })];
    for (const series of this.spec.series) {
      const value = this.hidden.has(series.name) ? null : value_at(series, shown);
      const scale = series.axis === "right" ? scales.right : scales.left;
      if (value === null || !scale || series.kind === "bars" || series.kind === "band") continue;
      const y = scale.place(value);
      if (y >= this.box.top - 1 && y <= this.box.bottom + 1) dots.push(svg("circle", { cx: place, cy: y, r: 4, class: `dot ink-${series.ink}` }));
    }
    this.cursor.replaceChildren(...dots);
    this.cursor.setAttribute("visibility", "visible");
    this.name_values(shown);
    if (here) this.tell(shown, place);
    else this.tip.hidden = true;
  }

  private listen(): void {
    const inside = (event: PointerEvent) => {
      const bounds = this.drawing.getBoundingClientRect();
      const scale = bounds.width > 0 ? Math.max(this.width, WIDTH_LEAST) / bounds.width : 1;
      return Math.min(Math.max((event.clientX - bounds.left) * scale, this.box.left), this.box.right);
    };
    this.drawing.addEventListener("pointermove", (event) => {
      if (!this.scales) return;
      const place = inside(event);
      this.group.show(this.scales.x.value(place), this);
      if (this.pressed !== null && this.brush) {
        const [from, to] = [Math.min(this.pressed, place), Math.max(this.pressed, place)];
        for (const [name, value] of Object.entries({ x: from, width: to - from, y: this.box.top, height: this.box.bottom - this.box.top, visibility: "visible" })) {
          this.brush.setAttribute(name, String(value));
        }
      }
    });
    this.drawing.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.pointerType === "touch") return;
      this.pressed = inside(event);
      this.drawing.setPointerCapture(event.pointerId);
    });
    this.drawing.addEventListener("pointerup", (event) => {
      const pressed = this.pressed;
      this.pressed = null;
      this.brush?.setAttribute("visibility", "hidden");
      if (pressed === null || !this.scales) return;
      const place = inside(event);
      if (Math.abs(place - pressed) < 6) return;
      const [from, to] = [this.scales.x.value(Math.min(pressed, place)), this.scales.x.value(Math.max(pressed, place))];
      this.group.focus([from, to]);
    });
    this.drawing.addEventListener("pointerleave", () => { if (this.pressed === null) this.group.show(null, this); });
    this.drawing.addEventListener("dblclick", () => this.group.focus(null));
    this.drawing.addEventListener("blur", () => this.group.show(null, this));
    this.drawing.addEventListener("keydown", (event) => this.key(event));
    this.reset.addEventListener("click", () => { this.group.focus(null); this.drawing.focus(); });
    this.values.addEventListener("toggle", () => { if (this.values.open) this.fill_values(); });
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const x = this.scales?.x;
    const places = this.all_places().filter((at) => x !== undefined && at >= x.from && at <= x.to);
    if (!x || places.length === 0) return;
    const at = this.group.at === null ? null : this.nearest(this.group.at);
    const index = at === null ? -1 : places.findIndex((place) => place >= at);
    const stride = event.shiftKey ? Math.max(1, Math.round(places.length / 10)) : 1;
    const go = (to: number) => {
      const found = places[Math.min(Math.max(to, 0), places.length - 1)];
      if (found === undefined) return;
      this.group.show(found, this);
      this.spoken.textContent = this.told(found);
    };
    switch (event.key) {
      case "ArrowRight": go(index + stride); break;
      case "ArrowLeft": go(index < 0 ? places.length - 1 : index - stride); break;
      case "Home": go(0); break;
      case "End": go(places.length - 1); break;
      case "+": case "=": this.scale_by(0.5, at); break;
      case "-": this.scale_by(2, at); break;
      case "Escape": this.group.focus(null); this.group.show(null, this); break;
      default: return;
    }
    event.preventDefault();
  }

  private scale_by(factor: number, at: number | null): void {
    const x = this.scales?.x;
    if (!x) return;
    const [from, to] = [x.place(x.from), x.place(x.to)];
    const centre = at === null ? (from + to) / 2 : x.place(at);
    const zoomed: [number, number] = [x.value(centre - (centre - from) * factor), x.value(centre + (to - centre) * factor)];
    const [low, high] = ends2(this.spec.x, ...this.extent());
    this.group.focus(zoomed[0] <= low && zoomed[1] >= high ? null : [Math.max(zoomed[0], low), Math.min(zoomed[1], high)]);
  }

  private lawSwitch(): HTMLButtonElement {
    const made = button("log", `log axis of ${this.spec.title}`, () => {
      this.law = this.law === "log" ? "linear" : "log";
      made.setAttribute("aria-pressed", String(this.law === "log"));
      this.draw();
    });
    made.setAttribute("aria-pressed", String(this.law === "log"));
    return made;
  }

  /** The ends of the values of some series within a part of the x axis. */
  private within(series: Series[], from: number, to: number, side: "left" | "right"): [number, number] {
    const axis = side === "left" ? this.spec.left : (this.spec.right ?? this.spec.left);
    const law = side === "left" ? this.law : (axis.law ?? "linear");
    let [low, high] = [Infinity, -Infinity];
    const take = (value: number | null | undefined) => {
      if (value === null || value === undefined || !Number.isFinite(value) || (law === "log" && value <= 0)) return;
      if (value < low) low = value;
      if (value > high) high = value;
    };
    for (const one of series) {
      for (let at = 0; at < one.x.length; at++) {
        const x = one.x[at] as number;
        if ((one.end?.[at] ?? x) < from || x > to) continue;
        take(one.y[at]);
        if (one.low) take(one.low[at]);
      }
    }
    if (this.spec.level !== undefined && side === "left") take(this.spec.level);
    const [found_from, found_to] = ends(law, low, high, axis.zero ?? true);
    return [axis.from ?? found_from, axis.to ?? found_to];
  }

  private clip(): SVGElement {
    const { left, top, right, bottom } = this.box;
    return svg("defs", {}, svg("clipPath", { id: `${this.spec.id}-clip` }, svg("rect", { x: left - 6, y: top - 6, width: Math.max(0, right - left + 12), height: bottom - top + 12 })));
  }

  private apart(x: Scale): SVGElement {
    const group = svg("g", { "clip-path": `url(#${this.spec.id}-clip)` });
    for (const stretch of this.spec.stretches ?? []) {
      const [from, to] = [x.place(stretch.from), x.place(stretch.to)];
      group.append(svg("rect", { class: "stretch", x: from, y: this.box.top, width: Math.max(0, to - from), height: this.box.bottom - this.box.top }));
      if (to - from > stretch.text.length * 6) group.append(svg("text", { class: "stretch-name", x: from + 4, y: this.box.top + 12 }, stretch.text));
    }
    return group;
  }

  private axes(x: Scale, left: Scale, right: Scale | null, left_ticks: Tick[], right_ticks: Tick[], narrow: boolean, height: number): SVGElement {
    const { box, spec } = this;
    const group = svg("g", { class: "axes" });
    for (const tick of left_ticks) {
      const y = left.place(tick.at);
      if (y < box.top - 1 || y > box.bottom + 1) continue;
      group.append(svg("line", { class: tick.label === null ? "grid fine" : "grid", x1: box.left, x2: box.right, y1: y, y2: y }));
      if (tick.label !== null) group.append(svg("text", { x: box.left - 7, y: y + 4, "text-anchor": "end" }, tick.label));
    }
    if (right) {
      for (const tick of right_ticks) {
        if (tick.label !== null) group.append(svg("text", { x: box.right + 7, y: right.place(tick.at) + 4 }, tick.label));
      }
    }
    const widest = 9 * 7;
    const most = Math.max(2, Math.floor((box.right - box.left) / widest));
    const x_ticks = spec.x.ticks ? [...spec.x.ticks] : ticks(x, most, spec.x.show, spec.x.unit);
    let after = -Infinity;
    for (const tick of x_ticks) {
      const place = x.place(tick.at);
      if (place < box.left - 1 || place > box.right + 1) continue;
      group.append(svg("line", { class: "notch", x1: place, x2: place, y1: box.bottom, y2: box.bottom + (tick.label === null ? 3 : 5) }));
      const room = (tick.label?.length ?? 0) * 3.5 + 4;
      if (tick.label === null || place - room < after) continue;
      // A label at an end would stick out.
      const anchor = place + room > box.right + 14 ? "end" : place - room < 0 ? "start" : "middle";
      group.append(svg("text", { x: anchor === "end" ? place + 8 : place, y: box.bottom + 18, "text-anchor": anchor }, tick.label));
      after = place + room;
    }
    group.append(svg("line", { class: "base", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
    if (spec.level !== undefined) {
      const y = left.place(spec.level);
      group.append(svg("line", { class: "base", x1: box.left, x2: box.right, y1: y, y2: y }));
    }
    group.append(svg("text", { class: "axis-title", x: (box.left + box.right) / 2, y: height - 6, "text-anchor": "middle" }, spec.x.title));
    if (!narrow) {
      const middle = (box.top + box.bottom) / 2;
      group.append(svg("text", { class: "axis-title", transform: `translate(12 ${middle}) rotate(-90)`, "text-anchor": "middle" }, spec.left.title));
      if (right && spec.right) {
        const width = Math.max(this.width, WIDTH_LEAST);
        group.append(svg("text", { class: "axis-title", transform: `translate(${width - 6} ${middle}) rotate(-90)`, "text-anchor": "middle" }, spec.right.title));
      }
    }
    return group;
  }

  private body(shown: Series[], x: Scale, left: Scale, right: Scale | null): SVGElement {
    const group = svg("g", { class: "series", "clip-path": `url(#${this.spec.id}-clip)` });
    // What covers most is drawn first.
    const depth = { band: 0, area: 1, bars: 2, range: 3, line: 4, points: 5 } as const;
    for (const series of [...shown].sort((a, b) => depth[a.kind] - depth[b.kind])) {
      const y = series.axis === "right" ? right : left;
      if (y) group.append(...this.one(series, x, y));
    }
    return group;
  }

  private one(series: Series, x: Scale, y: Scale): SVGElement[] {
    const ink = `ink-${series.ink}`;
    const base = Math.min(y.start, Math.max(y.end, y.law === "log" ? y.start : y.place(0)));
    switch (series.kind) {
      case "line":
        return [svg("path", { class: `line ${ink}${series.dashed ? " dashed" : ""}`, d: path(thinned(series, x), x, y) }), ...lonely(series, x, y, ink)];
      case "area": {
        const points = thinned(series, x);
        const line = path(points, x, y);
        return line === "" ? [] : [svg("path", { class: `area ${ink}`, d: closed(points, x, y, base) }), svg("path", { class: `line ${ink}`, d: line })];
      }
      case "band": {
        const there = series.x.map((at, index) => ({ at, high: series.y[index] ?? null, low: series.low?.[index] ?? null })).filter((point): point is { at: number; high: number; low: number } => point.high !== null && point.low !== null);
        if (there.length === 0) return [];
        const up = there.map((point) => `${round(x.place(point.at))} ${round(y.place(point.high))}`);
        const down = there.reverse().map((point) => `${round(x.place(point.at))} ${round(y.place(point.low))}`);
        return [svg("path", { class: `band ${ink}`, d: `M${[...up, ...down].join("L")}Z` })];
      }
      case "bars": {
        let d = "";
        series.x.forEach((from, index) => {
          const value = series.y[index];
          if (value === null || value === undefined || value <= 0) return;
          const [start, end] = [x.place(from), x.place(series.end?.[index] ?? from)];
          const top = y.place(value);
          d += `M${round(start)} ${round(base)}V${round(top)}H${round(Math.max(start + 0.5, end))}V${round(base)}Z`;
        });
        return [svg("path", { class: `bars ${ink}`, d })];
      }
      case "range": {
        let d = "";
        series.x.forEach((at, index) => {
          const [high, low] = [series.y[index], series.low?.[index]];
          if (high === null || high === undefined || low === null || low === undefined) return;
          const place = round(x.place(at));
          const [top, bottom] = [round(y.place(high)), round(y.place(low))];
          d += `M${place} ${bottom}V${top}M${place - 4} ${top}h8M${place - 4} ${bottom}h8`;
        });
        return [svg("path", { class: `line ${ink}`, d })];
      }
      case "points":
        return series.x.flatMap((at, index) => {
          const value = series.y[index];
          if (value === null || value === undefined || !Number.isFinite(value)) return [];
          return [svg("circle", { class: `point ${ink}${series.hollow?.[index] ? " hollow" : ""}`, cx: round(x.place(at)), cy: round(y.place(value)), r: 4.5 })];
        });
    }
  }

  private marks(x: Scale): SVGElement {
    const group = svg("g", { class: "marks" });
    for (const line of this.spec.lines ?? []) {
      const place = x.place(line.at);
      if (place < this.box.left - 1 || place > this.box.right + 1) continue;
      group.append(svg("line", { class: "mark", x1: place, x2: place, y1: this.box.top, y2: this.box.bottom }));
      const end = place > (this.box.left + this.box.right) / 2;
      group.append(svg("text", { class: "mark-name", x: end ? place - 5 : place + 5, y: this.box.top + 11, "text-anchor": end ? "end" : "start" }, line.text));
    }
    return group;
  }

  /** The buttons that switch series on and off, made once and kept, so that a focused one stays focused. */
  private name_series(): void {
    const names = this.spec.series.map((series) => series.name).join("\n");
    if (this.legend.dataset["names"] === names) return;
    this.legend.dataset["names"] = names;
    this.legend.replaceChildren(...this.spec.series.map((series) => {
      const made = element("button", { type: "button", class: `name ink-${series.ink}`, "aria-pressed": String(!this.hidden.has(series.name)) },
        element("span", { class: `swatch ${series.kind}${series.dashed ? " dashed" : ""}`, "aria-hidden": "true" }), element("span", {}, series.name), element("span", { class: "now" }));
      made.addEventListener("click", () => {
        if (!this.hidden.delete(series.name)) this.hidden.add(series.name);
        made.setAttribute("aria-pressed", String(!this.hidden.has(series.name)));
        this.draw();
      });
      return made;
    }));
  }

  private name_values(at: number | null): void {
    this.spec.series.forEach((series, index) => {
      const now = this.legend.children[index]?.querySelector(".now");
      if (!now) return;
      const value = at === null ? null : value_at(series, at);
      now.textContent = value === null ? "" : ` ${this.axis_of(series).show(value)}`;
    });
  }

  private axis_of(series: Series): Axis {
    return series.axis === "right" && this.spec.right ? this.spec.right : this.spec.left;
  }

  private tell(at: number, place: number): void {
    const rows = this.spec.series.filter((series) => !this.hidden.has(series.name)).flatMap((series) => {
      const said = this.said(series, at);
      return said === null ? [] : [element("div", { class: `ink-${series.ink}` }, element("span", { class: `swatch ${series.kind}` }), element("span", {}, series.name), element("b", {}, said))];
    });
    this.tip.replaceChildren(element("strong", {}, this.spec.x.ticks?.find((tick) => tick.at === at)?.label ?? this.spec.x.show(at)), ...rows);
    this.tip.hidden = rows.length === 0;
    const bounds = this.drawing.getBoundingClientRect();
    const scaled = (place / Math.max(this.width, WIDTH_LEAST)) * bounds.width;
    const room = this.tip.offsetWidth;
    const x = scaled + 14 + room > bounds.width ? Math.max(0, scaled - 14 - room) : scaled + 14;
    this.tip.style.transform = `translate(${Math.round(x)}px, 10px)`;
  }

  private said(series: Series, at: number): string | null {
    const index = index_at(series, at);
    const value = index === null ? null : (series.y[index] ?? null);
    if (index === null || value === null) return null;
    const axis = this.axis_of(series);
    const low = series.kind === "band" || series.kind === "range" ? (series.low?.[index] ?? null) : null;
    return low === null ? axis.show(value) : `${axis.show(low)} … ${axis.show(value)}`;
  }

  private told(at: number): string {
    const said = this.spec.series.filter((series) => !this.hidden.has(series.name)).flatMap((series) => {
      const value = this.said(series, at);
      return value === null ? [] : [`${series.name} ${value}`];
    });
    return `${this.spec.x.title} ${this.spec.x.show(at)}: ${said.join(", ")}`;
  }

  /** Every place on the x axis at which there is a value, ascending. */
  private all_places(): number[] {
    if (this.places.length === 0) {
      const all = this.spec.series.filter((series) => !this.hidden.has(series.name)).flatMap((series) => [...series.x]);
      this.places = [...new Set(all)].sort((a, b) => a - b);
    }
    return this.places;
  }

  private nearest(at: number): number | null {
    const places = this.all_places();
    if (places.length === 0) return null;
    let [low, high] = [0, places.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((places[middle] as number) <= at) low = middle; else high = middle;
    }
    const [before, after] = [places[low] as number, places[high] as number];
    const x = this.scales?.x;
    const distance = (value: number) => (x ? Math.abs(x.place(value) - x.place(at)) : Math.abs(value - at));
    return distance(before) <= distance(after) ? before : after;
  }

  private fill_values(): void {
    const heads = [this.spec.x.title, ...this.spec.series.map((series) => series.name)];
    const body = element("tbody");
    const x = this.scales?.x;
    for (const at of this.all_places()) {
      if (x && this.group.zoom && (at < x.from || at > x.to)) continue;
      const label = this.spec.x.ticks?.find((tick) => tick.at === at)?.label ?? this.spec.x.show(at);
      const row = element("tr", {}, element("th", { scope: "row" }, label));
      for (const series of this.spec.series) row.append(element("td", { class: "figures" }, this.said(series, at) ?? "–"));
      body.append(row);
    }
    const table = element("table", {}, element("caption", { class: "spoken" }, this.spec.title), element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))), body);
    this.values.querySelector(".scroll")?.remove();
    this.values.append(element("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": `Values of ${this.spec.title}` }, table));
  }
}

function button(text: string, label: string, act: () => void): HTMLButtonElement {
  const made = element("button", { type: "button", class: "tool", "aria-label": label, title: label }, text);
  made.addEventListener("click", act);
  return made;
}

function ends2(axis: Axis, from: number, to: number): [number, number] {
  if (!Number.isFinite(from) || !Number.isFinite(to)) return axis.law === "log" ? [1, 10] : [0, 1];
  if (from === to) return axis.law === "log" ? [from / 2, to * 2] : [from - 1, to + 1];
  return [from, to];
}

/** The index at which a series has a value at this very place, or the bar over it. */
function index_at(series: Series, at: number): number | null {
  let [low, high] = [0, series.x.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const x = series.x[middle] as number;
    if (x === at) return middle;
    if (x < at) low = middle + 1; else high = middle - 1;
  }
  if (series.end && high >= 0 && at < (series.end[high] as number)) return high;
  return null;
}

function value_at(series: Series, at: number): number | null {
  const index = index_at(series, at);
  return index === null ? null : (series.y[index] ?? null);
}

const round = (place: number) => Math.round(place * 10) / 10;

export type Thin = { x: number; y: number | null };

/** At most two points for each column of the screen: its lowest and its highest. */
export function thinned(series: Pick<Series, "x" | "y">, x: Scale): Thin[] {
  const columns = Math.max(1, Math.round(Math.abs(x.end - x.start)));
  const all: Thin[] = [];
  // One point beyond each end, so that lines run out of the picture.
  let first = series.x.findIndex((at) => at >= x.from);
  if (first < 0) first = series.x.length;
  let last = series.x.length - 1;
  while (last >= 0 && (series.x[last] as number) > x.to) last--;
  const [from, to] = [Math.max(0, first - 1), Math.min(series.x.length - 1, last + 1)];
  if (to - from + 1 <= columns * 2) {
    for (let at = from; at <= to; at++) all.push({ x: series.x[at] as number, y: series.y[at] ?? null });
    return all;
  }
  let column = NaN;
  let low: Thin | null = null;
  let high: Thin | null = null;
  let gap: Thin | null = null;
  const flush = () => {
    if (low && high) all.push(...(low.x <= high.x ? [low, high] : [high, low]).filter((point, index, both) => index === 0 || point !== both[0]));
    else if (gap) all.push(gap);
    [low, high, gap] = [null, null, null];
  };
  for (let at = from; at <= to; at++) {
    const point: Thin = { x: series.x[at] as number, y: series.y[at] ?? null };
    const here = Math.floor(x.place(point.x));
    if (here !== column) { flush(); column = here; }
    if (point.y === null) { gap = point; continue; }
    if (low === null || point.y < ((low as Thin).y as number)) low = point;
    if (high === null || point.y > ((high as Thin).y as number)) high = point;
  }
  flush();
  return all;
}

function path(points: Thin[], x: Scale, y: Scale): string {
  let d = "";
  let pen = false;
  for (const point of points) {
    if (point.y === null || !Number.isFinite(point.y) || (y.law === "log" && point.y <= 0)) { pen = false; continue; }
    d += `${pen ? "L" : "M"}${round(x.place(point.x))} ${round(y.place(point.y))}`;
    pen = true;
  }
  return d;
}

function closed(points: Thin[], x: Scale, y: Scale, base: number): string {
  let d = "";
  let last: Thin | null = null;
  for (const point of points) {
    if (point.y === null) { if (last) d += `V${round(base)}Z`; last = null; continue; }
    const [at, value] = [round(x.place(point.x)), round(y.place(point.y))];
    d += last ? `L${at} ${value}` : `M${at} ${round(base)}V${value}`;
    last = point;
  }
  return last ? `${d}V${round(base)}Z` : d;
}

/** Values without a neighbour, which a line would not show. */
function lonely(series: Series, x: Scale, y: Scale, ink: string): SVGElement[] {
  const there = (index: number) => series.y[index] !== null && series.y[index] !== undefined;
  const alone: SVGElement[] = [];
  for (let at = 0; at < series.x.length && alone.length < 400; at++) {
    if (!there(at) || there(at - 1) || there(at + 1)) continue;
    const value = series.y[at] as number;
    if (y.law === "log" && value <= 0) continue;
    alone.push(svg("circle", { class: `point ${ink}`, cx: round(x.place(series.x[at] as number)), cy: round(y.place(value)), r: 2.5 }));
  }
  return alone;
}
