// Opens the pages of `loadline serve` and of `--web` in a real Chromium and does what a user does, against the real program and its
// demo API.
//
//   node tests/serve.mjs LOADLINE                 the tests
//   node tests/serve.mjs LOADLINE --pictures TO   pictures of each page, at both widths, into TO
//
// Everything is on free ports of this machine, and in a directory that is removed.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [program, flag, to] = process.argv.slice(2);
if (!program) throw new Error("say which loadline: node tests/serve.mjs target/debug/loadline");
const loadline = resolve(program);
const home = mkdtempSync(join(tmpdir(), "loadline-serve-"));
const env = { PATH: process.env.PATH, XDG_DATA_HOME: home };
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PATIENCE = 60_000;
const children = [];
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

/** A program that goes on, once it has said what it is looked for. */
function started(words, wanted, stream = "stdout", more = {}) {
  const child = spawn(loadline, words, { env: { ...env, ...more }, cwd: home });
  children.push(child);
  child.said = "";
  child.ended = new Promise((done) => child.on("close", (code) => done(code)));
  return new Promise((done, fail) => {
    const look = (text) => { child.said += text; const found = wanted.exec(child.said); if (found) done({ child, url: found[0] }); };
    child.stdout.on("data", stream === "stdout" ? look : () => undefined);
    child.stderr.on("data", stream === "stderr" ? look : (text) => { child.said += text; });
    child.on("close", () => fail(new Error(`loadline ${words.join(" ")} ended: ${child.said}`)));
  });
}

/** A command to its end. On a busy machine its figures may be nothing to go by, which is a word beside them here. */
function run(...words) {
  const { status, stderr } = spawnSync(loadline, words, { env, cwd: home, encoding: "utf8" });
  assert.ok(status === 0 || status === 4, `loadline ${words.join(" ")}: ${stderr}`);
}

const { url: api } = await started(["demo", "--serve", "127.0.0.1:0"], /http:\/\/127\.0\.0\.1:\d+/);
const { child: server, url: base } = await started(["serve", "--listen", "127.0.0.1:0"], /http:\/\/127\.0\.0\.1:\d+\//);
seed();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

/** Some runs, a sweep, and one name with a history: the same results with other dates and rates. For pictures they take longer. */
function seed() {
  const pictured = flag === "--pictures";
  const hostile = pictured ? "before the cache" : "</script><img src=x onerror=alert(1)> & 'quoted'";
  const api_of = pictured ? `${api}/behave?delay=lognormal:4ms:0.5` : `${api}/healthz`;
  const lasting = pictured ? "12s" : "2s";
  const load = (rate) => (pictured ? ["--rate", rate] : ["-c", "4"]);
  run("run", api_of, ...load("300/s"), "-d", lasting, "--tag", "release", "--note", hostile, "--name", "checkout");
  run("run", api_of, ...load("400/s"), "-d", lasting, "--tag", "canary", "--name", "checkout");
  run("run", `${api}/behave?delay=3ms`, "--rate", "200/s", "-d", pictured ? lasting : "3s", "--name", pictured ? "search" : hostile);
  run("sweep", pictured ? `${api}/behave?pool=8:5ms` : `${api}/healthz`, "--name", "healthz", "--levels", "1,2,4,8,16", "-d", pictured ? "2s" : "300ms", "--no-tui");
  const bases = ["5ms", "8ms"].map((latency, index) => {
    run("run", `${api}/behave?delay=${pictured ? `lognormal:${latency}:0.3` : latency}`, "-c", "4", "-d", pictured ? "6s" : "1s", "--no-save", "--out", `json=base${index}.json`);
    return JSON.parse(readFileSync(join(home, `base${index}.json`), "utf8"));
  });
  for (let at = 0; at < 24; at++) {
    const result = structuredClone(bases[at < 15 ? 0 : 1]);
    const noise = 1 + 0.01 * (((at * 7) % 5) - 2);
    result.started = `2026-10-${String(at + 1).padStart(2, "0")}T08:00:00.000Z`;
    for (const key of ["qps", "qps_succeeded"]) result[key] = (at < 15 ? 650 : 405) * noise;
    const file = join(home, `run${at}.json`);
    writeFileSync(file, JSON.stringify(result));
    run("import", file);
  }
}

/** A page that is open, and what it complained of. */
async function open(path, options = {}, from = base) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const complaints = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => { if (!request.url().startsWith(from) && !/^(blob|data):/.test(request.url())) complaints.push(`asks for ${request.url()}`); });
  await page.goto(new URL(path, from).href);
  return { page, complaints, close: () => context.close() };
}

const json = async (path) => (await fetch(new URL(path, base))).json();

/** The status of an answer to a request whose headers a browser would not let anyone choose. */
function asked(method, path, headers, body, from = base) {
  return new Promise((done, fail) => {
    const sent = request(new URL(path, from), { method, headers }, (answer) => { answer.resume(); answer.on("end", () => done(answer.statusCode)); });
    sent.on("error", fail);
    sent.end(body);
  });
}

async function idle() {
  while ((await json("/api/v1/live")).state === "running") await new Promise((done) => setTimeout(done, 50));
}

const tests = {
  async "runs are listed, searched and filtered, and hostile text stays text"() {
    const { page, complaints, close } = await open("/");
    const rows = page.locator(".runs tbody tr");
    await rows.nth(5).waitFor();
    await page.getByLabel("Search").fill("canary");
    await page.waitForFunction(() => document.querySelectorAll(".runs tbody tr").length === 1);
    assert.match(page.url(), /q=canary/, "a list can be kept as a bookmark");
    await page.getByLabel("Search").fill("onerror");
    await page.waitForFunction(() => document.querySelectorAll(".runs tbody tr").length === 2);
    assert.equal(await page.locator("main img").count(), 0);
    await page.getByLabel("Search").fill("");
    await page.getByLabel("Kind").selectOption("sweep");
    await page.waitForFunction(() => document.querySelectorAll(".runs tbody tr").length === 1);
    await page.locator(".spark polyline").waitFor();
    assert.deepEqual(complaints, []);
    await close();
  },

  async "a run is opened, saved as one file, and looked at over time"() {
    const { page, complaints, close } = await open("/?name=checkout");
    await page.locator(".runs tbody th a").first().click();
    await page.locator("#qps .series path").first().waitFor();
    assert.match(await page.locator(".answers").innerText(), /How much does it carry\?/);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Save as one file" }).click()]);
    assert.match(readFileSync(await download.path(), "utf8"), /^<!DOCTYPE html>/);
    await page.getByRole("link", { name: "Over time" }).click();
    await page.locator("#qps .series").first().waitFor();
    assert.deepEqual(complaints, []);
    await close();
  },

  async "a trend names the run with which it changed"() {
    const { page, complaints, close } = await open("/trend?name=behave");
    await page.locator("#qps .mark").first().waitFor({ state: "attached" });
    assert.match(await page.locator(".answers").innerText(), /changed by −\d+ % with the run of 2026-10-16/);
    assert.deepEqual(complaints, []);
    await close();
  },

  async "two runs are chosen and compared"() {
    const { page, complaints, close } = await open("/?name=checkout");
    const boxes = page.locator(".runs input[type=checkbox]");
    await boxes.nth(1).waitFor();
    assert.equal(await page.getByRole("button", { name: "Compare two" }).isDisabled(), true);
    await boxes.nth(0).check();
    await boxes.nth(1).check();
    const newest_first = await boxes.evaluateAll((all) => all.slice(0, 2).map((box) => box.value));
    await page.getByRole("button", { name: "Compare two" }).click();
    await page.locator("#curve .series path").first().waitFor();
    const sides = new URL(page.url()).searchParams;
    assert.deepEqual([sides.get("b"), sides.get("a")], newest_first, "A is the older one");
    assert.match(await page.locator(".answers").innerText(), /more than chance|not measured alike/);
    assert.deepEqual(complaints, []);
    await close();
  },

  async "a sweep has its page"() {
    const { page, complaints, close } = await open("/?kind=sweep");
    await page.locator(".runs tbody th a").first().click();
    await page.locator("#throughput .series").first().waitFor();
    assert.deepEqual(complaints, []);
    await close();
  },

  async "mistakes stand beside their fields, as the command line words them but for the names of flags"() {
    const { page, complaints, close } = await open("/new");
    await page.getByLabel("Target").fill("healthz");
    await page.locator("#url-wrong").filter({ hasText: "has no scheme" }).waitFor();
    await page.getByLabel("Clients", { exact: true }).fill("0");
    await page.locator("#connections-wrong").filter({ hasText: "“Clients” '0' is zero" }).waitFor();
    await page.getByLabel("Checks").fill("p99 < 200ms\nspeed > 1");
    await page.locator("#check-wrong").filter({ hasText: "speed" }).waitFor();
    const words = execFileSync("sh", ["-c", `"${loadline}" run healthz -c 0 --check 'p99 < 200ms' --check 'speed > 1' 2>&1 || true`], { env, cwd: home }).toString().replaceAll("--connections", "“Clients”").replaceAll("--check", "“Checks”");
    for (const id of ["url", "connections", "check"]) {
      const said = await page.locator(`#${id}-wrong .message`).first().textContent();
      assert.ok(words.includes(said), `${said}\nis not in\n${words}`);
    }
    assert.equal(await page.getByLabel("Target").getAttribute("aria-invalid"), "true");
    await page.getByLabel("Target").fill(`${api}/healthz`);
    await page.locator("#url-wrong").waitFor({ state: "hidden" });
    assert.match(await page.locator(".typed code").innerText(), /loadline run http:\S+ .*--check 'p99 < 200ms'/);
    assert.deepEqual(complaints, []);
    await close();
  },

  async "stages are drawn while they are typed"() {
    const { page, complaints, close } = await open("/new");
    await page.getByRole("radio", { name: "Stages" }).check();
    const drawn = () => page.locator("#preview .series path").first().getAttribute("d");
    await page.locator("#preview .series path").first().waitFor();
    await page.waitForFunction(() => document.querySelector("#preview h3")?.textContent === "Requests due a second");
    await page.getByRole("button", { name: "Add a stage" }).click();
    const before = await drawn();
    await page.getByLabel("to, a second").last().fill("900");
    await page.waitForFunction((before) => document.querySelector("#preview .series path")?.getAttribute("d") !== before, before);
    assert.match(await page.locator(".typed code").innerText(), /--rate '0\/s to 100\/s for 10s, 100\/s for 20s, 100\/s to 900\/s for 30s'/);
    await page.getByLabel("lasting").first().fill("soon");
    await page.locator("#stages .wrong").filter({ hasText: "'soon' is not a time" }).waitFor();
    for (const kind of ["Clients per second", "Clients per test", "Maintained clients"]) await page.getByRole("radio", { name: kind }).check();
    assert.deepEqual(complaints, []);
    await close();
  },

  async "a sweep, a search and a comparison are started from the form, shown while they go on, and found again"() {
    for (const [experiment, kind, fill] of [
      ["how much it carries: many levels, one after the other", "sweep", { "Levels of clients": "1,2", For: "1s" }],
      ["the highest rate that keeps a promise", "find", { "What is to be kept": "p90 < 2s", "Search for at most": "30s", "Never load with more than": "40/s" }],
      ["whether another target is slower, in pairs", "compare", { Clients: "2", For: "1s", "The server in question": `${api}/get_result?a=1&b=2`, "Pairs of runs": "1" }],
    ]) {
      const { page, complaints, close } = await open("/new");
      await page.getByLabel("Target", { exact: true }).fill(`${api}/healthz`);
      await page.getByLabel("What is to be found out").selectOption({ label: experiment });
      if (kind === "find") await page.getByLabel("How exactly").selectOption("quick");
      for (const [label, value] of Object.entries(fill)) await page.getByLabel(label, { exact: true }).fill(value);
      await page.getByText("Connections, limits, and how it is saved").click();
      await page.getByLabel("Name", { exact: true }).fill(`form-${kind}`);
      await page.getByRole("button", { name: "Start", exact: true }).click();
      await page.waitForURL("**/live");
      await page.waitForFunction(() => document.getElementById("app").dataset.state === "ended", null, { timeout: 120_000 });
      const { runs } = await json(`/api/v1/runs?name=form-${kind}`);
      assert.deepEqual(runs.map((run) => run.kind), [kind]);
      await page.locator(".panel a").click();
      await page.locator(".answers").first().waitFor();
      assert.deepEqual(complaints, []);
      await close();
    }
  },

  async "a test comes from the machines that are chosen, and one that is off is told beside the button"() {
    const bin = mkdtempSync(join(home, "bin-"));
    // Runs what ssh would run there on this machine.
    const ssh = `#!/bin/sh\nfor last; do host=$before; before=$last; done\n[ "$host" = off ] && { echo "no route to host" >&2; exit 255; }\nHOME="${bin}/$host"; mkdir -p "$HOME"; export HOME; unset XDG_DATA_HOME; cd /\nexec /bin/sh -c "$last"\n`;
    writeFileSync(join(bin, "ssh"), ssh, { mode: 0o755 });
    const words = ["serve", "--listen", "127.0.0.1:0", "--db", join(home, "machines.db"), "--agents", "ssh:eu-1,ssh:off"];
    const { url } = await started(words, /http:\/\/127\.0\.0\.1:\d+\//, "stdout", { PATH: `${bin}:${env.PATH}` });
    const { page, complaints, close } = await open("/new", {}, url);
    const place = page.getByLabel("Where the load comes from");
    assert.deepEqual(await place.locator("option").allInnerTexts(), ["eu-1, off", "eu-1 alone", "off alone", "the machine that serves"]);
    await page.getByLabel("Target", { exact: true }).fill(`${api}/healthz`);
    await page.getByLabel("Clients", { exact: true }).fill("2");
    await page.getByLabel("For", { exact: true }).fill("1s");
    const typed = page.locator(".typed code");
    await typed.filter({ hasText: "--agents ssh:eu-1,ssh:off" }).waitFor();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.locator(".others").filter({ hasText: "Off did not answer: it ended with status 255 (no route to host)" }).waitFor();
    // That it was refused is what the browser's console complains of.
    complaints.length = 0;
    await page.getByText("Connections, limits, and how it is saved").click();
    assert.ok(await page.getByLabel("Processes").isHidden());
    await place.selectOption({ label: "the machine that serves" });
    await typed.filter({ hasNotText: "--agents" }).waitFor();
    await page.getByLabel("Processes").fill("2");
    await typed.filter({ hasText: "--processes 2" }).waitFor();
    await place.selectOption({ label: "eu-1 alone" });
    await typed.filter({ hasText: "--agents ssh:eu-1" }).waitFor();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL("**/live");
    await page.waitForFunction(() => document.getElementById("app").dataset.state === "ended");
    assert.match(await page.locator("#sites tbody").innerText(), /eu-1/);
    assert.deepEqual(complaints, []);
    await close();
  },

  async "a test is started, followed live to its end, and found again"() {
    const { page, complaints, close } = await open("/new");
    await page.getByLabel("Target").fill(`${api}/healthz`);
    await page.getByLabel("Clients", { exact: true }).fill("3");
    await page.getByLabel("For", { exact: true }).fill("10s");
    await page.getByText("Connections, limits, and how it is saved").click();
    await page.getByLabel("Name", { exact: true }).fill("from-the-form");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL("**/live");
    await page.waitForFunction(() => Number(document.getElementById("app").dataset.ticks) >= 2);
    assert.match(await page.locator(".panel").innerText(), /QPS/);
    assert.ok(await page.locator("#qps .series path").count() > 0, "the charts grow with the ticks");
    await page.waitForFunction(() => document.getElementById("app").dataset.state === "ended");
    assert.match(await page.locator(".answers").innerText(), /requests a second/);
    await page.locator(".panel a").click();
    await page.locator("#qps .series path").first().waitFor();
    const { runs } = await json("/api/v1/runs?name=from-the-form");
    assert.equal(runs.length, 1);
    assert.equal(runs[0].figures.failed_share, 0);
    assert.deepEqual(complaints, []);
    await close();
  },

  async "a scenario is pasted, its mistakes stand beside it, and its journeys are watched"() {
    const { page, complaints, close } = await open("/new");
    await page.getByLabel("What is sent").selectOption("journeys of a scenario");
    await page.getByRole("radio", { name: "As the scenario says" }).waitFor();
    assert.ok(await page.getByLabel("Method").isHidden());
    await page.getByLabel("Scenario (YAML)").fill(`target: ${api}\nstpes: []\nsteps:\n  - get: /{{env HOME}}\n`);
    const wrong = page.locator("#scenario-wrong");
    await wrong.filter({ hasText: "scenario:2:1: the key 'stpes' is unknown here" }).waitFor();
    await wrong.filter({ hasText: "scenario:4:17: this names a variable of the machine that serves" }).waitFor();
    await page.getByLabel("Take the scenario from a file").setInputFiles({ name: "s.yaml", mimeType: "text/yaml", buffer: Buffer.from(`target: ${api}\nload: {duration: 10m}\npopulations:\n  - {name: customers, users: 2}\nsteps:\n  - transaction: look\n    steps:\n      - get: /healthz\n      - get: /question\n`) });
    await wrong.waitFor({ state: "hidden" });
    assert.equal(await page.locator(".typed code").innerText(), "loadline run scenario.yaml");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL("**/live");
    await page.waitForFunction(() => Number(document.getElementById("app").dataset.ticks) >= 2);
    assert.match(await page.locator(".panel").innerText(), /TPS/);
    for (const [id, name] of [["populations", "customers"], ["journeys", "journey"], ["transactions", "look"], ["steps", "GET /question"]]) {
      const row = page.locator(`.live .tables #${id} tbody tr`).filter({ hasText: name }).first();
      await row.waitFor();
      assert.match(await row.innerText(), /\d/, `how often ${name} was begun`);
    }
    // It lasts until it was seen, however busy the machine is.
    await page.getByRole("button", { name: "Stop" }).click();
    await page.waitForFunction(() => document.getElementById("app").dataset.state === "ended");
    assert.match(await page.locator("main").innerText(), /journeys a second/);
    for (const id of ["populations", "journeys", "transactions", "steps"]) assert.equal(await page.locator(`#${id} tbody tr`).count(), id === "steps" ? 2 : 1, `${id} at the end`);
    const { runs } = await json("/api/v1/runs?name=scenario");
    assert.equal(runs.length, 1);
    await open(`/new?from=${runs[0].id}`).then(async (again) => {
      await again.page.waitForFunction(() => document.querySelector("#field-scenario")?.value.includes("get: /question"));
      await again.close();
    });
    assert.deepEqual(complaints, []);
    await close();
  },

  async "a run of the command line is watched and stopped"() {
    const child = spawn(loadline, ["run", `${api}/healthz`, "-c", "2", "-d", "10m", "--name", "by-hand"], { env, cwd: home, stdio: "ignore" });
    children.push(child);
    const ended = new Promise((done) => child.on("close", done));
    while ((await json("/api/v1/live")).name !== "by-hand") await new Promise((done) => setTimeout(done, 50));
    const { page, complaints, close } = await open("/live");
    await page.waitForFunction(() => Number(document.getElementById("app").dataset.ticks) >= 2);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.waitForFunction(() => document.getElementById("app").dataset.state === "ended");
    assert.equal(await ended, 130);
    assert.match(await page.locator(".answers").innerText(), /How much does it carry\?/);
    assert.deepEqual(complaints, []);
    await close();
  },

  async "what is said of a run is changed on its page, and a run is deleted there"() {
    run("run", `${api}/healthz`, "-n", "50", "-c", "2", "--name", "to-be-changed");
    const { runs: [entry] } = await json("/api/v1/runs?name=to-be-changed");
    const { page, complaints, close } = await open(`/runs/${entry.id}`);
    await page.getByText("Name, note, tags, baseline, delete").click();
    await page.getByLabel("Note", { exact: true }).fill("seen <b>once</b>");
    await page.locator("form.said", { has: page.getByLabel("Note", { exact: true }) }).getByRole("button", { name: "Save" }).click();
    await page.locator(".saved > .note").filter({ hasText: "seen <b>once</b>" }).waitFor();
    await page.getByText("Name, note, tags, baseline, delete").click();
    await page.getByRole("button", { name: "Delete this run" }).click();
    await page.getByRole("button", { name: "Delete it for good" }).click();
    await page.waitForURL(base);
    assert.equal((await json("/api/v1/runs?name=to-be-changed")).total, 0);
    assert.deepEqual(complaints, []);
    await close();
  },

  async "a test is stopped from the page, and its report is there"() {
    const { page, complaints, close } = await open("/new");
    await page.getByLabel("Target").fill(`${api}/healthz`);
    await page.getByLabel("Clients", { exact: true }).fill("2");
    await page.getByLabel("For", { exact: true }).fill("10m");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL("**/live");
    await page.waitForFunction(() => Number(document.getElementById("app").dataset.ticks) >= 1);
    // While it goes on, the list says so, and another one is not started.
    const second = await open("/");
    await second.page.locator(".under-way a").waitFor();
    await second.close();
    assert.equal(await asked("POST", "/api/v1/runs", { "content-type": "application/json" }, JSON.stringify({ plan: { url: api } })), 409);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.waitForFunction(() => document.getElementById("app").dataset.state === "ended");
    assert.match(await page.locator("main").innerText(), /[Ii]nterrupted/);
    assert.deepEqual(complaints, []);
    await idle();
    await close();
  },

  async "who comes late sees all of it, and a lost connection misses nothing"() {
    assert.equal(await asked("POST", "/api/v1/runs", { "content-type": "application/json" }, JSON.stringify({ plan: { url: `${api}/healthz`, connections: 1, duration: "5s" } })), 202);
    const first = await open("/live");
    await first.page.waitForFunction(() => Number(document.getElementById("app").dataset.ticks) >= 2);
    const late = await open("/live");
    await late.page.waitForFunction(() => Number(document.getElementById("app").dataset.ticks) >= 2);
    // A browser that goes away in the middle costs the others nothing.
    await first.close();
    await late.page.waitForFunction(() => document.getElementById("app").dataset.state === "ended");
    const times = await late.page.evaluate(() => Number(document.getElementById("app").dataset.ticks));
    assert.ok(times >= 5, `${times} ticks of five seconds`);
    await late.close();
    await idle();
  },

  async "a target that is not allowed is refused in words beside the button"() {
    const { page, close } = await open("/new");
    await page.getByLabel("Target").fill("http://192.0.2.1/");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.locator(".others").filter({ hasText: "Load may not be sent to 192.0.2.1:80" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Start", exact: true }).isDisabled(), false);
    await close();
  },

  async "other names, other origins and other pages are refused"() {
    const port = new URL(base).port;
    const start = JSON.stringify({ plan: { url: api, duration: "1s" } });
    const kind = { "content-type": "application/json" };
    assert.equal(await asked("GET", "/api/v1/runs", { host: `evil.test:${port}` }), 403);
    assert.equal(await asked("POST", "/api/v1/runs", { ...kind, origin: "http://evil.test" }, start), 403);
    assert.equal(await asked("POST", "/api/v1/runs", { ...kind, origin: "null" }, start), 403);
    assert.equal(await asked("POST", "/api/v1/runs", { "content-type": "text/plain" }, start), 415);
    // A real page of another origin: what it sends does not start anything, and it reads nothing.
    const { url: other } = await started(["serve", "--listen", "127.0.0.1:0", "--db", join(home, "other.db")], /http:\/\/127\.0\.0\.1:\d+\//);
    const { page, close } = await open("/", {}, other);
    const outcomes = await page.evaluate(async ([base, start]) => {
      const tried = [];
      for (const options of [{}, { method: "POST", headers: { "Content-Type": "application/json" }, body: start }, { method: "POST", mode: "no-cors", body: start }]) {
        tried.push(await fetch(new URL("/api/v1/runs", base), options).then((answer) => answer.type, () => "refused"));
      }
      return tried;
    }, [base, start]);
    assert.ok(outcomes.every((outcome) => outcome === "refused" || outcome === "opaque"), outcomes.join());
    assert.equal((await json("/api/v1/live")).state === "running", false);
    await close();
  },

  async "where there is a token it is asked for, and an address that holds it signs in"() {
    const token = "0123456789abcdef0123456789abcdef";
    writeFileSync(join(home, "token"), `${token}\n`);
    const { url } = await started(["serve", "--listen", "127.0.0.1:0", "--token-file", join(home, "token")], /http:\/\/127\.0\.0\.1:\d+\/#token=\S+/);
    assert.ok(!url.includes(token), "the token of a file is not printed");
    const clean = url.split("#")[0];
    assert.equal(await asked("GET", "/api/v1/runs", {}, undefined, clean), 401);
    assert.equal(await asked("GET", "/api/v1/runs", { authorization: "Bearer wrong" }, undefined, clean), 401);
    assert.equal(await asked("GET", "/api/v1/live/stream", {}, undefined, clean), 401);
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(clean);
    await page.getByLabel("Token").fill("wrong-wrong-wrong-wrong");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("This is not the token of this server").waitFor();
    await page.goto("about:blank");
    await page.goto(`${clean}#token=${token}`);
    await page.locator(".runs tbody tr").first().waitFor();
    assert.equal(page.url(), clean, "the token does not stay in the address");
    assert.equal(await page.evaluate(() => document.cookie), "", "no script reads the cookie");
    await page.reload();
    await page.locator(".runs tbody tr").first().waitFor();
    await context.close();
  },

  async "--web shows a run on a port of its own until it ends"() {
    const { child, url } = await started(["run", `${api}/healthz`, "-c", "2", "-d", "15s", "--web"], /http:\/\/127\.0\.0\.1:\d+\//, "stderr");
    const { page, complaints, close } = await open("/", {}, url);
    await page.waitForFunction(() => Number(document.getElementById("app").dataset.ticks) >= 2);
    await page.waitForFunction(() => document.getElementById("app").dataset.state === "ended");
    assert.match(await page.locator(".answers").innerText(), /requests a second/);
    assert.ok([0, 4].includes(await child.ended));
    assert.deepEqual(complaints, []);
    await close();
  },

  async "--web of a sweep shows each level, and what is known so far"() {
    const { child, url } = await started(["sweep", `${api}/healthz`, "--levels", "1,2,4,8", "-d", "1500ms", "--force", "--web"], /http:\/\/127\.0\.0\.1:\d+\//, "stderr");
    const { page, complaints, close } = await open("/", {}, url);
    await page.locator(".so-far .chart").first().waitFor();
    assert.match(await page.locator(".panel .state").innerText(), /users?/);
    await page.waitForFunction(() => document.getElementById("app").dataset.state === "ended");
    await page.locator("#throughput .series").first().waitFor();
    assert.ok([0, 4].includes(await child.ended));
    assert.deepEqual(complaints, []);
    await close();
  },

  async "nothing is wider than its window at 360 pixels, and axe finds nothing serious, light and dark"() {
    const found = [];
    for (const path of await everyPage()) {
      for (const [colorScheme, width] of [["light", 1280], ["dark", 360]]) {
        const { page, complaints, close } = await open(path, { colorScheme, viewport: { width, height: 800 } });
        await ready(page);
        // As wide as it gets: with a mistake that points at its place.
        if (path === "/new") { await page.getByLabel("Checks").fill("p99 < 200"); await page.locator("#check-wrong .message").waitFor(); }
        const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        if (over > 0) found.push(`${path} at ${width}: ${over} pixels too wide`);
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
        found.push(...violations.filter((it) => ["serious", "critical"].includes(it.impact)).map((it) => `${path} in ${colorScheme}: ${it.id}: ${it.nodes.slice(0, 2).map((node) => node.html.slice(0, 160)).join(" | ")}`));
        if (!path.endsWith("/nobody")) found.push(...complaints.map((complaint) => `${path}: ${complaint}`));
        await close();
      }
    }
    assert.deepEqual(found, []);
  },
};

async function everyPage() {
  const first = async (query) => `/runs/${(await json(`/api/v1/runs?limit=1&${query}`)).runs[0].id}`;
  const [a, b] = (await json("/api/v1/runs?name=checkout")).runs.map((run) => run.id);
  return ["/", await first("name=checkout"), await first("kind=sweep"), `/compare?a=${b}&b=${a}`, "/trend?name=behave", "/new", "/live", "/runs/nobody"];
}

/** Everything that a page asks for has come, and is drawn. */
async function ready(page) {
  await page.waitForLoadState("load");
  await page.locator("main, .panel").first().waitFor();
  if (!page.url().endsWith("/live")) await page.waitForLoadState("networkidle");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

async function pictures() {
  mkdirSync(to, { recursive: true });
  const [list, report, sweep, comparison, trend] = await everyPage();
  const sizes = [[1280, 1000, "light"], [360, 1000, "dark"]];
  const take = async (name, path, before = async () => undefined) => {
    for (const [width, height, colorScheme] of sizes) {
      const { page, close } = await open(path, { viewport: { width, height }, colorScheme });
      await ready(page);
      await before(page);
      await page.screenshot({ path: join(to, `serve-${name}-${width}.png`) });
      await close();
    }
  };
  await take("runs", list);
  await take("report", report);
  await take("sweep", sweep);
  await take("compare", comparison);
  await take("trend", trend);
  await take("start", "/new", async (page) => {
    await page.getByLabel("Target").fill("http://127.0.0.1:8080/healthz");
    await page.getByRole("radio", { name: "Stages" }).check();
    await page.getByLabel("Checks").fill("p99 < 200");
    await page.locator("#check-wrong .message").first().waitFor();
    await page.waitForFunction(() => document.querySelector("#preview h3")?.textContent === "Requests due a second");
  });
  await asked("POST", "/api/v1/runs", { "content-type": "application/json" }, JSON.stringify({ plan: { url: `${api}/behave?delay=3ms`, rate: "100/s to 600/s for 20s, 600/s for 10s" } }));
  await take("live", "/live", async (page) => { await page.waitForFunction(() => Number(document.getElementById("app").dataset.ticks) >= 12); });
  await asked("POST", "/api/v1/live/stop", {});
  await idle();
}

let failed = 0;
try {
  if (flag === "--pictures") {
    await pictures();
  } else {
    const wanted = Object.entries(tests).filter(([name]) => !flag || name.includes(flag));
    for (const [name, test] of wanted) {
      try {
        await test();
        console.log(`ok    ${name}`);
      } catch (error) {
        failed += 1;
        console.log(`FAIL  ${name}\n${error.message}`);
      }
    }
    console.log(`${wanted.length - failed} of ${wanted.length} tests of served pages passed`);
  }
  assert.equal(server.exitCode, null, `the server ended: ${server.said}`);
} finally {
  await browser.close();
  for (const child of children) child.kill("SIGTERM");
  await Promise.all(children.map((child) => child.ended));
  rmSync(home, { recursive: true, force: true });
}
process.exit(failed > 0 ? 1 : 0);
