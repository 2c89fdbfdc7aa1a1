import { describe, expect, test } from "vitest";
import { matched, placed } from "../../src/charts/flame";
import type { Profile } from "../../src/data/page";

const profile: Profile = {
  id: "flame", title: "", about: "", unit: "count", total: 100, grown: [],
  names: ["main", "serve", "dump", "gc"],
  frames: [[0, 0, 0, 90], [1, 1, 10, 70], [2, 2, 40, 60], [2, 3, 20, 20], [3, 1, 20, 20], [3, 0, 10, 10]],
};

describe("a tree of calls", () => {
  test("has siblings side by side from the left edge of their caller", () => {
    expect(placed(profile).map((it) => [it.name, it.from, it.parent])).toEqual([["main", 0, -1], ["serve", 0, 0], ["dump", 0, 1], ["dump", 0, 2], ["gc", 70, 0], ["gc", 90, -1]]);
  });

  test("counts what was found once, however deep it is", () => {
    const frames = placed(profile);
    expect(matched(frames, (name) => name === "dump")).toBe(60);
    expect(matched(frames, (name) => name === "gc")).toBe(30);
    expect(matched(frames, () => true)).toBe(100);
    expect(matched(frames, () => false)).toBe(0);
  });
});
