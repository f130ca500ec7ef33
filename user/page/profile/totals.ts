// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Times of functions in a subtree, and between functions. Recursion counts once: of nested calls of
// a function only the outermost one adds to its total.

import type { Frames } from "./functions";
import type { Shown } from "./shown";

export interface FunctionTime {
	frame: number;
	self: number;
	total: number;
}

// Calls `enter` for each node of the subtree of `top` that is not hidden, in preorder, and `leave`
// after its last descendant.
function visit(
	shown: Shown,
	top: number,
	enter: (node: number) => void,
	leave: (node: number) => void,
): void {
	const { tree, hidden } = shown;
	const last = tree.end[top] as number;
	const open: number[] = [];

	for (let node = top; node < last;) {
		while (open.length && (tree.end[open[open.length - 1] as number] as number) <= node)
			leave(open.pop() as number);
		if (hidden[node]) {
			node = tree.end[node] as number;
			continue;
		}
		enter(node);
		open.push(node++);
	}
	while (open.length) leave(open.pop() as number);
}

export function bases(frames: Frames): Int32Array {
	return Int32Array.from(frames.list, (frame) => frame.base);
}

// Functions that have time in the subtree of `top`, categories left out, in no order.
export function functionTimes(
	shown: Shown,
	base: Int32Array,
	isFunction: (frame: number) => boolean,
	top = 0,
): FunctionTime[] {
	const { tree, total } = shown;
	const self = new Float64Array(base.length),
		sum = new Float64Array(base.length);
	const open = new Int32Array(base.length),
		seen = new Uint8Array(base.length);

	visit(
		shown,
		top,
		(node) => {
			const id = base[tree.frame[node] as number] as number;
			seen[id] = 1;
			self[id] = (self[id] as number) + (tree.self[node] as number);
			if (!open[id]) sum[id] = (sum[id] as number) + (total[node] as number);
			open[id] = (open[id] as number) + 1;
		},
		(node) => {
			const id = base[tree.frame[node] as number] as number;
			open[id] = (open[id] as number) - 1;
		},
	);
	const times: FunctionTime[] = [];
	for (let id = 1; id < base.length; id++)
		if (seen[id] && isFunction(id))
			times.push({ frame: id, self: self[id] as number, total: sum[id] as number });
	return times;
}

export interface Relatives {
	callers: { frame: number; time: number }[]; // add up to the function's total
	callees: { frame: number; time: number }[];
}

function ranked(times: Map<number, number>): { frame: number; time: number }[] {
	return [...times]
		.map(([frame, time]) => ({ frame, time }))
		.sort((a, b) => b.time - a.time || a.frame - b.frame);
}

// Who called `wanted`, for how much of its time; and what it called, each callee's time once.
export function relatives(shown: Shown, base: Int32Array, wanted: number, top = 0): Relatives {
	const { tree, total } = shown;
	const callers = new Map<number, number>(),
		callees = new Map<number, number>();
	const openCallees = new Map<number, number>();
	let open = 0;
	const idOf = (node: number): number => base[tree.frame[node] as number] as number;
	const isCallee = (node: number): boolean =>
		node !== top && idOf(tree.parent[node] as number) === wanted;
	const add = (times: Map<number, number>, id: number, time: number): void => {
		times.set(id, (times.get(id) ?? 0) + time);
	};

	visit(
		shown,
		top,
		(node) => {
			const id = idOf(node);
			if (isCallee(node)) {
				if (!openCallees.get(id)) add(callees, id, total[node] as number);
				add(openCallees, id, 1);
			}
			if (id !== wanted) return;
			if (!open++ && (tree.parent[node] as number) >= 0)
				add(callers, idOf(tree.parent[node] as number), total[node] as number);
		},
		(node) => {
			if (isCallee(node)) add(openCallees, idOf(node), -1);
			if (idOf(node) === wanted) open--;
		},
	);
	return { callers: ranked(callers), callees: ranked(callees) };
}
