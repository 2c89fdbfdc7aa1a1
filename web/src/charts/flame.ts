/**
 * A tree of calls drawn as flames upside down: each frame is as wide as what was spent in it, and stands below the one that called it.
 *
 * Frames are buttons, so that a keyboard and a screen reader have the same as a pointer. Names are a program's own and are only ever
 * text. Places are set as properties of style, which a page's policy allows, and not as text of one.
 */

import { bytes, count, percent, time } from "../data/numbers";
import type { Profile } from "../data/page";
import { element } from "../parts/element";

/** A frame with its place in the tree; `from` is where it begins, as a share of all. */
export interface Placed { index: number; name: string; depth: number; flat: number; cum: number; from: number; parent: number }

/** Where each frame stands: siblings side by side from the left edge of their caller, which keeps a gap for what is too small to show. */
export function placed(profile: Profile): Placed[] {
  const frames: Placed[] = [];
  const open: number[] = [];
  const next: number[] = [0];
  profile.frames.forEach(([name, depth, flat, cum], index) => {
    open.length = depth;
    next.length = depth + 1;
    const from = next[depth] ?? 0;
    frames.push({ index, name: profile.names[name] ?? "", depth, flat, cum, from, parent: open[depth - 1] ?? -1 });
    next[depth] = from + cum;
    next[depth + 1] = from;
    open[depth] = index;
  });
  return frames;
}

/** What of all was spent in functions of such names, each stretch counted once however deep it is. */
export function matched(frames: readonly Placed[], found: (name: string) => boolean): number {
  let sum = 0;
  let end = -1;
  for (const frame of frames) {
    if (frame.from < end || !found(frame.name)) continue;
    sum += frame.cum;
    end = frame.from + frame.cum;
  }
  return sum;
}

const SHOWN: Record<Profile["unit"], (value: number) => string> = { nanoseconds: time, bytes, count };
/** As many tints as can be told from each other; which one a name has follows from its letters. */
const TINTS = 6;
/** A share that grew by this much has the strongest tint. */
const GREW_MOST = 0.2;

const tint = (name: string) => [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_521, 7) % TINTS;

export class Flame {
  readonly root: HTMLElement;
  private readonly frames: Placed[];
  private readonly boxes: HTMLButtonElement[];
  private readonly field: HTMLElement;
  private readonly told: HTMLElement;
  private readonly reset: HTMLButtonElement;
  private zoomed = -1;
  private current = 0;

  constructor(private readonly profile: Profile) {
    this.frames = placed(profile);
    this.boxes = this.frames.map((frame) => this.box(frame));
    this.field = element("div", { class: "flame-field", role: "group", "aria-label": `${profile.title}. Arrow keys go from call to call, Enter zooms, Escape shows all.` }, ...this.boxes);
    this.told = element("p", { class: "flame-told", "aria-live": "polite" }, "Point at a call, or go there with Tab and the arrow keys.");
    this.reset = element("button", { type: "button", class: "tool", hidden: true }, "Show all");
    const search = element("input", { type: "search", class: "flame-search", placeholder: "Find a function", "aria-label": `Find a function in ${profile.title}` });
    const result = element("span", { class: "flame-result", role: "status" });
    search.addEventListener("input", () => this.find(search.value, result));
    this.reset.addEventListener("click", () => { this.zoom(-1); this.boxes[this.current]?.focus(); });
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.root = element("figure", { class: "flame", id: profile.id, "aria-labelledby": `${profile.id}-title`, tabindex: -1 },
      element("div", { class: "chart-head" }, element("h3", { id: `${profile.id}-title` }, profile.title), element("div", { class: "tools" }, result, search, this.reset)),
      this.told,
      this.field,
      element("p", { class: "about" }, profile.about, " Width is what was spent with all that is called below; a gap is what was too small to keep.", profile.grown.length > 0 && " Warm colours grew in their share of all, cold ones shrank."),
    );
    this.zoom(-1);
  }

  private box(frame: Placed): HTMLButtonElement {
    const grown = this.profile.grown[frame.index];
    const kind = grown === undefined ? `tint-${tint(frame.name)}` : grown > 0.001 ? "grew" : grown < -0.001 ? "shrank" : "same";
    const box = element("button", { type: "button", class: `call ${kind}`, tabindex: frame.index === 0 ? 0 : -1, "aria-label": this.words(frame) }, frame.name);
    if (grown !== undefined) box.style.setProperty("--by", `${Math.min(1, Math.abs(grown) / GREW_MOST) * 70 + 10}%`);
    box.addEventListener("click", () => { this.select(frame.index); this.zoom(frame.index); });
    box.addEventListener("pointerenter", () => this.tell(frame));
    box.addEventListener("focus", () => { this.select(frame.index); this.tell(frame); });
    return box;
  }

  private words(frame: Placed): string {
    const { unit, total, grown } = this.profile;
    const share = (value: number) => percent(Math.round((total > 0 ? value / total : 0) * 1e4) / 100);
    const by = grown[frame.index];
    const change = by === undefined ? "" : `; its share ${by >= 0 ? "grew" : "shrank"} by ${percent(Math.round(Math.abs(by) * 1e3) / 10)} of all`;
    return `${frame.name}: ${SHOWN[unit](frame.cum)} with all it calls, ${share(frame.cum)}; ${SHOWN[unit](frame.flat)} in itself, ${share(frame.flat)}${change}`;
  }

  private tell(frame: Placed): void { this.told.textContent = this.words(frame); }

  /** Only one frame is a stop of the Tab key: the one that was looked at last. */
  private select(index: number): void {
    const before = this.boxes[this.current];
    if (before) before.tabIndex = -1;
    this.current = index;
    const now = this.boxes[index];
    if (now) now.tabIndex = 0;
  }

  /** Shows a frame over the whole width, its callers above it and what it calls below. */
  private zoom(index: number): void {
    this.zoomed = index;
    const target = this.frames[index];
    const [from, width] = target ? [target.from, target.cum] : [0, Math.max(1, this.profile.total)];
    const callers = new Set<number>();
    for (let at = target ? target.parent : -1; at >= 0; at = this.frames[at]?.parent ?? -1) callers.add(at);
    let deepest = 0;
    this.frames.forEach((frame, at) => {
      const box = this.boxes[at];
      if (!box) return;
      const is_caller = callers.has(at);
      const inside = frame.from >= from && frame.from + frame.cum <= from + width && (!target || at >= index);
      const share = is_caller ? 1 : frame.cum / width;
      // Narrower than this is not even a line, and can be zoomed to by its caller.
      box.hidden = !(is_caller || (inside && share > 0.0008));
      if (box.hidden) return;
      deepest = Math.max(deepest, frame.depth);
      box.style.left = `${is_caller ? 0 : ((frame.from - from) / width) * 100}%`;
      box.style.width = `${share * 100}%`;
      box.style.top = `calc(var(--row) * ${frame.depth})`;
      box.classList.toggle("caller", is_caller);
      box.classList.toggle("narrow", share < 0.012);
    });
    this.field.style.height = `calc(var(--row) * ${deepest + 1})`;
    this.reset.hidden = !target;
    if (this.boxes[this.current]?.hidden) this.select(Math.max(0, index));
  }

  private find(text: string, result: HTMLElement): void {
    const wanted = text.trim().toLowerCase();
    const found = (name: string) => wanted !== "" && name.toLowerCase().includes(wanted);
    this.frames.forEach((frame, at) => this.boxes[at]?.classList.toggle("found", found(frame.name)));
    this.field.classList.toggle("searched", wanted !== "");
    const share = this.profile.total > 0 ? matched(this.frames, found) / this.profile.total : 0;
    result.textContent = wanted === "" ? "" : `${percent(Math.round(share * 1e4) / 100)} of all`;
  }

  private key(event: KeyboardEvent): void {
    const frame = this.frames[this.current];
    if (!frame) return;
    const shown = (index: number) => this.boxes[index] !== undefined && !this.boxes[index]?.hidden;
    const beside = this.frames.filter((other) => other.depth === frame.depth && shown(other.index)).map((other) => other.index);
    const place = beside.indexOf(frame.index);
    const below = this.frames.find((other) => other.parent === frame.index && shown(other.index))?.index;
    const ways: Record<string, number | undefined> = { ArrowUp: frame.parent >= 0 ? frame.parent : undefined, ArrowDown: below, ArrowLeft: beside[place - 1], ArrowRight: beside[place + 1], Home: beside[0], End: beside.at(-1) };
    const next = ways[event.key];
    if (event.key === "Escape" && this.zoomed >= 0) this.zoom(-1);
    else if (next === undefined) return;
    else this.boxes[next]?.focus();
    event.preventDefault();
  }
}
