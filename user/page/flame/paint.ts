// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Draws the flame graph's boxes. Boxes narrower than a pixel become one bar with their neighbours,
// found by binary search, so the cost of a frame depends on what is visible, not on all boxes.

import type { Frame, Frames } from "../profile/functions";
import { MATCHES, type Found } from "../profile/search";
import type { Palette } from "./colors";
import type { Layout } from "./layout";
import { ROW, type Viewport } from "./viewport";

const FONT = "12px system-ui, sans-serif";
const BOLD = "bold " + FONT;
const TEXT_LEAST = 26; // CSS pixels of a box that gets a text

export interface Scene {
	layout: Layout;
	frames: Frames;
	found: Found | null;
	selected: number;
	hovered: number;
	palette: Palette;
}

// The first place in `row` whose box ends after `time`.
export function firstAfter(layout: Layout, row: Int32Array, time: number): number {
	let low = 0,
		high = row.length;

	while (low < high) {
		const middle = (low + high) >> 1;
		const node = row[middle] as number;
		if ((layout.start[node] as number) + (layout.width[node] as number) > time) high = middle;
		else low = middle + 1;
	}
	return low;
}

export function nodeAt(layout: Layout, depth: number, time: number): number {
	const row = layout.rows[depth];
	const node = row?.[firstAfter(layout, row, time)];
	return node !== undefined && (layout.start[node] as number) <= time ? node : -1;
}

type Kind = "gc" | "native" | "plugin";

function kindOf(frame: Frame): Kind | null {
	return frame.isGc ? "gc" : frame.isNative ? "native" : frame.isPlugin ? "plugin" : null;
}

function makePattern(
	context: CanvasRenderingContext2D,
	kind: Kind,
	color: string,
): CanvasPattern | null {
	const tile = document.createElement("canvas");
	tile.width = tile.height = 8;
	const drawing = tile.getContext("2d");
	if (!drawing) return null;
	drawing.strokeStyle = drawing.fillStyle = color;
	drawing.lineWidth = 1.5;
	drawing.beginPath();
	if (kind === "native")
		for (const x of [-8, 0, 8]) {
			drawing.moveTo(x, 8);
			drawing.lineTo(x + 8, 0);
		}
	else if (kind === "plugin")
		for (const y of [1, 5]) {
			drawing.moveTo(0, y);
			drawing.lineTo(8, y);
		}
	else {
		drawing.rect(1, 1, 2, 2);
		drawing.rect(5, 5, 2, 2);
		drawing.fill();
	}
	drawing.stroke();
	return context.createPattern(tile, "repeat");
}

export class Painter {
	private readonly widths = new Map<string, number>();
	private patterns = new Map<Kind, CanvasPattern | null>();
	private patternColor = "";

	constructor(private readonly context: CanvasRenderingContext2D) {}

	private pattern(kind: Kind, color: string): CanvasPattern | null {
		if (color !== this.patternColor) {
			this.patterns = new Map();
			this.patternColor = color;
		}
		let pattern = this.patterns.get(kind);
		if (pattern === undefined)
			this.patterns.set(kind, (pattern = makePattern(this.context, kind, color)));
		return pattern;
	}

	private widthOf(text: string, font: string): number {
		const key = font + text;
		let width = this.widths.get(key);
		if (width === undefined)
			this.widths.set(key, (width = this.context.measureText(text).width));
		return width;
	}

	private text(label: string, x: number, y: number, room: number, isBold: boolean): void {
		const { context } = this;
		const font = isBold ? BOLD : FONT;

		context.font = font;
		const width = this.widthOf(label, font);
		let shown = label;
		if (width > room) {
			const fitting = Math.floor((label.length * room) / width) - 1;
			if (fitting < 2) return;
			shown = label.slice(0, fitting) + "…";
		}
		context.fillText(shown, x, y, room + 2);
	}

	private box(scene: Scene, node: number, left: number, right: number, y: number): void {
		const { context } = this;
		const { palette, found, layout } = scene;
		const frame = scene.frames.list[layout.shown.tree.frame[node] as number] as Frame;
		const kind = kindOf(frame);
		const state = found ? (found.nodes[node] as number) : MATCHES;
		const isMatch = found !== null && (state & MATCHES) !== 0;
		const width = right - left > 4 ? right - left - 1 : right - left;

		context.globalAlpha = state === 2 ? 0.55 : 1;
		context.fillStyle = palette.fill(frame);
		context.fillRect(left, y, width, ROW - 1);
		const pattern = kind && this.pattern(kind, palette.pattern);
		if (pattern) {
			context.fillStyle = pattern;
			context.fillRect(left, y, width, ROW - 1);
		}
		context.globalAlpha = 1;
		if (isMatch && width > 2) this.outline(left, y, width, palette.strongText, 1.5);
		if (width < TEXT_LEAST) return;
		context.fillStyle = isMatch ? palette.strongText : palette.text;
		this.text(frame.label, left + 4, y + ROW / 2, width - 8, isMatch);
	}

	private outline(x: number, y: number, width: number, color: string, weight: number): void {
		const { context } = this;
		context.strokeStyle = color;
		context.lineWidth = weight;
		context.strokeRect(
			x + weight / 2,
			y + weight / 2,
			Math.max(width - weight, 0.5),
			ROW - 1 - weight,
		);
	}

	private row(scene: Scene, view: Viewport, row: Int32Array, y: number): void {
		const { layout, found, palette } = scene;
		const pixel = 1 / view.scale;

		for (let at = firstAfter(layout, row, view.from); at < row.length;) {
			const node = row[at] as number;
			const start = layout.start[node] as number,
				width = layout.width[node] as number;
			if (start >= view.to) return;
			if (width < pixel) {
				// Draw all boxes in this pixel as one.
				const next = Math.max(firstAfter(layout, row, start + pixel), at + 1);
				if (!found || this.anyFound(found, row, at, next)) {
					this.context.fillStyle = palette.fill(this.widest(scene, row, at, next));
					this.context.fillRect(view.xOf(start), y, 1, ROW - 1);
				}
				at = next;
				continue;
			}
			if (!found || found.nodes[node])
				this.box(
					scene,
					node,
					Math.max(view.xOf(start), 0),
					Math.min(view.xOf(start + width), view.width + 1),
					y,
				);
			at++;
		}
	}

	// A bar of many boxes has the colour of the widest, so a zoomed-out chart keeps its areas.
	private widest(scene: Scene, row: Int32Array, from: number, to: number): Frame {
		const { width, shown } = scene.layout;
		let best = row[from] as number;
		for (let at = from + 1; at < Math.min(to, from + 64); at++)
			if ((width[row[at] as number] as number) > (width[best] as number))
				best = row[at] as number;
		return scene.frames.list[shown.tree.frame[best] as number] as Frame;
	}

	private anyFound(found: Found, row: Int32Array, from: number, to: number): boolean {
		for (let at = from; at < to; at++) if (found.nodes[row[at] as number]) return true;
		return false;
	}

	private mark(scene: Scene, view: Viewport, node: number, weight: number): void {
		const { layout, palette } = scene;
		const depth = layout.shown.tree.depth[node];
		if (node < 0 || depth === undefined || layout.shown.hidden[node]) return;
		const left = Math.max(view.xOf(layout.start[node] as number), 0);
		const right = Math.min(
			view.xOf((layout.start[node] as number) + (layout.width[node] as number)),
			view.width,
		);
		if (right >= 0 && left <= view.width)
			this.outline(
				left,
				depth * ROW - view.top,
				Math.max(right - left - 1, 2),
				palette.accent,
				weight,
			);
	}

	// In order of time, the topmost row says when.
	private ruler(scene: Scene, view: Viewport): void {
		const { context } = this;
		const { text, strongText } = scene.palette;
		const least = 90 / view.scale;
		const power = 10 ** Math.floor(Math.log10(least));
		const step = power * ([1, 2, 5, 10].find((times) => times * power >= least) ?? 10);
		const digits = Math.max(0, 6 - Math.floor(Math.log10(step)));

		context.fillStyle = scene.palette.page;
		context.fillRect(0, -view.top, view.width, ROW - 1);
		context.fillStyle = text;
		context.font = FONT;
		for (let time = Math.ceil(view.from / step) * step; time < view.to; time += step) {
			context.fillStyle = strongText;
			context.fillRect(view.xOf(time), -view.top, 1, ROW - 1);
			context.fillStyle = text;
			context.fillText(
				`${(time / 1e6).toFixed(digits)} s`,
				view.xOf(time) + 4,
				ROW / 2 - view.top,
			);
		}
	}

	paint(scene: Scene, view: Viewport, ratio: number): void {
		const { context } = this;
		const first = Math.floor(view.top / ROW);
		const last = Math.min(Math.ceil((view.top + view.height) / ROW), scene.layout.rows.length);

		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.fillStyle = scene.palette.page;
		context.fillRect(0, 0, view.width, view.height);
		context.textBaseline = "middle";
		for (let depth = first; depth < last; depth++)
			this.row(scene, view, scene.layout.rows[depth] as Int32Array, depth * ROW - view.top);
		if (scene.layout.shown.tree.start) this.ruler(scene, view);
		this.mark(scene, view, scene.hovered, 1.5);
		if (scene.selected > 0 || document.activeElement === context.canvas)
			this.mark(scene, view, scene.selected, 3);
	}
}
