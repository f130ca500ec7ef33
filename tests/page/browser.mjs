// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The page in headless Chromium, used as a user would: keys, pointer, and what is to be read.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import puppeteer from "puppeteer-core";
import { run } from "./cases.mjs";
import { bigProfile, hostileProfile, smallProfile } from "./profiles.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "luaspy-page-"));
const OPEN_MS = 1000,
	SEARCH_MS = 100,
	TRIES = 10;
const VIEWS = ["flame", "tree", "bottom-up", "functions", "lines", "summary"];

// As write_html() does, which has a test of its own.
function pageOf(file) {
	const escaped = JSON.stringify(file).replace(
		/[<>&\u2028\u2029]/g,
		(c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);
	const path = join(folder, "page.html");
	writeFileSync(
		path,
		readFileSync(process.env.PAGE, "utf8").replace("@PROFILE@", () => escaped),
	);
	return pathToFileURL(path).href;
}

const browser = await puppeteer.launch({
	executablePath: process.env.CHROMIUM,
	args: ["--no-sandbox", "--disable-gpu"],
});

// A page on which nothing may go wrong unheard, and which asks for nothing but itself.
async function open(address, { scheme = "light", ratio = 1 } = {}) {
	const page = await browser.newPage();
	page.faults = [];
	page.on("pageerror", (error) => page.faults.push(error.message));
	page.on("console", (message) => page.faults.push(message.text()));
	page.on("dialog", (dialog) => page.faults.push(`dialog ${dialog.message()}`));
	page.on(
		"request",
		(request) => request.url() !== address && page.faults.push(`request for ${request.url()}`),
	);
	await page.emulateMediaFeatures([
		{ name: "prefers-color-scheme", value: scheme },
		{ name: "prefers-reduced-motion", value: "reduce" },
	]);
	await page.setViewport({ width: 1280, height: 760, deviceScaleFactor: ratio });
	await page.goto(address);
	await page.waitForFunction("document.documentElement.dataset.ready");
	assert.equal(await page.evaluate("document.documentElement.dataset.ready"), "yes");
	return page;
}

const settle = (page) =>
	page.evaluate(
		"new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))",
	);
const textOf = (page, selector) => page.$eval(selector, (element) => element.innerText);
const rowsOf = (page, grid) =>
	page.$$eval(`#${grid} .grid-row`, (rows) =>
		rows.map((row) =>
			[...row.children].map((cell) => cell.innerText.replace(/[▸▾]/g, "").trim()),
		),
	);

async function press(page, ...keys) {
	for (const key of keys) await page.keyboard.press(key);
	await settle(page);
}

async function closeWell(page) {
	assert.deepEqual(page.faults, []);
	await page.close();
}

async function opensInASecond() {
	const address = pageOf(bigProfile());
	const times = [];
	for (let i = 0; i < TRIES && !(Math.min(...times) < OPEN_MS); i++) {
		const page = await open(address);
		times.push(
			await page.evaluate(() => {
				const [m] = performance.getEntriesByName("luaspy-open");
				return m.startTime + m.duration;
			}),
		);
		await closeWell(page);
	}
	console.log(`200,000 nodes opened in ${times.map((time) => time.toFixed(0))} ms`);
	assert.ok(Math.min(...times) < OPEN_MS, `it took ${times} ms`);
}

async function searchesAtOnce() {
	const page = await open(pageOf(bigProfile()));
	for (const [index, view] of VIEWS.entries()) {
		await press(page, String(index + 1));
		for (const text of ["f", "function_12", "module_7", "nothing of this name"]) {
			const times = [];
			for (let i = 0; i < TRIES && !(Math.min(...times) < SEARCH_MS); i++)
				times.push(
					await page.evaluate(async (wanted) => {
						const search = document.getElementById("search");
						const input = (value) => {
							search.value = value;
							search.dispatchEvent(new Event("input"));
						};
						const drawn = () =>
							new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
						input("");
						await drawn();
						const began = performance.now();
						input(wanted);
						// What the search costs is to be on the screen, too, but not the wait for the screen.
						const computed = performance.now() - began;
						let painted = 0;
						await new Promise((done) =>
							requestAnimationFrame((start) => {
								painted = performance.now() - Math.max(start, began);
								done();
							}),
						);
						return computed + Math.max(0, painted);
					}, text),
				);
			console.log(`${view}: '${text}' in ${times.map((time) => time.toFixed(1))} ms`);
			assert.ok(Math.min(...times) < SEARCH_MS, `${view}, '${text}': ${times} ms`);
		}
		await page.evaluate(() => {
			const search = document.getElementById("search");
			search.value = "";
			search.dispatchEvent(new Event("input"));
			search.blur();
		});
	}
	await closeWell(page);
}

async function hostileNamesAreText() {
	const page = await open(pageOf(hostileProfile()));
	for (const key of ["1", "2", "3", "4", "5", "6"]) {
		await press(page, key);
		await press(page, "ArrowDown", "ArrowRight", "Enter", "ArrowDown");
		await press(page, "Escape");
	}
	await press(page, "4");
	await page.mouse.move(300, 300);
	await page.focus("#search");
	await page.keyboard.type("<SCRIPT>");
	await page.keyboard.press("Backspace");
	await page.$eval("#search", (search) => {
		search.value = "</script>";
		search.dispatchEvent(new Event("input"));
	});
	await settle(page);
	const rows = await rowsOf(page, "functions-grid");
	assert.ok(rows.length > 3 && rows.every((cells) => cells.join("").includes("</script>")));
	const seen = await page.evaluate(() => ({
		attacked: window.attacked ?? null,
		scripts: document.scripts.length,
		strange: document.querySelectorAll("img, svg, iframe, object, embed, link, base").length,
		styles: document.querySelectorAll("style").length,
		title: document.title,
		longest: Math.max(
			...[...document.querySelectorAll("bdi")].map((e) => e.textContent.length),
		),
		controls: /[\u0000-\u0008\u000b-\u001f\u202a-\u202e\u2028\u2029]/.test(
			document.getElementById("view").textContent +
				document.querySelector("header").textContent,
		),
	}));
	assert.deepEqual(
		{ ...seen, title: "", longest: 0 },
		{
			attacked: null,
			scripts: 2,
			strange: 0,
			styles: 1,
			title: "",
			longest: 0,
			controls: false,
		},
	);
	assert.ok(seen.title.startsWith("</script>"));
	assert.ok(seen.longest < 1000);
	await closeWell(page);
}

async function nothingElseMayRun() {
	const page = await open(pageOf(smallProfile()));
	const ran = await page.evaluate(async () => {
		const attempts = [
			() => {
				const script = document.createElement("script");
				script.textContent = "window.attacked = 1";
				document.body.append(script);
			},
			() => {
				document.body.innerHTML = "<img src=x onerror='window.attacked=1'>";
			},
			() => {
				document.body.setAttribute("onclick", "window.attacked = 1");
				document.body.click();
			},
			() => {
				const frame = document.createElement("iframe");
				frame.src = "https://example.org/";
				document.body.append(frame);
			},
			() => {
				new Image().src = "https://example.org/x.png";
			},
			() => fetch("https://example.org/").catch(() => 0),
		];
		const blocked = [];
		document.addEventListener("securitypolicyviolation", (event) =>
			blocked.push(event.effectiveDirective),
		);
		for (const attempt of attempts)
			try {
				await attempt();
			} catch {
				blocked.push("thrown");
			}
		await new Promise((done) => setTimeout(done, 300));
		return { attacked: window.attacked ?? null, blocked: blocked.length };
	});
	assert.equal(ran.attacked, null);
	assert.ok(ran.blocked >= 6, `only ${ran.blocked} of the attempts were blocked`);
	await page.close();
}

async function aHotFunctionLeadsToItsLine() {
	const page = await open(pageOf(smallProfile()));
	assert.equal(
		await textOf(page, "#headline"),
		"1.00 s of CPU time in 2.00 s. is_prime took most by itself: 60.0%, 83.3% of that in line app.lua:5.",
	);
	await page.click("#headline button");
	await settle(page);
	assert.match(await textOf(page, "#function"), /is_prime\s+app\.lua:3\n/);
	const hot = await page.$$eval("#function .listing tr.hot", (rows) =>
		rows.map((row) => [...row.children].map((cell) => cell.innerText.trim())),
	);
	assert.deepEqual(hot, [
		["100.000", "16.7%", "4", "for i = 2, n - 1 do"],
		["500.000", "83.3%", "5", "if n % i == 0 then return false end"],
	]);
	assert.deepEqual(
		await page.$$eval("#function .listing tr.quiet", (rows) =>
			rows.map((row) => row.innerText.trim()),
		),
		["3\tlocal function is_prime(n)"],
	);
	assert.match(await textOf(page, "#function"), /Callers[^]*main chunk[^]*Callees[^]*GC/);
	await press(page, "5");
	const [first] = await rowsOf(page, "lines-grid");
	assert.deepEqual(first, [
		"500.000",
		"50.0%",
		"500",
		"app.lua:5",
		"is_prime",
		"if n % i == 0 then return false end",
	]);
	await closeWell(page);
}

async function totalsFollowWhatIsHidden() {
	const page = await open(pageOf(smallProfile()));
	const tree = async () =>
		Object.fromEntries(
			(await rowsOf(page, "tree")).map(([total, share, self, , label]) => [
				label,
				`${total} ${share} ${self}`,
			]),
		);
	await press(page, "2");
	assert.deepEqual(await tree(), {
		all: "1,000.000 100.0% 0.000",
		main: "1,000.000 100.0% 0.000",
		"main chunk": "1,000.000 100.0% 50.000",
		is_prime: "700.000 70.0% 600.000",
		GC: "100.000 10.0% 100.000",
		"hook <plugin>": "250.000 25.0% 100.000",
	});
	await press(page, "g");
	assert.deepEqual(await tree(), {
		all: "900.000 100.0% 0.000",
		main: "900.000 100.0% 0.000",
		"main chunk": "900.000 100.0% 50.000",
		is_prime: "600.000 66.7% 600.000",
		"hook <plugin>": "250.000 27.8% 100.000",
	});
	await press(page, "p");
	assert.deepEqual(await tree(), {
		all: "650.000 100.0% 0.000",
		main: "650.000 100.0% 0.000",
		"main chunk": "650.000 100.0% 50.000",
		is_prime: "600.000 92.3% 600.000",
	});
	await page.select("#average", "60");
	assert.equal((await tree()).is_prime, "18,000.000 92.3% 18,000.000");
	await page.select("#average", "1");
	assert.equal((await tree()).is_prime, "300.000 92.3% 300.000");
	await closeWell(page);
}

async function keysReachEverything() {
	const page = await open(pageOf(smallProfile()));
	await page.focus("#flame");
	await press(page, "ArrowDown", "ArrowDown", "ArrowDown");
	assert.match(
		await textOf(page, "#details"),
		/^is_prime app\.lua:3 total 700 ms \(70\.0% of all\), self 600 ms \(60\.0%\), 70\.0% of its caller/,
	);
	await press(page, "ArrowRight");
	assert.match(await textOf(page, "#details"), /^hook <plugin>/);
	await press(page, "Enter");
	assert.match(
		await textOf(page, "#crumbs"),
		/all\s+›\s+main\s+›\s+main chunk\s+›\s+hook <plugin>/,
	);
	await press(page, "4");
	assert.deepEqual(
		(await rowsOf(page, "functions-grid")).map((cells) => cells[4]),
		["string.format <plugin> <native>", "hook <plugin>"],
	);
	await press(page, "1", "Escape");
	assert.match(await textOf(page, "#crumbs"), /^Focus:\s+all\s/);
	await press(page, "2", "/");
	await page.keyboard.type("format");
	await settle(page);
	assert.equal(await textOf(page, "#found"), "1 match, 15.0%");
	assert.deepEqual(
		(await rowsOf(page, "tree")).map((cells) => cells[4]),
		["all", "main", "main chunk", "hook <plugin>", "string.format <plugin> <native>"],
	);
	await press(page, "Enter", "End", "ArrowLeft", "ArrowLeft");
	assert.deepEqual(
		(await rowsOf(page, "tree")).map((cells) => cells[4]),
		["all", "main", "main chunk", "hook <plugin>"],
	);
	await press(page, "ArrowRight", "Escape");
	assert.equal(await textOf(page, "#found"), "");
	await press(page, "3");
	assert.deepEqual((await rowsOf(page, "bottom-up"))[0].slice(0, 3), [
		"600.000",
		"60.0%",
		"is_prime",
	]);
	await press(page, "ArrowRight", "ArrowDown");
	assert.equal(
		await page.$eval("#bottom-up .selected", (row) => row.getAttribute("aria-level")),
		"2",
	);
	await press(page, "?");
	assert.equal(await page.$eval("#help", (help) => help.open), true);
	await closeWell(page);
}

async function aClickGivesTheFocus() {
	const page = await open(pageOf(smallProfile()));
	const box = await (await page.$("#flame")).boundingBox();
	const at = (share, depth) => [box.x + box.width * share, box.y + depth * 20 + 10];
	await page.mouse.move(...at(0.3, 3));
	await settle(page);
	assert.match(
		await textOf(page, "#tip"),
		/is_prime\napp\.lua:3\ntotal 700 ms \(70\.0% of all\), self 600 ms \(60\.0%\)/,
	);
	await page.mouse.click(...at(0.8, 3));
	await settle(page);
	assert.match(await textOf(page, "#details"), /^hook <plugin>/);
	// It fills the width now.
	await page.mouse.move(...at(0.05, 3));
	await settle(page);
	assert.match(await textOf(page, "#tip"), /^hook <plugin>/);
	await press(page, "Escape");
	await page.mouse.move(...at(0.06, 3));
	await settle(page);
	assert.match(await textOf(page, "#tip"), /^is_prime/);
	await closeWell(page);
}

async function theOrderOfTimeIsShown() {
	const page = await open(pageOf(smallProfile()));
	await page.click(".segments button:nth-child(3)");
	await settle(page);
	const box = await (await page.$("#flame")).boundingBox();
	// From 1 to 504 ms and a gap: is_prime for 3 ms, then nothing, then the plugin and is_prime.
	const whole = 505000,
		x = (us) => box.x + (box.width * us) / whole;
	for (const [us, depth, wanted] of [
		[2000, 3, "is_prime"],
		[250000, 1, null],
		[503500, 4, "string.format <plugin> <native>"],
		[504500, 3, "is_prime"],
	]) {
		await page.mouse.move(x(us), box.y + depth * 20 + 10);
		await settle(page);
		assert.equal(
			await page.$eval("#tip", (tip) => (tip.hidden ? null : tip.innerText.split("\n")[0])),
			wanted,
			`at ${us}`,
		);
	}
	await closeWell(page);
	const without = await open(pageOf({ ...smallProfile(), Samples: undefined }));
	assert.match(
		await without.$eval(
			".segments button:nth-child(3)",
			(button) => `${button.disabled} ${button.title}`,
		),
		/true .*--timeline/,
	);
	await closeWell(without);
}

async function luaspyWritesThePage() {
	const from = join(folder, "in.json"),
		to = join(folder, "out.html");
	const file = smallProfile();
	file.Functions[1].Name = "</script><b>&amp;\u2028";
	writeFileSync(from, JSON.stringify(file));
	execFileSync(process.env.LUASPY, ["convert", from, "-o", to], { stdio: "pipe" });
	const page = await open(pathToFileURL(to).href);
	const label = "</script><b>&amp;\\u{2028}";
	assert.equal(
		await textOf(page, "#headline"),
		`1.00 s of CPU time in 2.00 s. ${label} took most by itself: 60.0%, 83.3% of that in line app.lua:5.`,
	);
	await press(page, "2");
	assert.deepEqual(
		(await rowsOf(page, "tree")).map((cells) => [cells[0], cells[4]]),
		[
			["1,000.000", "all"],
			["1,000.000", "main"],
			["1,000.000", "main chunk"],
			["700.000", label],
			["100.000", "GC"],
			["250.000", "hook <plugin>"],
		],
	);
	await closeWell(page);
}

async function aBrokenProfileIsExplained() {
	for (const [file, reason] of [
		[{ Version: 3 }, "the profile's version is 3, this page reads 2"],
		[{ Version: 2, Categories: [], Nodes: {} }, "the profile has no list 'Nodes'"],
	]) {
		const page = await browser.newPage();
		await page.goto(pageOf(file));
		await page.waitForFunction("document.documentElement.dataset.ready === 'failed'");
		assert.equal(
			await page.$eval("[role=alert]", (alert) => alert.innerText),
			`This page cannot show its profile: ${reason}`,
		);
		await page.close();
	}
	const empty = await open(pageOf({ Version: 2, Categories: [], Nodes: [], Functions: [] }));
	for (const key of ["1", "2", "3", "4", "5", "6"])
		await press(empty, key, "ArrowDown", "Enter", "Escape");
	assert.equal(await textOf(empty, "#headline"), "No CPU time was sampled.");
	await closeWell(empty);
}

// Relative luminance and contrast as WCAG 2 defines them, of what the browser makes of a colour.
const CONTRAST = `
const bytes = (color) => { const canvas = document.createElement("canvas"); canvas.width = canvas.height = 1; const drawing = canvas.getContext("2d");
	drawing.fillStyle = color; drawing.fillRect(0, 0, 1, 1); return [...drawing.getImageData(0, 0, 1, 1).data].slice(0, 3); };
const luminance = (color) => { const [r, g, b] = bytes(color).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };`;

async function textIsReadableInBothThemes() {
	const colors = await build({
		entryPoints: [join(here, "../flame/colors.ts")],
		bundle: true,
		write: false,
		format: "iife",
		globalName: "colors",
	});
	for (const scheme of ["light", "dark"]) {
		const page = await open(pageOf(smallProfile()), { scheme });
		assert.equal(await page.evaluate("document.documentElement.dataset.theme"), scheme);
		const worst = await page.evaluate(`(() => { ${CONTRAST} ${colors.outputFiles[0].text}
			const palette = colors.paletteOf(${scheme === "dark"}); let worst = 99;
			for (let i = 0; i < 600; i++) worst = Math.min(worst, contrast(palette.text, palette.fill({ source: "s" + i + ".lua", name: "n" + i, line: i, isScript: true })));
			return Math.min(worst, contrast(palette.text, palette.fill({ source: "[C]", name: "f", isScript: false }))); })()`);
		assert.ok(worst >= 4.5, `${scheme}: a box has contrast ${worst}`);
		for (const key of ["1", "2", "3", "4", "5", "6"]) {
			await press(page, key);
			const poor = await page.evaluate(`(() => { ${CONTRAST}
				const found = [];
				const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
				for (let text; (text = walker.nextNode()); ) {
					const element = text.parentElement;
					if (!text.data.trim() || !element.checkVisibility() || element.closest("script, :disabled, .check:has(:disabled), option, noscript")) continue;
					const style = getComputedStyle(element); let behind = element;
					while (behind && getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
					const value = contrast(style.color, getComputedStyle(behind ?? document.body).backgroundColor);
					if (value < 4.5 || parseFloat(style.fontSize) < 11) found.push(text.data + " " + value.toFixed(1) + " " + style.fontSize);
				}
				return found; })()`);
			assert.deepEqual(poor, [], `${scheme}, view ${key}`);
		}
		for (const [theme, text] of [
			["light", "Theme: light"],
			["dark", "Theme: dark"],
			[scheme, "Theme: auto"],
		]) {
			await page.click("#theme");
			assert.equal(await page.evaluate("document.documentElement.dataset.theme"), theme);
			assert.equal(await textOf(page, "#theme"), text);
		}
		await closeWell(page);
	}
}

async function followsTheWindow() {
	for (const ratio of [1, 2]) {
		const page = await open(pageOf(smallProfile()), { ratio });
		for (const [width, height] of [
			[1280, 760],
			[500, 400],
			[1900, 1000],
		]) {
			await page.setViewport({ width, height, deviceScaleFactor: ratio });
			await settle(page);
			await settle(page);
			const seen = await page.evaluate(() => ({
				canvas: [
					document.getElementById("flame").width,
					document.getElementById("flame").height,
				],
				box: [
					document.getElementById("flame").clientWidth,
					document.getElementById("flame").clientHeight,
				],
				overflow: document.documentElement.scrollWidth - innerWidth,
			}));
			assert.deepEqual(
				seen.canvas,
				seen.box.map((side) => side * ratio),
			);
			assert.equal(seen.box[0], width);
			assert.ok(seen.box[1] > 60 && seen.overflow <= 0, JSON.stringify(seen));
		}
		await closeWell(page);
	}
}

try {
	await run({
		opensInASecond,
		searchesAtOnce,
		hostileNamesAreText,
		nothingElseMayRun,
		aHotFunctionLeadsToItsLine,
		totalsFollowWhatIsHidden,
		keysReachEverything,
		luaspyWritesThePage,
		aBrokenProfileIsExplained,
		aClickGivesTheFocus,
		theOrderOfTimeIsShown,
		textIsReadableInBothThemes,
		followsTheWindow,
	});
} finally {
	await browser.close();
	rmSync(folder, { recursive: true });
}
