/** From values to places along an axis, and where its ticks stand. */

export type Law = "linear" | "log";

export interface Tick { at: number; label: string | null }

export class Scale {
  constructor(
    readonly law: Law,
    readonly from: number,
    readonly to: number,
    readonly start: number,
    readonly end: number,
  ) {}

  place(value: number): number {
    const [value_, from, to] = this.law === "log" ? [Math.log10(Math.max(value, Number.MIN_VALUE)), Math.log10(this.from), Math.log10(this.to)] : [value, this.from, this.to];
    return this.start + ((value_ - from) / (to - from || 1)) * (this.end - this.start);
  }

  value(place: number): number {
    const share = (place - this.start) / (this.end - this.start || 1);
    if (this.law === "linear") return this.from + share * (this.to - this.from);
    const [from, to] = [Math.log10(this.from), Math.log10(this.to)];
    return 10 ** (from + share * (to - from));
  }
}

/** The next round number upwards of a step: 1, 2, 5 and their powers of ten. */
export function roundStep(least: number, steps: readonly number[] = [1, 2, 5, 10]): number {
  if (!(least > 0) || !Number.isFinite(least)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  const found = steps.find((step) => step * power >= least * (1 - 1e-9));
  return (found ?? 10) * power;
}

/** Steps in which people count time. */
const CLOCK_STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];

export function ticks(scale: Scale, most: number, show: (value: number) => string, unit: "number" | "clock" = "number"): Tick[] {
  return scale.law === "log" ? logTicks(scale, most, show) : linearTicks(scale, most, show, unit);
}

function linearTicks(scale: Scale, most: number, show: (value: number) => string, unit: "number" | "clock"): Tick[] {
  const span = scale.to - scale.from;
  const least = span / Math.max(1, most);
  const step = unit === "clock" ? (CLOCK_STEPS.find((step) => step >= least) ?? roundStep(least)) : roundStep(least);
  const found: Tick[] = [];
  for (let at = Math.ceil(scale.from / step - 1e-9); at * step <= scale.to + step * 1e-9 && found.length < 100; at++) {
    const value = Number((at * step).toPrecision(12));
    // Of whole numbers there are none between two: a label is not repeated.
    const label = show(value);
    if (found.at(-1)?.label !== label) found.push({ at: value, label });
  }
  return found;
}

/** The steps of a power of ten that have labels: the first of these for which there is room. */
const LABELLED: readonly (readonly number[])[] = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5], [1, 2, 5], [1, 3], [1]];
/** With fewer labels than this nobody can tell the proportions. */
const LABELS_LEAST = 3;

function logTicks(scale: Scale, most: number, show: (value: number) => string): Tick[] {
  const [low, high] = [Math.floor(Math.log10(scale.from) + 1e-9), Math.ceil(Math.log10(scale.to) - 1e-9)];
  const decades = Math.log10(scale.to / scale.from);
  // The narrowest gap between two labels decides whether they touch.
  const labelled = LABELLED.find((steps) => {
    const gaps = steps.map((step, index) => Math.log10((steps[index + 1] ?? 10) / step));
    return decades / Math.min(...gaps) <= most;
  }) ?? [1];
  const each = Math.max(1, Math.ceil(decades / Math.max(1, most)));
  const found: Tick[] = [];
  for (let power = low; power <= high; power++) {
    for (let step = 1; step < 10; step++) {
      const at = step * 10 ** power;
      if (at < scale.from * (1 - 1e-9) || at > scale.to * (1 + 1e-9)) continue;
      found.push({ at, label: labelled.includes(step) && (power - low) % each === 0 ? show(at) : null });
    }
  }
  // Between 12 and 19 lies no step of a power of ten.
  return found.filter((tick) => tick.label !== null).length < LABELS_LEAST ? linearTicks(scale, Math.max(LABELS_LEAST, most), show, "number") : found;
}

/** The ends of an axis around values: round, from nothing on where the axis is one of amounts. */
export function ends(law: Law, low: number, high: number, zero: boolean): [number, number] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return law === "log" ? [1, 10] : [0, 1];
  if (law === "log") {
    const from = Math.max(low, Number.MIN_VALUE);
    if (from === high) return [from / 2, high * 2];
    return [from / 1.08, high * 1.12];
  }
  if (zero && low >= 0) return [0, high > 0 ? high * 1.06 : 1];
  const pad = (high - low || Math.abs(high) || 1) * 0.06;
  return [low - pad, high + pad];
}
