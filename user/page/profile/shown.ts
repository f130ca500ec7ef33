// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// A tree without what the user turned off: garbage collection, plugins. A node is hidden with all
// that it called, and its time is subtracted from its callers, so totals still add up.

import type { Frames } from "./functions";
import type { Tree } from "./tree";

export interface Hiding {
	gc: boolean;
	plugins: boolean;
}

export interface Shown {
	tree: Tree;
	hidden: Uint8Array; // by node
	total: Float64Array; // by node, without what is hidden
}

export function show(tree: Tree, frames: Frames, hiding: Hiding): Shown {
	if (!hiding.gc && !hiding.plugins)
		return { tree, hidden: new Uint8Array(tree.count), total: tree.total };
	const { count, parent, frame, self } = tree;
	const hidden = new Uint8Array(count);
	const total = new Float64Array(count);

	for (let node = 1; node < count; node++) {
		const id = frame[node] as number;
		hidden[node] =
			hidden[parent[node] as number] ||
			(hiding.gc && frames.gc[id]) ||
			(hiding.plugins && frames.plugin[id])
				? 1
				: 0;
	}
	for (let node = count - 1; node > 0; node--) {
		if (hidden[node]) continue;
		const up = parent[node] as number;
		total[node] = (total[node] as number) + (self[node] as number);
		total[up] = (total[up] as number) + (total[node] as number);
	}
	return { tree, hidden, total };
}

// The time of all frames that `isOne` marks, with what they called: the time that hiding them would
// subtract.
export function timeOf(tree: Tree, isOne: Uint8Array): number {
	let sum = 0;

	for (let node = 1; node < tree.count;) {
		const isMarked = isOne[tree.frame[node] as number];
		if (isMarked) sum += tree.total[node] as number;
		node = isMarked ? (tree.end[node] as number) : node + 1;
	}
	return sum;
}
