/** All runs of one name over time. */

import { render } from "../report/render";
import { overTime } from "./api";
import { titled, top } from "./frame";

export async function trend(root: HTMLElement): Promise<void> {
  const asked = new URLSearchParams(location.search);
  const name = asked.get("name") ?? "";
  const shown = await overTime(name, asked.get("kind") ?? "run");
  titled(`${name} over time`);
  render(root, shown, [top("all", "")]);
}
