// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// One thread's samples in order of time, as a tree whose nodes are calls with a start: samples that
// follow each other share the calls that their stacks have in common. A sample lasts until the next
// one of its thread. Where that is late, the thread was off the CPU: the sample lasts one period,
// and a gap follows.

import type { ProfileFile } from "./file";
import type { Frames } from "./functions";
import { newTree, type ReadTree, type Tree } from "./tree";

export interface Thread {
	id: number;
	label: string;
	samples: number;
	times: Float64Array; // microseconds since the start
	nodes: Int32Array; // of the call tree
}

const CALLS_MAX = 4 << 20; // 200 MB of columns
const LATE = 3; // periods: timers vary their period at random

// Threads in order of their samples, the busiest first.
export function readThreads(file: ProfileFile, frames: Frames, read: ReadTree): Thread[] {
	const nodeOf = new Int32Array(file.Nodes.length + 1);
	const byThread = new Map<number, { times: number[]; nodes: number[] }>();
	let now = 0;

	if (!Array.isArray(file.Samples)) return [];
	for (let node = 1; node < read.tree.count; node++) nodeOf[read.ids[node] as number] = node;
	for (const sample of file.Samples) {
		if (!Array.isArray(sample) || !(sample[1] >= 0)) continue;
		now += sample[1];
		const node = nodeOf[sample[0]];
		if (!node) continue;
		let samples = byThread.get(sample[2]);
		if (!samples) byThread.set(sample[2], (samples = { times: [], nodes: [] }));
		samples.times.push(now);
		samples.nodes.push(node);
	}
	return [...byThread]
		.map(([id, { times, nodes }]) => ({
			id,
			label: threadLabel(id, categoryOf(read.tree, frames, nodes[0] as number)),
			samples: times.length,
			times: Float64Array.from(times),
			nodes: Int32Array.from(nodes),
		}))
		.sort((a, b) => b.samples - a.samples || a.id - b.id);
}

function categoryOf(tree: Tree, frames: Frames, node: number): string {
	while ((tree.parent[node] as number) > 0) node = tree.parent[node] as number;
	return frames.list[tree.frame[node] as number]?.label ?? "";
}

function threadLabel(id: number, category: string): string {
	return category.includes(String(id)) ? category : `${category} (thread ${id})`;
}

function medianStep(times: Float64Array): number {
	const steps = times
		.slice(1)
		.map((time, i) => time - (times[i] as number))
		.sort();
	return steps[steps.length >> 1] || 1;
}

// How long each sample lasts.
function lengths(times: Float64Array, periodUs: number): Float64Array {
	const period = periodUs > 0 ? periodUs : medianStep(times);
	return times.map((time, i) => {
		const step = i + 1 < times.length ? (times[i + 1] as number) - time : period;
		return step > period * LATE ? period : step;
	});
}

function grow(tree: Tree): void {
	const larger = newTree(tree.frame.length * 2);

	for (const column of ["frame", "parent", "depth", "self"] as const) {
		larger[column].set(tree[column]);
		(tree[column] as Int32Array | Float64Array) = larger[column];
	}
	const start = new Float64Array(larger.frame.length);
	start.set(tree.start as Float64Array);
	tree.start = start;
	tree.end = larger.end;
	tree.total = larger.total;
}

class Builder {
	readonly tree: Tree = newTree(1024);
	private readonly open: { from: number; node: number }[] = [{ from: 0, node: 0 }];

	constructor(private readonly calls: Tree) {
		this.tree.start = new Float64Array(1024);
		this.tree.parent[0] = -1;
		this.tree.count = 1;
	}

	private push(from: number, time: number): void {
		const { tree } = this;
		const up = (this.open[this.open.length - 1] as { node: number }).node;

		if (tree.count === tree.frame.length) grow(tree);
		const node = tree.count++;
		tree.frame[node] = this.calls.frame[from] as number;
		tree.parent[node] = up;
		tree.depth[node] = this.open.length;
		(tree.start as Float64Array)[node] = time;
		this.open.push({ from, node });
	}

	// Ends all calls: a gap follows.
	close(): void {
		this.open.length = 1;
	}

	add(leaf: number, time: number, length: number): void {
		const path: number[] = [];
		for (let from = leaf; from > 0; from = this.calls.parent[from] as number) path.push(from);
		path.reverse();
		let common = 0;
		while (common < path.length && this.open[common + 1]?.from === path[common]) common++;
		this.open.length = common + 1;
		for (const from of path.slice(common)) this.push(from, time);
		const node = (this.open[this.open.length - 1] as { node: number }).node;
		this.tree.self[node] = (this.tree.self[node] as number) + length;
	}
}

function finish(tree: Tree, wholeUs: number): void {
	const { count, parent, end, self, total } = tree;

	for (let node = 0; node < count; node++) end[node] = node + 1;
	for (let node = count - 1; node > 0; node--) {
		const up = parent[node] as number;
		if ((end[node] as number) > (end[up] as number)) end[up] = end[node] as number;
		total[node] = (total[node] as number) + (self[node] as number);
		total[up] = (total[up] as number) + (total[node] as number);
	}
	total[0] = wholeUs;
}

export interface ThreadTree {
	tree: Tree;
	left: number; // samples after those that the tree has room for
}

export function threadTree(thread: Thread, calls: Tree, periodUs: number): ThreadTree {
	const builder = new Builder(calls);
	const length = lengths(thread.times, periodUs);
	let end = 0,
		i = 0;

	for (; i < thread.samples && builder.tree.count < CALLS_MAX; i++) {
		const time = thread.times[i] as number;
		if (time > end) builder.close();
		builder.add(thread.nodes[i] as number, time, length[i] as number);
		end = time + (length[i] as number);
	}
	finish(builder.tree, end);
	return { tree: builder.tree, left: thread.samples - i };
}
