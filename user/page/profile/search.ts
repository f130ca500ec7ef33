// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Finds the nodes that a search keeps: matches, their callers and their callees. A search in lower
// case ignores case.

import type { Frame, Frames } from "./functions";
import type { Shown } from "./shown";

export const IS_BELOW = 1; // called by a match
export const LEADS = 2; // a match is below it
export const MATCHES = 4;

export interface Found {
	frames: Uint8Array; // by frame: whether it matches
	nodes: Uint8Array; // by node: the bits above; 0: left out
	frameCount: number;
	time: number; // of the matches and what they called, each once
}

const TEXT_MAX = 1 << 16; // of a name: the rest of a longer one is not searched

export class Searcher {
	private exact: string[] | null = null;
	private folded: string[] | null = null;

	constructor(private readonly frames: Frames) {}

	private static textOf(frame: Frame): string {
		const name = frame.name.slice(0, TEXT_MAX) || "<anonymous>";
		const source = frame.source.slice(0, TEXT_MAX);
		return `${name}\n${source}${frame.line ? `:${frame.line}` : ""}\n${frame.label}`;
	}

	private texts(isExact: boolean): string[] {
		this.exact ??= this.frames.list.map(Searcher.textOf);
		if (isExact) return this.exact;
		return (this.folded ??= this.exact.map((text) => text.toLowerCase()));
	}

	matches(wanted: string): Uint8Array {
		const texts = this.texts(wanted !== wanted.toLowerCase());
		const matching = new Uint8Array(texts.length);

		for (let id = 1; id < texts.length; id++)
			matching[id] = (texts[id] as string).includes(wanted) ? 1 : 0;
		return matching;
	}
}

export function find(shown: Shown, frames: Uint8Array): Found {
	const { tree, hidden, total } = shown;
	const nodes = new Uint8Array(tree.count);
	let time = 0,
		frameCount = 0;

	for (let node = 1; node < tree.count; node++) {
		if (hidden[node]) continue;
		const above = nodes[tree.parent[node] as number] as number;
		const isBelow = above & (MATCHES | IS_BELOW);
		const isMatch = frames[tree.frame[node] as number];
		nodes[node] = (isMatch ? MATCHES : 0) | (isBelow ? IS_BELOW : 0);
		if (isMatch && !isBelow) time += total[node] as number;
	}
	for (let node = tree.count - 1; node > 0; node--)
		if ((nodes[node] as number) & (MATCHES | LEADS))
			nodes[tree.parent[node] as number] =
				(nodes[tree.parent[node] as number] as number) | LEADS;
	for (const isMatch of frames) frameCount += isMatch;
	return { frames, nodes, frameCount, time };
}
