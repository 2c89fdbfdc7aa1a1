import { describe, expect, test } from "vitest";
import type { Point } from "../../src/data/page";
import { journeys } from "../../src/report/sweep";

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
