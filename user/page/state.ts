// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// What the user looks at, and the only place where that changes. Views draw from here, and are told
// to redraw after each change.

import { milliseconds, percent } from "./base/text";
import type { ProfileFile } from "./profile/file";
import { readFrames, type Frame, type Frames } from "./profile/functions";
import { find, Searcher, type Found } from "./profile/search";
import { show, timeOf, type Hiding, type Shown } from "./profile/shown";
import { readThreads, threadTree, type Thread, type ThreadTree } from "./profile/timeline";
import { bases, functionTimes, type FunctionTime } from "./profile/totals";
import { readTree, type ReadTree, type Tree } from "./profile/tree";

export type View = "summary" | "flame" | "tree" | "bottom-up" | "functions" | "lines";
export const AVERAGES = [0, 1, 60, 300, 600] as const; // seconds; 0: totals

export class State {
	readonly frames: Frames;
	readonly base: Int32Array;
	readonly read: ReadTree;
	readonly tree: Tree;
	readonly threads: Thread[];
	readonly gcUs: number;
	readonly pluginUs: number;
	readonly sessionUs: number; // 0: not known

	view: View = "flame";
	hiding: Hiding = { gc: false, plugins: false };
	shown: Shown;
	query = "";
	found: Found | null = null;
	focus = 0;
	selected = 0; // a node
	chosen = 0; // a function, in the view of functions
	average = 0;

	private past: number[] = [];
	private readonly searcher: Searcher;
	private readonly listeners: (() => void)[] = [];
	private times: { key: string; list: FunctionTime[] } | null = null;
	private selfTimes: Float64Array | null = null;
	private threadTrees = new Map<Thread, ThreadTree>();

	constructor(readonly file: ProfileFile) {
		this.frames = readFrames(file);
		this.base = bases(this.frames);
		this.read = readTree(file, this.frames);
		this.tree = this.read.tree;
		this.threads = readThreads(file, this.frames, this.read);
		this.gcUs = timeOf(this.tree, this.frames.gc);
		this.pluginUs = timeOf(this.tree, this.frames.plugin);
		this.sessionUs = this.sessionLength();
		this.searcher = new Searcher(this.frames);
		this.shown = show(this.tree, this.frames, this.hiding);
	}

	private sessionLength(): number {
		const { SessionStartTime: start, SessionEndTime: end } = this.file;
		const length =
			typeof start === "number" && typeof end === "number" ? (end - start) * 1000 : 0;
		return Number.isFinite(length) && length > 0 ? length : 0;
	}

	onChange(listener: () => void): void {
		this.listeners.push(listener);
	}

	changed(): void {
		for (const listener of this.listeners) listener();
	}

	frameOf(node: number): Frame {
		return this.frames.list[this.tree.frame[node] as number] as Frame;
	}

	get allUs(): number {
		return this.shown.total[0] as number;
	}

	// Roblox's average: the time per second, per minute and so on of the session.
	get scale(): number {
		return this.average && this.sessionUs ? (this.average * 1e6) / this.sessionUs : 1;
	}

	time(us: number): string {
		return milliseconds(us * this.scale);
	}

	share(us: number): string {
		return percent(us, this.allUs);
	}

	isFunction = (frame: number): boolean => !this.frames.list[frame]?.isCategory;

	// Self time by frame, of the whole tree.
	get frameSelf(): Float64Array {
		if (this.selfTimes) return this.selfTimes;
		const self = new Float64Array(this.frames.list.length);
		for (let node = 1; node < this.tree.count; node++)
			self[this.tree.frame[node] as number] =
				(self[this.tree.frame[node] as number] as number) +
				(this.tree.self[node] as number);
		return (this.selfTimes = self);
	}

	// The times of the functions in what has the focus.
	functionTimes(): FunctionTime[] {
		const key = `${this.focus} ${+this.hiding.gc}${+this.hiding.plugins}`;
		if (this.times?.key !== key)
			this.times = {
				key,
				list: functionTimes(this.shown, this.base, this.isFunction, this.focus),
			};
		return this.times.list;
	}

	threadTree(thread: Thread): ThreadTree {
		let made = this.threadTrees.get(thread);
		if (!made) {
			made = threadTree(thread, this.tree, this.file.Recorder?.Period ?? 0);
			this.threadTrees.clear();
			this.threadTrees.set(thread, made);
		}
		return made;
	}

	findIn(shown: Shown): Found | null {
		return this.query ? find(shown, this.searcher.matches(this.query)) : null;
	}

	setView(view: View): void {
		this.view = view;
		this.changed();
	}

	setHiding(hiding: Partial<Hiding>): void {
		this.hiding = { ...this.hiding, ...hiding };
		this.shown = show(this.tree, this.frames, this.hiding);
		while (this.shown.hidden[this.focus]) this.focus = this.tree.parent[this.focus] as number;
		this.found = this.findIn(this.shown);
		this.changed();
	}

	setQuery(query: string): void {
		this.query = query;
		this.found = this.findIn(this.shown);
		this.changed();
	}

	setAverage(seconds: number): void {
		this.average = seconds;
		this.changed();
	}

	setFocus(node: number): void {
		if (node === this.focus) return;
		this.past.push(this.focus);
		this.focus = node;
		this.selected = node;
		this.changed();
	}

	// Returns whether there was a focus to go back from.
	back(): boolean {
		if (!this.past.length && !this.focus) return false;
		this.selected = this.focus;
		this.focus = this.past.pop() ?? 0;
		while (this.shown.hidden[this.focus]) this.focus = this.tree.parent[this.focus] as number;
		this.changed();
		return true;
	}

	openFunction(frame: number): void {
		this.chosen = this.base[frame] as number;
		this.setView("functions");
	}
}
