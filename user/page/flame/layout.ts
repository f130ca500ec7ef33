// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Where the boxes of the flame graph are: for each depth its nodes from left to right, and for each
// node where it starts, in microseconds.

import type { Frames } from "../profile/functions";
import type { Shown } from "../profile/shown";

export type Order = "merged" | "heavy" | "time";

export interface Layout {
	shown: Shown;
	rows: Int32Array[]; // by depth
	start: Float64Array; // by node
	width: Float64Array;
	from: number; // the bounds of everything
	to: number;
}

type Compare = (a: number, b: number) => number;

// By name, so that two recordings of a program look alike; or the heaviest first.
function comparison(shown: Shown, frames: Frames, order: Order): Compare | null {
	const { tree, total } = shown;

	if (order === "time") return null;
	if (order === "heavy") return (a, b) => (total[b] as number) - (total[a] as number) || a - b;
	const byName = frames.list.map((_, id) => id);
	const key = (id: number): string => `${frames.list[id]?.label}\0${frames.list[id]?.place}`;
	const keys = byName.map(key);
	byName.sort((a, b) => ((keys[a] as string) < (keys[b] as string) ? -1 : 1));
	const rank = new Int32Array(byName.length);
	byName.forEach((id, place) => (rank[id] = place));
	return (a, b) =>
		(rank[tree.frame[a] as number] as number) - (rank[tree.frame[b] as number] as number) ||
		a - b;
}

function sortChildren(children: number[], compare: Compare): void {
	if (children.length > 8) {
		children.sort(compare);
		return;
	}
	for (let i = 1; i < children.length; i++) {
		const child = children[i] as number;
		let at = i;
		for (; at > 0 && compare(children[at - 1] as number, child) > 0; at--)
			children[at] = children[at - 1] as number;
		children[at] = child;
	}
}

export function lay(shown: Shown, frames: Frames, order: Order): Layout {
	const { tree, hidden, total } = shown;
	const compare = comparison(shown, frames, order);
	const start = tree.start ?? new Float64Array(tree.count);
	const rows: Int32Array[] = [];
	const children: number[] = [];

	for (let row = Int32Array.of(0); row.length;) {
		const next: number[] = [];
		rows.push(row);
		for (const node of row) {
			const end = tree.end[node] as number;
			children.length = 0;
			for (let child = node + 1; child < end; child = tree.end[child] as number)
				if (!hidden[child] && (total[child] as number) > 0) children.push(child);
			if (compare) sortChildren(children, compare);
			let at = start[node] as number;
			for (const child of children) {
				if (compare) start[child] = at;
				at += total[child] as number;
				next.push(child);
			}
		}
		row = Int32Array.from(next);
	}
	const from = start[0] as number;
	// In order of time a box is as wide as it lasted, whatever in it is hidden.
	const width = tree.start ? tree.total : total;
	return { shown, rows, start, width, from, to: from + (width[0] as number) };
}
