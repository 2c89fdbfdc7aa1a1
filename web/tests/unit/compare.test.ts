import { describe, expect, test } from "vitest";
import { tail } from "../../src/report/compare";

const pair = (p50: number | null, p99: number | null) => ({ p50_ns: [p50, p50] as [number | null, number | null], p99_ns: [null, p99] as [number | null, number | null] });

describe("times pair by pair", () => {
  test("are those of the 99th percentile where one run knows it", () => {
    expect(tail([pair(1e6, null), pair(1e6, 9e6)])?.[0]).toBe("p99");
  });

  test("are medians where no run is long enough for more", () => {
    expect(tail([pair(1e6, null), pair(2e6, null)])?.[0]).toBe("p50");
  });

  test("are not drawn where nothing was timed", () => {
    expect(tail([pair(null, null)])).toBeUndefined();
  });
});
