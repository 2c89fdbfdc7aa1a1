#!/usr/bin/env node
// The command line: the binary of this system, with the words that were given.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { binary } from "../binary.js";

let path;
try {
  path = binary();
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exit(2);
}
const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends both an interrupt; whoever ends this program alone means the load.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("error", (error) => { console.error(`error: ${error.message}`); process.exit(2); });
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
