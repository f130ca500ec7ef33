// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The profile in words. A sentence is a list of texts and of functions, which can be followed.

import { count, duration, percent, plural, printable, shortPlace } from "../base/text";
import type { FileRecorder } from "../profile/file";
import { linesOf } from "../profile/lines";
import { relatives } from "../profile/totals";
import type { State } from "../state";

export type Part = string | { frame: number; text?: string };
export type Sentence = Part[];

const FUNCTIONS = 3; // that the text names
const PATH_MAX = 10; // calls at the end of the hottest path

export function targetOf(state: State): string {
	const { Recorder: recorder, Categories: categories } = state.file;
	return printable(String(recorder?.Target ?? "") || categories[0]?.Name || "profile");
}

function hottest(state: State): { frame: number; self: number; total: number }[] {
	return state
		.functionTimes()
		.filter(
			({ frame, self }) =>
				self > 0 &&
				!state.frames.list[frame]?.isPseudo &&
				!state.frames.list[frame]?.isGc,
		)
		.sort((a, b) => b.self - a.self);
}

// If no line is known, as in a C function, users should look at its callers next.
function callerOf(state: State, frame: number): Part[] {
	const { callers } = relatives(state.shown, state.base, frame, state.focus);
	const caller = callers[0];

	if (!caller || !state.isFunction(caller.frame)) return [];
	return [callers.length > 1 ? ", called mostly by " : ", called by ", { frame: caller.frame }];
}

function lineOf(state: State, frame: number): Part[] {
	const lines = linesOf(state.frames, state.frameSelf, frame).sort((a, b) => b.us - a.us);
	const whole = lines.reduce((sum, line) => sum + line.us, 0);
	const hot = lines[0];

	if (!hot || !(whole > 0)) return callerOf(state, frame);
	const source = printable(state.frames.list[frame]?.source ?? "");
	const share = percent(hot.us, whole);
	return [
		share === "100.0%" ? ", all of it in line " : `, ${share} of that in line `,
		{ frame, text: shortPlace(`${source}:${hot.line}`) },
	];
}

// What a reader should know first.
export function headline(state: State): Sentence {
	const recorder = state.file.Recorder;
	const wall = recorder?.WallDuration ?? state.sessionUs;
	const time = duration(state.allUs) + " of CPU time" + (wall > 0 ? ` in ${duration(wall)}` : "");
	const hot = hottest(state)[0];

	if (!(state.allUs > 0)) return ["No CPU time was sampled."];
	if (!hot) return [`${time}. None of it was in a function of a script.`];
	return [
		`${time}. `,
		{ frame: hot.frame },
		` took most by itself: ${state.share(hot.self)}`,
		...lineOf(state, hot.frame),
		".",
	];
}

function hotSentences(state: State): Sentence[] {
	return hottest(state)
		.slice(0, FUNCTIONS)
		.map(({ frame, self, total }) => [
			{ frame },
			` took ${duration(self)} itself (${state.share(self)})`,
			...lineOf(state, frame),
			total > self * 1.05
				? `; with what it called, ${duration(total)} (${state.share(total)}).`
				: ".",
		]);
}

// The hottest path, from the outermost function to where the time splits up.
function pathSentence(state: State): Sentence {
	const { tree, shown } = state;
	const sentence: Sentence = [];
	let node = 0,
		time = state.allUs;

	for (;;) {
		let best = -1;
		for (
			let child = node + 1;
			child < (tree.end[node] as number);
			child = tree.end[child] as number
		)
			if (
				!shown.hidden[child] &&
				(best < 0 || (shown.total[child] as number) > (shown.total[best] as number))
			)
				best = child;
		if (best < 0 || (shown.total[best] as number) < state.allUs / 3) break;
		time = shown.total[best] as number;
		node = best;
		if (!state.frameOf(node).isCategory)
			sentence.push(sentence.length ? " calls " : "", { frame: tree.frame[node] as number });
	}
	const end = sentence.length > 2 * PATH_MAX ? ["…", ...sentence.slice(-2 * PATH_MAX)] : sentence;
	return sentence.length > 2
		? ["The hottest path: ", ...end, `; ${state.share(time)} of all time is at its end.`]
		: [];
}

function hiddenSentences(state: State): Sentence[] {
	const sentences: Sentence[] = [];
	const whole = state.tree.total[0] as number;
	const say = (what: string, us: number, isHidden: boolean): void => {
		if (us > 0)
			sentences.push([
				`${what} took ${duration(us)} (${percent(us, whole)})${isHidden ? ", which is hidden now" : ""}.`,
			]);
	};

	say("The garbage collector", state.gcUs, state.hiding.gc);
	say("Plugins, with what they called,", state.pluginUs, state.hiding.plugins);
	return sentences;
}

const PARTS: [key: string, words: string][] = [
	["Interpreted", "interpreted"],
	["Compiled", "compiled"],
	["C", "in C"],
	["Compiler", "in the compiler"],
	["TraceExit", "leaving machine code"],
];

// What VMs with a compiler did; the garbage collector has a sentence of its own.
function splitSentences(state: State): Sentence[] {
	const split = state.file.Recorder?.ScriptDuration;
	const whole = state.tree.total[0] as number;
	const parts = PARTS.flatMap(([key, words]) => {
		const us = split?.[key];
		return typeof us === "number" && us > 0 ? [`${percent(us, whole)} ${words}`] : [];
	});

	return parts.length ? [[`How scripts ran: ${parts.join(", ")}.`]] : [];
}

// Counters of the recorder that are shown unless they are 0.
const LOSSES: [key: keyof FileRecorder, sentence: (value: number) => string][] = [
	["Unsampled", (us) => `${duration(us)} of CPU time are covered by no sample: see (unsampled).`],
	["UnnamedCalls", (n) => `Of ${plural(n, "call site")}, the name could not be read.`],
	["UnknownLines", (n) => `Of ${plural(n, "sample")}, the line could not be read.`],
	["UnkeptLines", (n) => `Of ${plural(n, "sample")}, the VM does not keep the line.`],
	["StackLookupsRefused", (n) => `The kernel refused ${plural(n, "look-up")} of stack bounds.`],
	[
		"EvictedFunctions",
		(n) => `${plural(n, "function")} with few samples had to make room: see (other).`,
	],
	["EvictedSamples", (n) => `${plural(n, "sample")} went to (other).`],
	[
		"LostRecords",
		(n) => `There was no room for ${plural(n, "record")} of functions, threads or processes.`,
	],
	["MissedProcesses", (n) => `${plural(n, "process")} could not be inspected or sampled.`],
	["IgnoredSamples", (n) => `${plural(n, "sample")} were in functions that --ignore removed.`],
	["UntimedSamples", (n) => `${plural(n, "sample")} had no room on the timeline.`],
	["PausedDuration", (us) => `Sampling was paused for ${duration(us)}.`],
];

function sampleSentences(state: State): Sentence[] {
	const recorder = state.file.Recorder;
	const samples = recorder?.Samples;
	const sentences: Sentence[] = [];

	if (!recorder) return [["The file does not say how it was recorded."]];
	if (samples) {
		const whole = (samples["complete"] ?? 0) + (samples["host"] ?? 0);
		sentences.push([
			`${percent(whole, samples.total)} of ${plural(samples.total, "sample")} are whole.`,
		]);
	}
	for (const reason of Array.isArray(recorder.Reasons) ? recorder.Reasons : [])
		sentences.push([
			`${plural(Number(reason.Count), "sample")}: ${printable(String(reason.Sentence), 300)} (${printable(String(reason.Class))}).`,
		]);
	for (const [key, sentence] of LOSSES) {
		const value = recorder[key];
		if (typeof value === "number" && value > 0) sentences.push([sentence(value)]);
	}
	if (state.tree.unreached)
		sentences.push([
			`${plural(state.tree.unreached, "node")} of the file ${state.tree.unreached === 1 ? "is" : "are"} in no category and not shown.`,
		]);
	return sentences;
}

export interface Section {
	title: string;
	sentences: Sentence[];
}

export function sections(state: State): Section[] {
	const path = pathSentence(state);
	return [
		{
			title: "Where the time went",
			sentences: [
				...hotSentences(state).slice(0, FUNCTIONS),
				...(path.length ? [path] : []),
				...splitSentences(state),
				...hiddenSentences(state),
			],
		},
		{ title: "How much of it is known", sentences: sampleSentences(state) },
	].filter(({ sentences }) => sentences.length > 0);
}

// What was recorded, and how.
export function facts(state: State): [term: string, value: string][] {
	const { file } = state;
	const recorder = file.Recorder ?? {};
	const all: [string, unknown][] = [
		["Target", recorder.Target],
		["Interpreter", recorder.Interpreter],
		["Layout", recorder.Layout],
		["Garbage collector", recorder.Collector ?? recorder.CollectorUnknown],
		["Host", recorder.Host],
		[
			"Recorded at",
			file.SessionStartTime ? new Date(file.SessionStartTime).toLocaleString() : undefined,
		],
		["Frequency", recorder.Frequency ? `${count(recorder.Frequency)} Hz` : undefined],
		[
			"Size",
			`${plural(state.tree.count - 1, "node")}, ${plural(state.frames.functionCount, "function")}, ${plural(file.Categories.length, "category").replace("categorys", "categories")}`,
		],
		["Recorded by", recorder.Version ? `luaspy ${recorder.Version}` : undefined],
	];
	return all
		.filter(([, value]) => value !== undefined && value !== null && value !== "")
		.map(([term, value]) => [term, printable(String(value), 500)]);
}
