// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The call tree upside down: functions by self time, below each its callers. Rows are made on
// demand, since there may be as many as the tree has stacks.

import type { Shown } from "./shown";

export interface Inverted {
	frame: number; // a base
	self: number; // self time of the function at the top of the chain, when called this way
	at: Int32Array; // the nodes of `frame` in which these chains are now
	leaves: Int32Array; // and those in which they began
}

function rank(groups: Map<number, { at: number[]; leaves: number[]; self: number }>): Inverted[] {
	return [...groups]
		.map(([frame, group]) => ({
			frame,
			self: group.self,
			at: Int32Array.from(group.at),
			leaves: Int32Array.from(group.leaves),
		}))
		.sort((a, b) => b.self - a.self || a.frame - b.frame);
}

class Grouping {
	private readonly groups = new Map<number, { at: number[]; leaves: number[]; self: number }>();

	add(frame: number, at: number, leaf: number, self: number): void {
		let group = this.groups.get(frame);
		if (!group) this.groups.set(frame, (group = { at: [], leaves: [], self: 0 }));
		group.at.push(at);
		group.leaves.push(leaf);
		group.self += self;
	}

	ranked(): Inverted[] {
		return rank(this.groups);
	}
}

export function invert(shown: Shown, base: Int32Array, top = 0): Inverted[] {
	const { tree, hidden } = shown;
	const grouping = new Grouping();

	for (let node = Math.max(top, 1); node < (tree.end[top] as number); node++)
		if (!hidden[node] && (tree.self[node] as number) > 0)
			grouping.add(
				base[tree.frame[node] as number] as number,
				node,
				node,
				tree.self[node] as number,
			);
	return grouping.ranked();
}

// The callers, up to the child of `top`, or to `top` itself if that is a function.
export function callersOf(shown: Shown, base: Int32Array, row: Inverted, top = 0): Inverted[] {
	const { tree } = shown;
	const grouping = new Grouping();

	for (let i = 0; i < row.at.length; i++) {
		const at = row.at[i] as number,
			leaf = row.leaves[i] as number;
		const up = tree.parent[at] as number;
		if (at !== top && up > 0)
			grouping.add(
				base[tree.frame[up] as number] as number,
				up,
				leaf,
				tree.self[leaf] as number,
			);
	}
	return grouping.ranked();
}
