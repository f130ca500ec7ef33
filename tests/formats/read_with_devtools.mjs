// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// read_with_devtools.mjs MODULES FILE [PICTURE]: what the Performance panel of Chrome's DevTools
// shows of a profile's main thread, bottom up, as JSON: [own time, total time, what] for each row.
// MODULES is the folder of npm's packages. Chromium serves the panel itself.
import { createRequire } from "node:module";
import { join } from "node:path";

const PATIENCE_MS = 300000;
const [modules, file, picture] = process.argv.slice(2);
const puppeteer = createRequire(join(modules, "x"))("puppeteer-core");

// Elements are in shadow trees.
const ALL = `const all = (root, selector, found = []) => {
	for (const element of root.querySelectorAll("*")) {
		if (element.matches(selector)) found.push(element);
		if (element.shadowRoot) all(element.shadowRoot, selector, found);
	}
	return found;
};`;
const TAB = `all(document, "[role=tab]").find((tab) => tab.textContent === "Bottom-up")`;

// The panel only has those rows that it has room for.
const GROW = `(all(document, ".shadow-split-widget-sidebar").forEach((pane) => {
	if (pane.offsetWidth > 1000) pane.style.flexBasis = pane.style.height = "2500px";
}), window.dispatchEvent(new Event("resize")))`;

const browser = await puppeteer.launch({
	executablePath: process.env.CHROMIUM,
	args: ["--no-sandbox", "--disable-gpu", "--remote-allow-origins=*", "--remote-debugging-port=0"],
	protocolTimeout: PATIENCE_MS,
	timeout: PATIENCE_MS,
});
const { host } = new URL(browser.wsEndpoint());
const inspected = await (await browser.newPage()).createCDPSession();
const { targetInfo } = await inspected.send("Target.getTargetInfo");
const page = await browser.newPage();
page.setDefaultTimeout(PATIENCE_MS);
await page.setViewport({ width: 1400, height: picture ? 1000 : 4000 });
await page.goto(
	`http://${host}/devtools/devtools_app.html?ws=${host}/devtools/page/${targetInfo.targetId}` +
		"&panel=timeline",
);
const run = (script) => page.evaluate(`(() => { ${ALL} return ${script}; })()`);
const wait = (script) => page.waitForFunction(`(() => { ${ALL} return ${script}; })()`);
const input = await wait(`all(document, "input[type=file]")[0]`);
await input.uploadFile(file);
await wait(TAB);
await run(`${TAB}.dispatchEvent(new MouseEvent("mousedown", { bubbles: true, button: 0 }))`);

// It opens with the busiest part of the time; two clicks on the overview give all of it.
const rows = () =>
	run(`all(document, "tr").map((row) =>
		[...row.querySelectorAll("td")].map((cell) => cell.innerText.split("\\n")))
		.filter((cells) => cells.length > 2 && /^[\\d.,]+\\sms/.test(cells[0][0]))`);
let before,
	found = [];
while (!found.length || JSON.stringify(before) !== JSON.stringify(found)) {
	await page.mouse.click(700, 80, { count: 2 });
	if (!picture) await run(GROW);
	await page.evaluate("new Promise((done) => setTimeout(done, 1500))");
	before = found;
	found = await rows();
}
if (picture) await page.screenshot({ path: picture });
await browser.close();
process.stdout.write(JSON.stringify(found));
