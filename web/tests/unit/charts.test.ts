import { describe, expect, test } from "vitest";
import { csv } from "../../src/charts/save";
import { thinned } from "../../src/charts/chart";
import { Scale, roundStep, ticks } from "../../src/charts/scale";
import { clock, count, figure, percent, signed, time } from "../../src/data/numbers";
import { percentile } from "../../src/report/times";

describe("values", () => {
  test("read as the report in words writes them", () => {
    expect([time(0), time(950), time(18_500), time(4_180_000), time(1.4e9), time(61e9), time(null)]).toEqual(["0", "950 ns", "18.5 µs", "4.18 ms", "1.4 s", "61 s", "–"]);
    expect([figure(47_812.3), figure(9.123), figure(0), count(1_434_360)]).toEqual(["47,812", "9.12", "0", "1,434,360"]);
    expect([8_374.5, 8_375.5, 8_374.4].map(figure)).toEqual(["8,374", "8,376", "8,374"]);
    expect([percent(100), percent(99.93), percent(38), percent(99.995)]).toEqual(["100 %", "99.93 %", "38 %", "99.995 %"]);
    expect([clock(5), clock(75), clock(3_661)]).toEqual(["5 s", "1:15", "1:01:01"]);
    expect([signed(0.31), signed(-0.01), signed(0)]).toEqual(["+31 %", "−1 %", "0 %"]);
    expect([0, 0.5, 0.9, 0.99, 0.999, 0.9999].map(percentile)).toEqual(["min", "50 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
  });
});

describe("scales", () => {
  test("place and value are inverse", () => {
    for (const law of ["linear", "log"] as const) {
      const scale = new Scale(law, 2, 5_000, 40, 640);
      for (const value of [2, 17, 300, 5_000]) expect(scale.value(scale.place(value))).toBeCloseTo(value, 6);
    }
  });

  test("ticks are round, within the ends, and no more than there is room for", () => {
    expect(roundStep(0.13)).toBeCloseTo(0.2);
    const found = ticks(new Scale("linear", 0, 97, 0, 500), 6, String);
    expect(found.map((tick) => tick.at)).toEqual([0, 20, 40, 60, 80]);
    const labels = ticks(new Scale("log", 1, 1e9, 0, 300), 5, String).filter((tick) => tick.label !== null);
    expect(labels.length).toBeLessThanOrEqual(6);
  });

  test("an axis of proportions has labels enough to read them from", () => {
    const labels = (from: number, to: number, most: number) => ticks(new Scale("log", from, to, 280, 0), most, String).flatMap((tick) => tick.label ?? []);
    expect(labels(1, 49, 9)).toEqual(["1", "2", "5", "10", "20"]);
    expect(labels(20, 60_000, 8)).toEqual(["30", "100", "300", "1000", "3000", "10000", "30000"]);
    // No step of a power of ten lies between these.
    expect(labels(12, 19, 9).length).toBeGreaterThanOrEqual(3);
  });
});

describe("a line with more points than columns", () => {
  test("keeps what stands out and its gaps", () => {
    const x = Array.from({ length: 10_000 }, (_, at) => at);
    const y: (number | null)[] = x.map(() => 1);
    [y[5_000], y[7_123]] = [99, -5];
    for (let at = 2_000; at < 3_000; at++) y[at] = null;
    const thin = thinned({ x, y }, new Scale("linear", 0, 9_999, 0, 400));
    expect(thin.length).toBeLessThanOrEqual(802);
    expect(thin.some((point) => point.x === 5_000 && point.y === 99)).toBe(true);
    expect(thin.some((point) => point.x === 7_123 && point.y === -5)).toBe(true);
    expect(thin.some((point) => point.y === null)).toBe(true);
  });
});

test("a spreadsheet takes no text of a CSV for a formula", () => {
  const axis = { title: "x", show: String };
  const text = csv({ id: "a", title: "a", about: "", x: axis, left: axis, series: [{ name: "=cmd|'/c calc'!A1", ink: "a", kind: "line", x: [1], y: [-2] }] });
  expect(text).toBe("x,'=cmd|'/c calc'!A1\r\n1,-2\r\n");
});
