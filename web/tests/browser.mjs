// Opens every page in a real Chromium and does what a reader does. Pages are made by `cargo run -p loadline-report --example pages`.
//
//   node tests/browser.mjs DIR                 the tests
//   node tests/browser.mjs DIR --pictures TO   pictures of each kind, at both widths, into TO
//
// The pages are files and the browser is offline, so whatever asks for anything fails the test.

import { readFileSync, readdirSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { createRequire } from "node:module";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const [dir, flag, to] = process.argv.slice(2);
if (!dir) throw new Error("say where the pages are: node tests/browser.mjs DIR");
const pages = readdirSync(dir).filter((name) => name.endsWith(".html")).sort();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

/** A page that is open, and what it complained of. */
async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, offline: true, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => { if (!/^(file|blob|data):/.test(request.url())) complaints.push(`asks for ${request.url()}`); });
  await page.goto(`file://${resolve(dir, name)}`);
  return { page, complaints, close: () => context.close() };
}

/** How many different colours a part of the page has: an empty picture has one. */
async function colours(page, box) {
  const picture = await page.screenshot({ clip: box });
  return page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let at = 0; at < data.length; at += 4) seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
    return seen.size;
  }, picture.toString("base64"));
}

const tests = {
  async "every page opens without a complaint, asks for nothing and is not wider than a telephone"() {
    for (const name of pages) {
      for (const options of [{}, { viewport: { width: 360, height: 740 } }, { viewport: { width: 3840, height: 2160 }, colorScheme: "dark" }]) {
        const { page, complaints, close } = await open(name, options);
        assert.deepEqual(complaints, [], name);
        const [wide, inside, title] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth, document.title]);
        assert.ok(wide <= inside, `${name} is ${wide} wide in ${inside}`);
        assert.ok(!title.includes("owned") || title.includes("document.title"), `${name}: a text was run`);
        // Two runs or searches side by side have neither a knee nor a limit to tell of, and beside a plot stands nothing. Broken checks come before the four.
        const four = /^(runs|searches)/.test(name) ? 2 : name.startsWith("plot") ? 3 : 4;
        const broken = await page.locator(".answer.first").count();
        assert.equal(await page.locator(".answer").count(), four + broken, name);
        if (["run.html", "run-open_with_a_stall.html"].includes(name)) assert.match(await page.locator(".answer").first().innerText(), /Were the checks kept\?\s+FAILED: /, name);
        await close();
      }
    }
  },

  async "what a server sent is shown as text"() {
    for (const name of pages.filter((name) => name.includes("hostile"))) {
      const { page, complaints, close } = await open(name);
      assert.equal(await page.locator("img").count(), 0, name);
      assert.equal(await page.locator("script").count(), 2, `${name}: the data and the script`);
      assert.ok((await page.locator("main").innerText()).includes("</script>"), `${name} shows the text`);
      assert.deepEqual(complaints, []);
      await close();
    }
  },

  async "charts have ink, in light and in dark"() {
    for (const name of ["run.html", "sweep.html", "find.html", "compare.html", "diff.html", "plot.html", "runs.html", "searches.html"]) {
      for (const colorScheme of ["light", "dark"]) {
        const { page, close } = await open(name, { colorScheme });
        await page.evaluate(() => document.querySelectorAll("details.more").forEach((fold) => { fold.open = true; }));
        const charts = page.locator(".chart");
        // A plot of hits is one chart of them all, and two searches have two; every other page has several.
        assert.ok(await charts.count() >= ({ "plot.html": 1, "searches.html": 2 }[name] ?? 3), name);
        for (let at = 0; at < await charts.count(); at++) {
          const series = charts.nth(at).locator(".series");
          await series.scrollIntoViewIfNeeded();
          assert.ok(await series.locator("path, circle").count() > 0, `${name}: chart ${at}`);
          const box = await charts.nth(at).locator(".drawing").boundingBox();
          assert.ok(await colours(page, box) > 8, `${name}: chart ${at} in ${colorScheme} is blank`);
        }
        await close();
      }
    }
  },

  async "the switch of colours turns the page dark and light"() {
    const { page, close } = await open("run.html");
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.getByRole("button", { name: "dark", exact: true }).click();
    assert.notEqual(await ground(), light);
    await page.getByRole("button", { name: "light", exact: true }).click();
    assert.equal(await ground(), light);
    await close();
  },

  async "the pointer reads values in all charts over time, and a drag zooms them together"() {
    const { page, close } = await open("run.html");
    const drawing = page.locator("#qps .drawing");
    await drawing.scrollIntoViewIfNeeded();
    const box = await drawing.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    assert.match(await page.locator("#qps .tip").innerText(), /answered\s*[\d,]+/);
    assert.equal(await page.locator("#response .cursor").getAttribute("visibility"), "visible");
    const axis = () => page.locator("#response .axes").innerHTML();
    const whole = await axis();
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    assert.notEqual(await axis(), whole, "the other chart zooms too");
    await page.locator("#qps").getByRole("button", { name: "Show all" }).click();
    assert.equal(await axis(), whole);
    await close();
  },

  async "the keyboard reads values, zooms, and switches series"() {
    const { page, close } = await open("run.html");
    await page.locator("#response .drawing").focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    assert.match(await page.locator("#response > .spoken").innerText(), /p50 .*ms/);
    const whole = await page.locator("#response .axes").innerHTML();
    await page.keyboard.press("+");
    assert.notEqual(await page.locator("#response .axes").innerHTML(), whole);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#response .axes").innerHTML(), whole);
    const lines = () => page.locator("#response .series path").count();
    const before = await lines();
    const p99 = page.locator("#response .legend").getByRole("button", { name: /^p99/ });
    await p99.press("Enter");
    assert.equal(await p99.getAttribute("aria-pressed"), "false");
    assert.equal(await lines(), before - 1);
    await close();
  },

  async "a tree of calls is read and zoomed by pointer and keyboard, and functions are found in it"() {
    for (const name of ["run.html", "sweep.html", "find.html", "compare.html"]) {
      const { page, complaints, close } = await open(name, { viewport: { width: 360, height: 740 } });
      const flame = page.locator("#flame-profile");
      await flame.scrollIntoViewIfNeeded();
      const calls = flame.locator(".call:visible");
      const all = await calls.count();
      assert.ok(all >= 9, `${name}: ${all} calls`);
      await calls.first().hover();
      assert.match(await flame.locator(".flame-told").innerText(), /net\/http\.\(\*conn\)\.serve: .* with all it calls/);
      const serve = flame.getByRole("button", { name: /^net\/http\.\(\*conn\)\.serve/ });
      await serve.focus();
      await page.keyboard.press("ArrowDown");
      assert.match(await flame.locator(".flame-told").innerText(), /^main\.dump/);
      await page.keyboard.press("Enter");
      assert.ok(await calls.count() < all, "what is beside it is gone");
      const box = await flame.getByRole("button", { name: /^main\.dump/ }).boundingBox();
      const field = await flame.locator(".flame-field").boundingBox();
      assert.ok(Math.abs(box.width - field.width) < 2, "it has the whole width");
      await page.keyboard.press("Escape");
      assert.equal(await calls.count(), all);
      await flame.getByRole("searchbox").fill("JSON");
      assert.equal(await flame.locator(".call.found").count(), 2);
      assert.match(await flame.locator(".flame-result").innerText(), /^38\.\d+ % of all/);
      assert.equal(await flame.locator(".call.grew").count() > 0, name !== "run.html");
      assert.deepEqual(complaints, []);
      await close();
    }
  },

  async "the server's side stands below the load, over the same seconds or levels, and the rest of it is folded"() {
    for (const [name, load, rest] of [["run.html", "qps", "server-processes"], ["sweep.html", "throughput", "server-switches"], ["find.html", "load", "server-switches"]]) {
      const { page, complaints, close } = await open(name);
      const drawing = page.locator(`#${load} .drawing`);
      await drawing.scrollIntoViewIfNeeded();
      const box = await drawing.boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      assert.equal(await page.locator("#server-cpu .cursor").getAttribute("visibility"), "visible", `${name}: one cursor`);
      assert.ok(await page.locator("#server-cpu .series path").count() >= 3, name);
      assert.equal(await page.locator(`#${rest}`).isVisible(), false, `${name}: the rest is folded`);
      await page.locator("#server-more > summary").click();
      await page.locator(`#${rest} .series path`).first().waitFor();
      assert.equal(await page.locator("#server-side").count(), 1, `${name}: the same as a table`);
      assert.deepEqual(complaints, []);
      await close();
    }
  },

  async "charts are saved as PNG, SVG and CSV, and read as a table"() {
    const { page, complaints, close } = await open("run.html");
    for (const [kind, begins] of [["PNG", "\x89PNG"], ["SVG", "<svg"], ["CSV", "time since the start,answered"]]) {
      const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#qps").getByRole("button", { name: kind }).click()]);
      assert.ok(readFileSync(await download.path(), "latin1").startsWith(begins), kind);
    }
    await page.locator("#qps .values summary").click();
    await page.locator("#qps .values tbody tr").nth(99).waitFor();
    assert.deepEqual(complaints, []);
    await close();
  },

  async "every answer leads to a part of the page, or says that it was not measured"() {
    for (const name of pages) {
      const { page, close } = await open(name);
      for (const answer of await page.locator(".answer").all()) {
        const link = answer.locator("a");
        if (await link.count() === 0) { assert.match(await answer.innerText(), /not measured/, name); continue; }
        const target = await link.getAttribute("href");
        if (!name.includes("empty")) assert.equal(await page.locator(target).count(), 1, `${name}: ${target}`);
      }
      await close();
    }
  },

  async "axe finds nothing serious"() {
    const all = [];
    for (const name of pages.filter((name) => !name.startsWith("run-") || name.includes("failures"))) {
      for (const colorScheme of ["light", "dark"]) {
        const { page, close } = await open(name, { colorScheme });
        // A bridge that the page's own policy rightly refuses to a script element.
        await page.evaluate(axe);
        const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
        const serious = found.violations.filter((it) => ["serious", "critical"].includes(it.impact));
        all.push(...serious.map((it) => `${name} in ${colorScheme}: ${it.id}: ${it.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`));
        await close();
      }
    }
    assert.deepEqual(all, []);
  },

  async "an hour of ticks is drawn in one go, with a bounded number of points"() {
    const { page, close } = await open("hour.html");
    assert.equal(await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).data.timeline.due.length), 3600);
    const longest = await page.evaluate(() => Math.max(...[...document.querySelectorAll("#qps .series path")].map((path) => path.getAttribute("d").split(/[ML]/).length)));
    assert.ok(longest < 3600, `${longest} points in one line`);
    console.log(`    drawn in ${await page.locator("#page").getAttribute("data-drawn-ms")} ms`);
    await close();
  },

  async "an hour of ticks answers the pointer almost as soon as two minutes"() {
    // From the start of the navigation until a chart has shown its values: the least of three.
    const answered = async (name) => {
      const all = [];
      for (let round = 0; round < 3; round++) {
        const { page, close } = await open(name);
        all.push(await page.evaluate(() => {
          const drawing = document.querySelector("#qps .drawing");
          const box = drawing.getBoundingClientRect();
          const asked = performance.now();
          drawing.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + 20 }));
          if (!document.querySelector("#qps .tip")?.textContent) throw new Error("no values are shown");
          return performance.getEntriesByType("navigation")[0].loadEventEnd + performance.now() - asked;
        }));
        await close();
      }
      return Math.min(...all);
    };
    const [short, hour] = [await answered("run.html"), await answered("hour.html")];
    console.log(`    two minutes after ${short.toFixed(0)} ms, an hour after ${hour.toFixed(0)} ms`);
    assert.ok(hour < 8 * short, `${hour} ms, and ${short} ms for two minutes`);
  },

  async "without JavaScript the answers and the report are there in words"() {
    const { page, close } = await open("run.html", { javaScriptEnabled: false });
    const text = await page.locator("body").innerText();
    assert.match(text, /requests a second/);
    assert.match(text, /need JavaScript/);
    await close();
  },
};

async function pictures() {
  mkdirSync(to, { recursive: true });
  for (const kind of ["run", "sweep", "find", "compare", "diff", "runs", "searches", "traffic"]) {
    for (const [width, height, colorScheme] of [[1280, 1500, "light"], [360, 1500, "dark"]]) {
      const { page, close } = await open(`${kind}.html`, { viewport: { width, height }, colorScheme });
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      await page.screenshot({ path: join(to, `page-${kind}-${width}.png`) });
      await close();
    }
  }
}

let failed = 0;
if (flag === "--pictures") {
  await pictures();
} else {
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`ok    ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL  ${name}\n${error.message}`);
    }
  }
  console.log(`${Object.keys(tests).length - failed} of ${Object.keys(tests).length} tests in a browser passed`);
}
await browser.close();
process.exit(failed > 0 ? 1 : 0);
