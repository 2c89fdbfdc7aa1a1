// Against the package as it was installed: `import "loadline"` is what npm put there.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { binary, CannotTell, compare, find, InputError, LoadlineError, read, run, sweep, Time } from "loadline";

let demo;
let server;

before(async () => {
  process.env["LOADLINE_DB"] = join(await mkdtemp(join(tmpdir(), "history-")), "history.db");
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address();
  free.close();
  demo = spawn(binary(), ["demo", "--serve", `127.0.0.1:${port}`], { stdio: "ignore" });
  for (let tries = 0; tries < 200; tries += 1) {
    const there = await new Promise((resolve) => {
      const socket = connect(port, "127.0.0.1").on("connect", () => { socket.destroy(); resolve(true); }).on("error", () => resolve(false));
    });
    if (there) break;
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
  server = `http://127.0.0.1:${port}`;
});

after(() => demo.kill());

test("a run has what the binary counted", async () => {
  const result = await run(`${server}/healthz`, { users: 2, requests: 400, headers: { "X-Team": "a" }, checks: "failed < 1%", noKeepalive: true });
  assert.equal(result.requests.succeeded, 400);
  assert.deepEqual([result.status["200"], result.document.connections.opened, result.checks.length], [400, 400, 1]);
  assert.ok(result.document.plan.header.includes("X-Team: a"));
  assert.ok(result.p50.seconds > 0 && (await result.report()).includes("/healthz") && (await result.page()).includes("<html"));
  const path = join(await mkdtemp(join(tmpdir(), "saved-")), "r.json");
  await result.save(path);
  assert.deepEqual((await read(path)).document, result.document);
});

test("promises are true, false, or cannot be told", async () => {
  assert.equal(new Time(0.04, null).below("50ms"), true);
  assert.equal(new Time(0.04, null).below("40ms"), false);
  assert.equal(`${new Time(0.04, null)} ${new Time(NaN, "few")}`, "40 ms –");
  assert.throws(() => new Time(0.04, "few").below("50ms"), CannotTell);
  assert.throws(() => new Time(0.04, null).below("soon"), TypeError);
  const few = await run(`${server}/healthz`, { users: 1, requests: 5 });
  assert.throws(() => few.p99.below("1h"), CannotTell);
});

test("a sweep, a search and a comparison have their rows", async () => {
  const swept = await sweep(`${server}/healthz`, { levels: [1, 2], duration: "300ms", cooldown: "0s" });
  assert.deepEqual(swept.rows.map((row) => row.level), [{ users: 1 }, { users: 2 }]);
  const compared = await compare(`${server}/healthz`, `${server}/healthz`, { pairs: 2, duration: "300ms", warmup: "0s" });
  assert.equal(compared.verdict, "cannot_tell");
  assert.throws(() => compared.isWorse, CannotTell);
  // No answer is there so soon, so the search ends with its first rates.
  const found = await find(`${server}/healthz`, { slo: "p90 < 1ns", quick: true });
  assert.deepEqual([found.trials.length > 0, found.carries], [true, null]);
});

test("what is wrong is told in the words of the command line", async () => {
  await assert.rejects(run(server, { duration: "soon" }), (error) => error instanceof InputError && error.message.includes("--duration"));
  await assert.rejects(run("http://127.0.0.1:9/", { users: 1, requests: 1 }), LoadlineError);
  await assert.rejects(run("--help"), InputError);
});

test("an interrupted load is a result", async () => {
  const signal = AbortSignal.timeout(1500);
  const result = await run(`${server}/healthz`, { users: 1, rate: "50/s", duration: "60s", signal });
  assert.equal(result.document.ended.how, "interrupted");
  assert.ok(result.requests.succeeded > 0);
});

test("the command line is there, with its exit codes", async () => {
  const command = join(process.cwd(), "node_modules/.bin/loadline");
  const { stdout } = await promisify(execFile)(command, ["--version"]);
  assert.match(stdout, /^loadline \d/);
  await assert.rejects(promisify(execFile)(command, ["run"]), (error) => error.code === 2);
});
