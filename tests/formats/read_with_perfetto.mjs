// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// read_with_perfetto.mjs MODULES WEB FILE [PICTURE]: what Perfetto's page, in the folder WEB, loads
// from a trace, as JSON: rows of its tables. MODULES is the folder of npm's packages.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join } from "node:path";

const PATIENCE_MS = 300000;
const TYPES = {
	".css": "text/css",
	".html": "text/html",
	".js": "text/javascript",
	".json": "application/json",
	".wasm": "application/wasm",
};
const QUERIES = {
	processes: "select pid, name from process where name is not null",
	threads: `select p.pid, tid, t.name from thread t join process p using (upid)
		where t.name is not null`,
	slices: `select s.id, s.parent_id, s.name, s.category, p.pid, tid, s.ts, s.dur from slice s
		join thread_track k on k.id = s.track_id join thread t using (utid)
		join process p using (upid) order by s.ts, s.depth`,
	counters: `select p.pid, k.name, ts, value from counter c
		join process_counter_track k on k.id = c.track_id join process p using (upid)
		order by ts`,
	samples: `select p.pid, tid, s.ts, f.name from cpu_profile_stack_sample s
		join stack_profile_callsite c on c.id = s.callsite_id
		join stack_profile_frame f on f.id = c.frame_id join thread t using (utid)
		join process p using (upid) order by s.ts`,
	faults: "select name, value from stats where value > 0 and severity <> 'info'",
};

const [modules, web, file, picture] = process.argv.slice(2);
const puppeteer = createRequire(join(modules, "x"))("puppeteer-core");

const server = createServer((request, response) => {
	const { pathname } = new URL(request.url, "http://localhost");
	const path = pathname === "/profile" ? file : join(web, pathname === "/" ? "index.html" : pathname);
	try {
		const body = readFileSync(path);
		const type = TYPES[extname(path)] ?? "application/octet-stream";
		response.writeHead(200, { "content-type": type }).end(body);
	} catch {
		response.writeHead(404).end();
	}
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const base = `http://127.0.0.1:${server.address().port}/`;
const browser = await puppeteer.launch({
	executablePath: process.env.CHROMIUM,
	args: ["--no-sandbox", "--disable-gpu"],
	protocolTimeout: PATIENCE_MS,
	timeout: PATIENCE_MS,
});
const page = await browser.newPage();
page.setDefaultTimeout(PATIENCE_MS);
await page.setViewport({ width: 1400, height: 800 });
await page.goto(base, { waitUntil: "domcontentloaded" });
await page.waitForFunction("window.app");
await page.evaluate((address) => {
	location.hash = `#!/?url=${encodeURIComponent(address)}`;
}, `${base}profile`);
// Before it has loaded it, it may drop the trace that it shows for another.
await page.waitForFunction("window.app.trace?.engine && !window.app.isLoadingTrace");

const found = {};
for (const [name, query] of Object.entries(QUERIES))
	found[name] = JSON.parse(
		await page.evaluate(async (sql) => {
			const result = await window.app.trace.engine.query(sql);
			const columns = result.columns(),
				rows = [];
			for (const row = result.iter({}); row.valid(); row.next())
				rows.push(
					columns.map((column) => {
						const value = row.get(column);
						return typeof value === "bigint" ? Number(value) : value;
					}),
				);
			return JSON.stringify(rows);
		}, query),
	);
if (picture) {
	await page.waitForSelector(".pf-track", { timeout: 60000 });
	await page.evaluate("new Promise((done) => setTimeout(done, 5000))");
	await page.screenshot({ path: picture });
}
await browser.close();
server.close();
server.closeAllConnections();
process.stdout.write(JSON.stringify(found));
