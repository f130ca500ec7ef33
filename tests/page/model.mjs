// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The page's model against stacks: what it says of a tree, a test adds up stack by stack.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { below, pick, run } from "./cases.mjs";
import { hostileProfile, randomProfile, smallProfile } from "./profiles.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const bundle = join(here, `model-${process.pid}.bundle.mjs`);
const modules = [
	"base/text",
	"flame/layout",
	"flame/paint",
	"profile/bottom_up",
	"profile/file",
	"profile/functions",
	"profile/lines",
	"profile/search",
	"profile/shown",
	"profile/timeline",
	"profile/totals",
	"profile/tree",
	"state",
	"views/summary",
];
await build({
	stdin: {
		contents: modules.map((name) => `export * from "./${name}";`).join("\n"),
		resolveDir: join(here, ".."),
	},
	bundle: true,
	format: "esm",
	outfile: bundle,
	logLevel: "error",
});
const model = await import(pathToFileURL(bundle).href);
(await import("node:fs")).unlinkSync(bundle);

const ROUNDS = 60;
const HIDINGS = [
	{ gc: false, plugins: false },
	{ gc: true, plugins: false },
	{ gc: false, plugins: true },
	{ gc: true, plugins: true },
];

// A profile, what the page made of it, and the stacks that a way of hiding leaves.
function* rounds(rounds = ROUNDS, options) {
	for (let i = 0; i < rounds; i++) {
		const profile = randomProfile(options?.());
		const text = JSON.stringify(profile.file);
		const state = new model.State(model.parseFile(text));
		for (const hiding of HIDINGS) {
			state.setHiding(hiding);
			const isLeft = (id) =>
				!(hiding.gc && id === profile.gc) &&
				!(hiding.plugins && profile.file.Functions[id - 1].Flags & 2);
			yield {
				...profile,
				state,
				hiding,
				left: profile.stacks.filter(({ stack }) => stack.every(isLeft)),
			};
		}
	}
}

const sum = (stacks) => stacks.reduce((total, { self }) => total + self, 0);
const startsWith = (stack, prefix) => prefix.every((id, i) => stack[i] === id);

// The node of the page's tree at the end of a stack.
const nodeOf = (state, id) => state.read.ids.indexOf(id);

// The two entries with a line are the first function's.
const baseOf = (file, id) => (file.Functions[id - 1].CurrentLine ? 1 : id);
const based = (file, stack) => stack.map((id) => baseOf(file, id));

function totalsOf(file, left) {
	const totals = new Map();
	for (const { stack, self } of left)
		for (const id of new Set(based(file, stack))) totals.set(id, (totals.get(id) ?? 0) + self);
	return totals;
}

function nodesAddUp() {
	for (const { state, left } of rounds()) {
		assert.equal(state.allUs, sum(left));
		for (const { stack, id, category } of left) {
			const node = nodeOf(state, id);
			const own = left.filter(
				(other) => other.category === category && startsWith(other.stack, stack),
			);
			assert.equal(state.shown.total[node], sum(own));
			assert.equal(state.shown.hidden[node], 0);
			assert.equal(state.tree.depth[node], stack.length + 1);
		}
		const shownCount = state.shown.hidden.reduce(
			(count, isHidden, node) => count + (node > 0 && !isHidden),
			0,
		);
		assert.equal(shownCount, left.length);
		assert.equal(state.tree.unreached, 0);
	}
}

function functionsAddUp() {
	for (const { state, file, left } of rounds()) {
		const totals = totalsOf(file, left);
		const times = new Map(state.functionTimes().map((time) => [time.frame, time]));
		assert.deepEqual([...times.keys()].sort(), [...totals.keys()].sort());
		for (const [id, total] of totals) {
			const own = left.filter(
				({ stack }) => stack.length && baseOf(file, stack.at(-1)) === id,
			);
			assert.equal(times.get(id).total, total);
			assert.equal(times.get(id).self, sum(own));
		}
	}
}

function functionsOfTheFocusAddUp() {
	for (const { state, file, left } of rounds(20)) {
		const { stack: focus, id, category } = pick(left);
		const own = left.filter(
			(other) => other.category === category && startsWith(other.stack, focus),
		);
		state.setFocus(nodeOf(state, id));
		// The focus itself counts, what is above it does not.
		const cut = own.map(({ stack, self }) => ({
			stack: stack.slice(Math.max(0, focus.length - 1)),
			self,
		}));
		const totals = totalsOf(file, cut);
		for (const { frame, total } of state.functionTimes())
			assert.equal(total, totals.get(frame));
		assert.equal(state.back() || id === state.read.ids[0], true);
	}
}

function callersAndCalleesAddUp() {
	for (const { state, file, left } of rounds(25)) {
		for (const [wanted, total] of totalsOf(file, left)) {
			const callers = new Map(),
				callees = new Map();
			const add = (map, id, self) => map.set(id, (map.get(id) ?? 0) + self);
			for (const { stack, self, category } of left) {
				const ids = based(file, stack);
				const first = ids.indexOf(wanted);
				if (first < 0) continue;
				add(callers, first ? ids[first - 1] : file.Functions.length + 1 + category, self);
				for (const id of new Set(ids.filter((_, i) => i > 0 && ids[i - 1] === wanted)))
					add(callees, id, self);
			}
			const found = model.relatives(state.shown, state.base, wanted);
			const asMap = (list) => new Map(list.map(({ frame, time }) => [frame, time]));
			assert.deepEqual(asMap(found.callers), callers);
			assert.deepEqual(asMap(found.callees), callees);
			assert.equal(
				found.callers.reduce((all, { time }) => all + time, 0),
				total,
			);
		}
	}
}

function bottomUpAddsUp() {
	for (const { state, file, left } of rounds(25)) {
		const rows = model
			.invert(state.shown, state.base)
			.filter(({ frame }) => state.isFunction(frame));
		const withTime = left.filter(({ stack, self }) => stack.length && self);
		assert.equal(
			rows.reduce((all, { self }) => all + self, 0),
			sum(withTime),
		);
		const check = (row, chain) => {
			const own = withTime.filter(({ stack }) => {
				const ids = based(file, stack).reverse();
				return startsWith(ids, chain) && ids.length >= chain.length;
			});
			assert.equal(row.self, sum(own));
			if (chain.length > 6) return;
			for (const caller of model.callersOf(state.shown, state.base, row))
				if (state.isFunction(caller.frame)) check(caller, [...chain, caller.frame]);
		};
		for (const row of rows) check(row, [row.frame]);
	}
}

function searchLeavesWhatLeadsToAMatch() {
	for (const { state, file, left } of rounds(25)) {
		for (const wanted of ["f", "json", "GC", "F", "größe", "no such function"]) {
			state.setQuery(wanted);
			const texts = file.Functions.map(
				({ Name, Source, Line, Flags, CurrentLine }) =>
					`${Name ?? "<anonymous>"}\n${Source}:${Line ?? ""}\n${CurrentLine ? ` at :${CurrentLine}` : ""}${Flags & 2 ? " <plugin>" : ""}${Flags & 1 ? " <native>" : ""}`,
			);
			const fold = (text) => (wanted === wanted.toLowerCase() ? text.toLowerCase() : text);
			const isMatch = (id) =>
				fold(texts[id - 1]).includes(wanted) ||
				(fold("GC").includes(wanted) && texts[id - 1].startsWith("GC\n"));
			for (const { stack, id, category } of left) {
				const isBelow = stack.some(isMatch);
				const leads = left.some(
					(other) =>
						other.category === category &&
						startsWith(other.stack, stack) &&
						other.stack.slice(stack.length).some(isMatch),
				);
				assert.equal(
					state.found.nodes[nodeOf(state, id)] !== 0,
					isBelow || leads,
					`${wanted} in ${stack}`,
				);
			}
			assert.equal(state.found.time, sum(left.filter(({ stack }) => stack.some(isMatch))));
		}
		state.setQuery("");
		assert.equal(state.found, null);
	}
}

// Random profiles have entries for two lines of the first function, and no Lines.
function linesAddUp() {
	for (const { state, file, stacks } of rounds(20)) {
		const expected = new Map();
		for (const { stack, self } of stacks) {
			const line = file.Functions[(stack.at(-1) ?? 0) - 1]?.CurrentLine;
			if (line && self) expected.set(line, (expected.get(line) ?? 0) + self);
		}
		const lines = model.linesOf(state.frames, state.frameSelf, 1);
		assert.deepEqual(new Map(lines.map(({ line, us }) => [line, us])), expected);
		assert.deepEqual(
			model.allLines(state.frames, state.frameSelf),
			lines.sort((a, b) => b.us - a.us),
		);
	}
	const small = new model.State(model.parseFile(JSON.stringify(smallProfile())));
	assert.deepEqual(
		model
			.allLines(small.frames, small.frameSelf)
			.map(({ line, us, samples }) => [line, us, samples]),
		[
			[5, 500000, 500],
			[4, 100000, 100],
		],
	);
}

function averagesAreOfTheSession() {
	for (const { state, file } of rounds(10)) {
		const seconds = (file.SessionEndTime - file.SessionStartTime) / 1000;
		for (const over of [1, 60, 300, 600]) {
			state.setAverage(over);
			const us = below(1e9);
			const shown = Number(state.time(us).replaceAll(",", ""));
			assert.ok(
				Math.abs(shown - us / 1000 / (seconds / over)) <=
					0.000501 + Math.abs(shown) * 1e-12,
				`${us} us over ${over} s of ${seconds}: ${shown}`,
			);
		}
		state.setAverage(0);
		assert.equal(state.time(1234567), "1,234.567");
	}
}

function boxesLieInTheirCallers() {
	for (const { state } of rounds(15)) {
		for (const order of ["heavy", "merged"]) {
			const layout = model.lay(state.shown, state.frames, order);
			const { tree, total, hidden } = state.shown;
			const laid = layout.rows.reduce((count, row) => count + row.length, 0);
			assert.equal(
				laid,
				1 +
					tree.total
						.slice(1, tree.count)
						.filter((_, i) => !hidden[i + 1] && total[i + 1] > 0).length,
			);
			layout.rows.forEach((row, depth) =>
				row.forEach((node, i) => {
					const parent = tree.parent[node],
						left = row[i - 1];
					assert.equal(tree.depth[node], depth);
					if (parent >= 0) {
						assert.ok(layout.start[node] >= layout.start[parent]);
						assert.ok(
							layout.start[node] + layout.width[node] <=
								layout.start[parent] + layout.width[parent],
						);
					}
					if (left === undefined) return;
					assert.ok(layout.start[left] + layout.width[left] <= layout.start[node]);
					if (tree.parent[left] === parent)
						assert.ok(
							order === "heavy"
								? total[left] >= total[node]
								: state.frameOf(left).label <= state.frameOf(node).label,
						);
				}),
			);
			for (let i = 0; i < 50 && layout.to > 0; i++) {
				const time = layout.to * ((below(1000) + 0.5) / 1000),
					depth = below(layout.rows.length);
				const truth =
					[...layout.rows[depth]].find(
						(node) =>
							layout.start[node] <= time &&
							time < layout.start[node] + layout.width[node],
					) ?? -1;
				assert.equal(model.nodeAt(layout, depth, time), truth);
			}
		}
	}
}

function theTimelineIsInOrder() {
	for (let round = 0; round < 30; round++) {
		const { file, stacks } = randomProfile();
		const period = 1000,
			expected = new Map();
		const samples = [],
			at = [];
		let now = 0;
		for (let i = 0; i < 400; i++) {
			const step = below(10) === 0 ? 50 * period : 500 + below(1000);
			const { id } = pick(stacks);
			now += step;
			samples.push([id, step, 1 + below(2)]);
			at.push(now);
		}
		const state = new model.State(
			model.parseFile(
				JSON.stringify({ ...file, Samples: samples, Recorder: { Period: period } }),
			),
		);
		assert.equal(state.threads.length, 2);
		for (const thread of state.threads) {
			const { tree, left } = state.threadTree(thread);
			const own = samples.flatMap((sample, i) => (sample[2] === thread.id ? [i] : []));
			assert.equal(left, 0);
			assert.equal(own.length, thread.samples);
			// Samples that follow each other share the calls that their stacks have in common.
			let calls = 1,
				before = [];
			own.forEach((i, place) => {
				const { stack, category } = stacks.find(({ id }) => id === samples[i][0]);
				const path = [`category ${category}`, ...stack];
				const isAfterGap = place > 0 && at[i] - at[own[place - 1]] > 3 * period;
				const differs = path.findIndex(
					(call, level) => isAfterGap || call !== before[level],
				);
				calls += differs < 0 ? 0 : path.length - differs;
				before = path;
			});
			assert.equal(tree.count, calls);
			const layout = model.lay(
				model.show(tree, state.frames, HIDINGS[0]),
				state.frames,
				"time",
			);
			own.forEach((i, place) => {
				const step = place + 1 < own.length ? at[own[place + 1]] - at[i] : period;
				const length = step > 3 * period ? period : step;
				const { stack } = stacks.find(({ id }) => id === samples[i][0]);
				expected.set(thread.id, (expected.get(thread.id) ?? 0) + length);
				// The calls that are open in the middle of the sample are those of its stack.
				stack.forEach((func, level) =>
					assert.equal(
						tree.frame[model.nodeAt(layout, level + 2, at[i] + length / 2)],
						func,
					),
				);
				assert.equal(model.nodeAt(layout, stack.length + 2, at[i] + length / 2), -1);
				if (step > 3 * period)
					assert.equal(
						model.nodeAt(layout, 1, at[i] + length + 1),
						-1,
						"a gap where the thread was off the CPU",
					);
			});
			assert.ok(
				Math.abs(
					tree.self.slice(0, tree.count).reduce((a, b) => a + b, 0) -
						expected.get(thread.id),
				) < 1e-6,
			);
		}
	}
}

function deepAndHostileFilesEnd() {
	for (const { state } of rounds(1, () => ({
		nodes: 3000,
		depth: 1000,
		functions: 600,
		deeper: 0.999,
	})))
		assert.ok(state.tree.depth.reduce((a, b) => Math.max(a, b)) >= 900);
	const state = new model.State(model.parseFile(JSON.stringify(hostileProfile())));
	assert.equal(
		state.tree.parent.slice(1, state.tree.count).every((parent, i) => parent <= i),
		true,
	);
	assert.ok(state.tree.total.every((total) => Number.isFinite(total) && total >= 0));
	assert.ok(state.tree.unreached > 0);
	assert.match(JSON.stringify(model.sections(state)), /in no category and not shown/);
	assert.throws(() => model.parseFile('{"Version":1}'), /version is 1/);
	assert.throws(() => model.parseFile('{"Version":2,"Categories":[]}'), /no list 'Nodes'/);
}

function textIsHarmless() {
	assert.equal(
		model.printable("a\u202eb\u0000c\u2028\ud800"),
		"a\\u{202e}b\\x00c\\u{2028}\\u{d800}",
	);
	assert.equal(model.printable("größe 关闭 😀"), "größe 关闭 😀");
	assert.equal(model.printable("x".repeat(1 << 20)).length, 160);
	assert.equal(model.shortPlace("app.lua:12"), "app.lua:12");
	assert.equal(
		model.shortPlace("/usr/share/lua/5.1/luacheck/stages/resolve_locals.lua:82"),
		"…/resolve_locals.lua:82",
	);
	assert.equal(model.printableCode("\tif a then\u0000", 99), "    if a then\\x00");
	assert.equal(model.percent(1, 100000), "<0.1%");
	assert.equal(model.percent(1, 0), "0.0%");
	assert.equal(model.duration(999600), "1.00 s");
	assert.equal(model.duration(75812), "75.8 ms");
	assert.equal(model.duration(12), "12 µs");
}

function theSummarySaysWhatIsHot() {
	const state = new model.State(model.parseFile(JSON.stringify(smallProfile())));
	const textOf = (sentence) =>
		sentence
			.map((part) =>
				typeof part === "string"
					? part
					: (part.text ?? state.frames.list[part.frame].label),
			)
			.join("");
	const all = model
		.sections(state)
		.flatMap(({ sentences }) => sentences.map(textOf))
		.join("\n");
	assert.equal(
		textOf(model.headline(state)),
		"1.00 s of CPU time in 2.00 s. is_prime took most by itself: 60.0%, 83.3% of that in line app.lua:5.",
	);
	assert.match(all, /How scripts ran: 50\.0% interpreted, 25\.0% compiled\./);
	assert.match(all, /The garbage collector took 100 ms \(10\.0%\)\./);
	assert.match(all, /Plugins, with what they called, took 250 ms \(25\.0%\)\./);
	assert.match(all, /99\.9% of 1,000 samples are whole/);
	assert.match(all, /no room for 1 record of/);
	assert.match(all, /main chunk calls is_prime/);
}

function aFunctionNeedsNoSource() {
	const profile = smallProfile();
	const hot = profile.Functions[1];
	const headline = (name) => {
		profile.Functions[1] = { Name: name, TotalDuration: hot.TotalDuration };
		const state = new model.State(model.parseFile(JSON.stringify(profile)));
		return state.frames.list[model.headline(state)[1].frame].label;
	};
	assert.equal(headline("is_prime"), "is_prime");
	assert.equal(headline("(host)"), "string.format <plugin> <native>");
	profile.Functions = [{ Name: "(unsampled)", TotalDuration: 1 }];
	const state = new model.State(model.parseFile(JSON.stringify(profile)));
	assert.match(model.headline(state).join(""), /None of it was in a function of a script/);
}

await run({
	nodesAddUp,
	functionsAddUp,
	functionsOfTheFocusAddUp,
	callersAndCalleesAddUp,
	bottomUpAddsUp,
	searchLeavesWhatLeadsToAMatch,
	linesAddUp,
	averagesAreOfTheSession,
	boxesLieInTheirCallers,
	theTimelineIsInOrder,
	deepAndHostileFilesEnd,
	textIsHarmless,
	theSummarySaysWhatIsHot,
	aFunctionNeedsNoSource,
});
