/** How values read on axes and under the cursor, as the report in words writes them. */

const NONE = "–";

/** A whole number with commas between thousands. */
export function count(value: number): string {
  // A half goes to the even neighbour, as in the report.
  const rounded = Math.round(value);
  return (rounded - value === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded).toLocaleString("en-US");
}

/** Whole from a hundred on, three digits below. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return NONE;
  const size = Math.abs(value);
  if (size >= 100) return count(value);
  if (size === 0) return "0";
  return trimmed(value.toPrecision(3));
}

/** Nanoseconds in the unit that suits them. */
export function time(ns: number | null): string {
  if (ns === null || !Number.isFinite(ns)) return NONE;
  const size = Math.abs(ns);
  if (size === 0) return "0";
  if (size < 1e3) return `${trimmed(ns.toPrecision(3))} ns`;
  if (size < 999.5e3) return `${trimmed((ns / 1e3).toPrecision(3))} µs`;
  if (size < 999.5e6) return `${trimmed((ns / 1e6).toPrecision(3))} ms`;
  if (size < 9995e6) return `${trimmed((ns / 1e9).toPrecision(3))} s`;
  return `${count(ns / 1e9)} s`;
}

/** A span from the start of a run, as a clock without hours where there are none. */
export function clock(seconds: number): string {
  const sign = seconds < 0 ? "−" : "";
  const whole = Math.abs(seconds);
  if (whole < 60) return `${sign}${trimmed(whole.toFixed(whole < 10 && whole % 1 !== 0 ? 1 : whole % 1 === 0 ? 0 : 1))} s`;
  const pad = (value: number) => Math.floor(value).toString().padStart(2, "0");
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  return hours > 0 ? `${sign}${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${sign}${minutes}:${pad(whole % 60)}`;
}

/** A percentage: as many places as it takes to tell 99.95 from 100. */
export function percent(value: number): string {
  const near = Math.min(Math.abs(value), Math.abs(100 - value));
  const places = Number.isInteger(value) ? 0 : near < 0.1 ? 3 : near < 1 ? 2 : 1;
  return `${trimmed(value.toFixed(places))} %`;
}

/** Bytes in powers of a thousand, as the report writes them. */
export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = value;
  let unit = 0;
  while (Math.abs(size) >= 999.5 && unit < units.length - 1) { size /= 1000; unit += 1; }
  return `${figure(size)} ${units[unit]}`;
}

/** A change with its sign, from a share. */
export function signed(share: number): string {
  const size = Math.abs(share * 100);
  const text = trimmed(size.toFixed(size >= 9.95 ? 0 : 1));
  return text === "0" ? "0 %" : `${share < 0 ? "−" : "+"}${text} %`;
}

function trimmed(text: string): string {
  return text.includes("e") ? Number(text).toString() : text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
