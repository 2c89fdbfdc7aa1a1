import { describe, expect, test } from "vitest";
import type { Point } from "../../src/data/page";
import { events, journeys } from "../../src/report/sweep";

const plain = (level: number): Point => ({ level, qps: level * 100, ttlb_mean_ns: 1e6, ttlb_p99_ns: 2e6, success_percent: 100, generator_limited: false });
const axis = { title: "concurrent users", show: String };

describe("journeys of a sweep", () => {
  test("have a chart of their own beside their requests, with how many one has", () => {
    const points = [1, 10, 50].map((level) => ({ ...plain(level), tps: level * 20, requests_per_journey: 5, generator_limited: level === 50 }));
    const [spec] = journeys(axis, points);
    expect(spec?.series.map((series) => [series.name, series.axis ?? "left", [...series.y]])).toEqual([
      ["TPS", "left", [20, 200, 1_000]],
      ["requests a journey", "right", [5, 5, 5]],
      ["measured", "left", [20, 200, 1_000]],
    ]);
    expect(spec?.series[2]?.hollow).toEqual([false, false, true]);
  });

  test("that never finished leave a gap in how many requests one has", () => {
    const [spec] = journeys(axis, [{ ...plain(1), tps: 0 }]);
    expect(spec?.series[1]?.y).toEqual([null]);
  });

  test("are not drawn where there are none", () => {
    expect(journeys(axis, [plain(1), plain(10)])).toEqual([]);
  });
});

describe("answers that stream in a sweep", () => {
  const streamed = (level: number): Point => ({ ...plain(level), events_per_second: level * 40, first_event_p95_ns: 3e6, between_events_p99_ns: 1e6 });

  test("are drawn by events", () => {
    const [spec] = events(axis, [1, 2].map(streamed));
    expect(spec?.series.map((series) => [series.name, [...series.y]])).toEqual([
      ["events a second", [40, 80]],
      ["first event p95", [3e6, 3e6]],
      ["between events p99", [1e6, 1e6]],
      ["measured", [40, 80]],
    ]);
  });

  test("are drawn by tokens where every level has them", () => {
    const tokens = (level: number): Point => ({ ...streamed(level), tokens_per_second: level * 120, time_per_token_p99_ns: 4e5 });
    const [spec] = events(axis, [1, 2].map(tokens));
    expect(spec?.left.title).toBe("tokens a second");
    expect(spec?.series.map((series) => [series.name, [...series.y]]).slice(0, 3)).toEqual([
      ["tokens a second", [120, 240]],
      ["first event p95", [3e6, 3e6]],
      ["time per token p99", [4e5, 4e5]],
    ]);
    expect(events(axis, [tokens(1), streamed(2)])[0]?.left.title).toBe("events a second");
  });

  test("are not drawn where nothing streams", () => {
    expect(events(axis, [plain(1)])).toEqual([]);
  });
});
