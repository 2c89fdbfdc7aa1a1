/** Distributions: how many took how long, and the curve of percentiles. */

import type { Ink, Series, Spec } from "../charts/chart";
import type { Tick } from "../charts/scale";
import { count, percent, time } from "../data/numbers";
import type { Times } from "../data/page";

const INKS: readonly Ink[] = ["a", "b"];

export function histogram(id: string, title: string, about: string, all: Times[]): Spec {
  return {
    id, title, about,
    x: { title: "time", law: "log", show: time },
    left: { title: "share of requests", show: percent, zero: true },
    series: all.map((times, index): Series => ({
      name: times.name, ink: INKS[index] ?? "c", kind: "bars",
      x: times.bars.map((bar) => bar[0]), end: times.bars.map((bar) => bar[1]), y: times.bars.map((bar) => (bar[2] * 100) / Math.max(1, times.count)),
    })),
  };
}

/** Quantiles lie far apart at the end that matters: as 1 / (1 − q), each nine has the same room. */
export const nines = (q: number): number => 1 / (1 - q);
export const quantile = (place: number): number => 1 - 1 / place;

const NAMED = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 0.9999999];

export function percentiles(id: string, title: string, about: string, all: Times[], most_nines?: number): Spec {
  const far = most_nines ?? Math.max(10, ...all.flatMap((times) => times.curve.map(([q]) => nines(q))));
  const ticks: Tick[] = NAMED.map((q) => ({ at: nines(q), label: percentile(q) })).filter((tick) => tick.at <= far * 1.01);
  return {
    id, title, about,
    x: { title: "percentile", law: "log", show: (place) => percentile(quantile(place)), ticks, from: 1, to: far },
    left: { title: "time", law: "log", show: time, switchable: true, zero: true },
    series: all.map((times, index): Series => ({
      name: times.name, ink: INKS[index] ?? "c", kind: "line", x: times.curve.map(([q]) => nines(q)), y: times.curve.map(([, ns]) => ns),
    })),
  };
}

/** As many nines as it has. */
export function percentile(q: number): string {
  if (q <= 0) return "min";
  const places = Math.max(0, Math.ceil(-Math.log10(1 - q) - 2 - 1e-9));
  return `${Number((q * 100).toFixed(Math.min(8, places + (q < 0.9 ? 1 : 0))))} %`;
}

/** For a caption. */
export const samples = (times: Times | undefined): string => (times ? `${count(times.count)} requests` : "no request");
