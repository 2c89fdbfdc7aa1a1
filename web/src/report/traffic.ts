/** The charts of a log's traffic: its course, its day, and its routes. */

import { Chart, type Spec } from "../charts/chart";
import { Group } from "../charts/group";
import { clock, count, figure, percent } from "../data/numbers";
import type { TrafficPage } from "../data/page";

export function traffic(page: TrafficPage): HTMLElement[] {
  const { timeline, time_of_day, routes } = page.data;
  if (timeline.length === 0) return [];
  const specs = [course(page)];
  if (time_of_day.some((requests) => requests > 0)) specs.push(day(time_of_day));
  if (routes.length > 1) specs.push(shares(page));
  return specs.map((spec) => new Chart(spec, new Group()).root);
}

function course(page: TrafficPage): Spec {
  const { timeline, step_s, first_s } = page.data;
  const x = timeline.map((point) => point.at_s + step_s / 2);
  const days = ((timeline.at(-1)?.at_s ?? first_s) - first_s) / 86_400;
  const show = (at: number) => moment(at, days > 1);
  return {
    id: "course", title: "Requests a second", about: `When requests began, averaged over ${clock(step_s)}${step_s > 1 ? ", and the busiest second in each" : ""}.`,
    x: { title: days > 1 ? "day and time (UTC)" : "time of day (UTC)", show, unit: "clock", from: first_s },
    left: { title: "requests a second", show: figure, zero: true, switchable: true },
    series: [
      { name: "average", ink: "a", kind: "area", x, y: timeline.map((point) => point.requests / step_s) },
      ...(step_s > 1 ? [{ name: "busiest second", ink: "b" as const, kind: "line" as const, x, y: timeline.map((point) => point.second_max) }] : []),
    ],
  };
}

/** A moment by the clock, with its day where there are several. */
function moment(at_s: number, with_day: boolean): string {
  const [day, time] = new Date(Math.round(at_s) * 1000).toISOString().split("T");
  const clock_time = (time ?? "").slice(0, at_s % 60 === 0 ? 5 : 8);
  return with_day ? `${(day ?? "").slice(5)} ${clock_time}` : clock_time;
}

function day(hours: number[]): Spec {
  const places = hours.map((_, hour) => hour);
  return {
    id: "day", title: "Time of day", about: "Requests by the hour of the server's own clock, over all days of the log.",
    x: { title: "hour", show: figure, from: 0, to: 24, ticks: [0, 6, 12, 18, 24].map((at) => ({ at, label: `${at}:00` })) },
    left: { title: "requests", show: count, zero: true },
    series: [{ name: "requests", ink: "a", kind: "bars", x: places, end: places.map((hour) => hour + 1), y: hours }],
  };
}

function shares(page: TrafficPage): Spec {
  const { routes } = page.data;
  const places = routes.map((_, index) => index + 0.5);
  const order = routes.map((_, index) => index + 1);
  return {
    id: "shares", title: "Share of each route", about: "The routes in the order of the table below, and what they make together.",
    x: { title: "route, by its place in the table", show: (place) => routes[Math.round(place) - 1]?.name ?? figure(place), from: 0.5, to: routes.length + 0.5, ticks: order.map((at) => ({ at, label: String(at) })) },
    left: { title: "share of requests", show: percent, from: 0, to: 100 },
    series: [
      { name: "share", ink: "a", kind: "bars", x: places, end: places.map((place) => place + 1), y: routes.map((route) => route.share * 100) },
      { name: "together", ink: "c", kind: "line", x: order, y: routes.map((route) => route.cumulative_share * 100) },
    ],
  };
}
