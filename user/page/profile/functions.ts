// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Names of the tree's frames: frame 0, which stands for everything, then the file's functions, then
// its categories. Entries of one function that differ only in the current line have one `base`.

import { printable } from "../base/text";
import { NATIVE, PLUGIN, type FileFunction, type ProfileFile } from "./file";

export interface Frame {
	name: string; // as in the file; may hold anything
	label: string; // to be shown
	place: string; // "app.lua:12", to be shown; "" if there is none
	source: string; // as in the file
	line: number; // of the definition; 0: none
	current: number; // the line that the entry is for; 0: any
	base: number; // the entry without a current line, or itself
	isNative: boolean;
	isPlugin: boolean;
	isGc: boolean;
	isPseudo: boolean; // of the recorder's own: time that is no function's
	isScript: boolean;
	isCategory: boolean;
	lines: [line: number, us: number, samples: number][];
}

export interface Frames {
	list: Frame[];
	functionCount: number; // 1 to this are the file's functions
	gc: Uint8Array; // by frame: whether it is the garbage collector
	plugin: Uint8Array;
}

// Functions in files of others may lack a source, too.
const PSEUDO = new Set([
	"(host)",
	"(unreadable)",
	"(unsampled)",
	"(coroutine)",
	"(collected)",
	"(truncated)",
	"(other)",
	"(other coroutines)",
	"(ignored)",
	"(program)",
]);

function whole(value: unknown): number {
	return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}

function text(value: unknown): string {
	return typeof value === "string" ? value : "";
}

function linesOf(entry: FileFunction): Frame["lines"] {
	if (!Array.isArray(entry.Lines)) return [];
	return entry.Lines.filter((line) => Array.isArray(line) && whole(line[0]) > 0).map((line) => [
		whole(line[0]),
		whole(line[1]),
		whole(line[2]),
	]);
}

// The suffixes are those of Roblox's profiler: users read the kind of a function instead of
// guessing it from a colour.
function labelOf(entry: FileFunction): string {
	const flags = whole(entry.Flags);
	const current = whole(entry.CurrentLine);
	return (
		(entry.Name ? printable(entry.Name) : "<anonymous>") +
		(current ? ` at :${current}` : "") +
		(flags & PLUGIN ? " <plugin>" : "") +
		(flags & NATIVE ? " <native>" : "")
	);
}

function placeOf(entry: FileFunction): string {
	const source = printable(text(entry.Source));
	const line = whole(entry.Line);
	return source && line ? `${source}:${line}` : source;
}

function frameOf(entry: FileFunction, id: number, gcId: number): Frame {
	const flags = whole(entry.Flags);
	const isGc = id === gcId || (entry.Source === "GC" && entry.Name === "GC" && !entry.Line);
	return {
		name: text(entry.Name),
		label: labelOf(entry),
		place: isGc ? "" : placeOf(entry),
		source: text(entry.Source),
		line: whole(entry.Line),
		current: whole(entry.CurrentLine),
		base: id,
		isNative: (flags & NATIVE) !== 0,
		isPlugin: (flags & PLUGIN) !== 0,
		isGc,
		isPseudo: !text(entry.Source) && PSEUDO.has(text(entry.Name)),
		isScript: !isGc && whole(entry.Line) + whole(entry.CurrentLine) > 0,
		isCategory: false,
		lines: linesOf(entry),
	};
}

function plainFrame(name: string, id: number, isCategory: boolean): Frame {
	return {
		name,
		label: printable(name),
		place: "",
		source: "",
		line: 0,
		current: 0,
		base: id,
		isNative: false,
		isPlugin: false,
		isGc: false,
		isPseudo: false,
		isScript: false,
		isCategory,
		lines: [],
	};
}

// Entries with a current line belong to the entry without, or else to the first of their kind.
function joinEntries(list: Frame[], entries: FileFunction[]): void {
	const bases = new Map<string, number>();
	const key = (frame: Frame): string =>
		`${frame.source}\0${frame.name}\0${frame.line}\0${+frame.isNative}${+frame.isPlugin}`;
	const isAtLine = (id: number): boolean => whole(entries[id - 1]?.CurrentLine) > 0;

	if (!entries.some((entry) => entry?.CurrentLine)) return;
	for (const first of [false, true])
		for (let id = 1; id <= entries.length; id++) {
			const frame = list[id] as Frame;
			if (isAtLine(id) !== first) continue;
			const base = bases.get(key(frame));
			if (base === undefined) bases.set(key(frame), id);
			else if (first) frame.base = base;
		}
}

export function readFrames(file: ProfileFile): Frames {
	const list: Frame[] = [plainFrame("all", 0, true)];
	const gcId = whole(file.GCFuncId);

	file.Functions.forEach((entry, index) => {
		list.push(frameOf(entry ?? { TotalDuration: 0 }, index + 1, gcId));
	});
	joinEntries(list, file.Functions);
	for (const category of file.Categories)
		list.push(plainFrame(text(category?.Name) || "<category>", list.length, true));
	return {
		list,
		functionCount: file.Functions.length,
		gc: Uint8Array.from(list, (frame) => +frame.isGc),
		plugin: Uint8Array.from(list, (frame) => +frame.isPlugin),
	};
}

// The label of a function, without a current line.
export function baseLabel(frames: Frames, id: number): string {
	const frame = frames.list[id] as Frame;
	return frame.label.replace(/ at :\d+/, "");
}
