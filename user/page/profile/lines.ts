// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Self times of lines, and their text if the file has it.

import type { ProfileFile } from "./file";
import type { Frames } from "./functions";

export interface LineTime {
	frame: number; // a base
	line: number;
	us: number;
	samples: number; // 0: not known
}

// Self times by line of the functions whose base `isWanted`: from the file's Lines or, if functions
// have an entry for each line, from these entries. `self` is the self time by frame.
function collect(
	frames: Frames,
	self: Float64Array,
	isWanted: (base: number) => boolean,
): LineTime[] {
	const lines = new Map<string, LineTime>();
	const add = (frame: number, line: number, us: number, samples: number): void => {
		const key = `${frame}:${line}`;
		const known = lines.get(key);
		lines.set(key, {
			frame,
			line,
			us: (known?.us ?? 0) + us,
			samples: (known?.samples ?? 0) + samples,
		});
	};

	frames.list.forEach(({ base, current, lines: own }, id) => {
		if (!isWanted(base)) return;
		for (const [line, us, samples] of own) add(base, line, us, samples);
		if (current && !own.length && (self[id] as number) > 0)
			add(base, current, self[id] as number, 0);
	});
	return [...lines.values()];
}

// The lines of a function with all of its entries, in order.
export function linesOf(frames: Frames, self: Float64Array, base: number): LineTime[] {
	return collect(frames, self, (other) => other === base).sort((a, b) => a.line - b.line);
}

// The lines of all functions, the hottest first.
export function allLines(frames: Frames, self: Float64Array): LineTime[] {
	return collect(frames, self, () => true).sort(
		(a, b) => b.us - a.us || a.frame - b.frame || a.line - b.line,
	);
}

const BETWEEN_MAX = 3; // lines without time that are shown before and after one with time

export class Sources {
	private readonly texts = new Map<string, Map<number, string>>();

	constructor(
		file: ProfileFile,
		private readonly frames: Frames,
	) {
		if (!Array.isArray(file.Sources)) return;
		for (const source of file.Sources) {
			if (typeof source?.Source !== "string" || !Array.isArray(source.Lines)) continue;
			const lines = new Map<number, string>();
			for (const entry of source.Lines)
				if (Array.isArray(entry) && typeof entry[1] === "string")
					lines.set(entry[0], entry[1]);
			this.texts.set(source.Source, lines);
		}
	}

	get areThere(): boolean {
		return this.texts.size > 0;
	}

	textOf(frame: number, line: number): string | null {
		return this.texts.get(this.frames.list[frame]?.source ?? "")?.get(line) ?? null;
	}

	// The lines of a function in order, with nearby lines whose text is known.
	listing(lines: LineTime[]): { line: number; time: LineTime | null; text: string | null }[] {
		const times = new Map(lines.map((time) => [time.line, time]));
		const wanted = new Set<number>();

		for (const { frame, line } of lines)
			for (let near = line - BETWEEN_MAX; near <= line + BETWEEN_MAX; near++)
				if (near === line || (near > 0 && this.textOf(frame, near) !== null))
					wanted.add(near);
		return [...wanted]
			.sort((a, b) => a - b)
			.map((line) => ({
				line,
				time: times.get(line) ?? null,
				text: this.textOf(lines[0]?.frame ?? 0, line),
			}));
	}
}
