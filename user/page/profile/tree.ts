// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The call tree in columns. Nodes are numbered in preorder, so the subtree of node n is n to
// end[n] - 1, the first child of n is n + 1, and the sibling after c is end[c]. Node 0 is the sum
// of the categories.

import type { ProfileFile } from "./file";
import type { Frames } from "./functions";

export interface Tree {
	count: number;
	frame: Int32Array;
	parent: Int32Array; // -1 for node 0
	depth: Int32Array;
	end: Int32Array;
	self: Float64Array; // microseconds
	total: Float64Array;
	start: Float64Array | null; // in trees in order of time: where it begins
	unreached: number; // nodes of the file that are in no category, or in a second place
}

export function newTree(most: number): Tree {
	return {
		count: 0,
		frame: new Int32Array(most),
		parent: new Int32Array(most),
		depth: new Int32Array(most),
		end: new Int32Array(most),
		self: new Float64Array(most),
		total: new Float64Array(most),
		start: null,
		unreached: 0,
	};
}

function validTotal(value: unknown): number {
	return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

// Numbers the nodes on the way down. A node is taken at most once, so cycles and shared children
// end there; node ids of the file are kept in `ids`.
function walk(file: ProfileFile, frames: Frames, tree: Tree, ids: Int32Array): void {
	const taken = new Uint8Array(file.Nodes.length + 1);
	const pending: number[] = []; // triples: file node, frame, parent

	const take = (id: number, frame: number, parent: number): void => {
		const entry = file.Nodes[id - 1];
		const node = tree.count++;

		ids[node] = id;
		tree.frame[node] = frame;
		tree.parent[node] = parent;
		tree.depth[node] = (tree.depth[parent] as number) + 1;
		tree.total[node] = validTotal(entry?.TotalDuration);
		const functions = entry?.FunctionIds,
			nodes = entry?.NodeIds;
		if (!Array.isArray(functions) || !Array.isArray(nodes)) return;
		for (let i = Math.min(functions.length, nodes.length) - 1; i >= 0; i--) {
			const child = nodes[i] as number,
				called = functions[i] as number;
			if (file.Nodes[child - 1] && called >= 1 && called <= frames.functionCount)
				pending.push(child, called, node);
		}
	};

	for (let i = file.Categories.length - 1; i >= 0; i--) {
		const id = file.Categories[i]?.NodeId as number;
		if (file.Nodes[id - 1]) pending.push(id, frames.functionCount + 1 + i, 0);
	}
	while (pending.length) {
		const parent = pending.pop() as number;
		const frame = pending.pop() as number;
		const id = pending.pop() as number;
		if (taken[id]) continue;
		taken[id] = 1;
		take(id, frame, parent);
	}
}

// Computes ends of subtrees and self times, from the last node to the first. If children have more
// than their parent's total, which no honest file has, the total grows.
function closeTree(tree: Tree): void {
	const { count, parent, end, self, total } = tree;
	const below = new Float64Array(count);

	for (let node = 0; node < count; node++) end[node] = node + 1;
	for (let node = count - 1; node > 0; node--) {
		const up = parent[node] as number;
		if ((end[node] as number) > (end[up] as number)) end[up] = end[node] as number;
		if ((below[node] as number) > (total[node] as number)) total[node] = below[node] as number;
		self[node] = (total[node] as number) - (below[node] as number);
		below[up] = (below[up] as number) + (total[node] as number);
	}
	total[0] = below[0] ?? 0;
	self[0] = 0;
}

export interface ReadTree {
	tree: Tree;
	ids: Int32Array; // by node: its id in the file; 0 for node 0
}

export function readTree(file: ProfileFile, frames: Frames): ReadTree {
	const tree = newTree(file.Nodes.length + 1);
	const ids = new Int32Array(file.Nodes.length + 1);

	tree.parent[0] = -1;
	tree.count = 1;
	walk(file, frames, tree, ids);
	closeTree(tree);
	tree.unreached = file.Nodes.length + 1 - tree.count;
	return { tree, ids };
}
