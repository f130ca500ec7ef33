// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The flame graph: a canvas that answers to pointer and keyboard.

import { element } from "../base/dom";
import type { Layout } from "./layout";
import { nodeAt, Painter, type Scene } from "./paint";
import { ROW, Viewport } from "./viewport";

export interface FlameCalls {
	scene(): Omit<Scene, "layout" | "hovered"> | null;
	describe(node: number): Node; // for the pointer
	select(node: number): void;
	open(node: number): void; // a click, or Enter
}

const WHEEL = 0.0015;
const ANIMATION_MS = 140;

export class Flame {
	readonly canvas = element("canvas", {
		id: "flame",
		tabindex: 0,
		role: "application",
		"aria-label":
			"Flame graph. Arrow keys move between calls, Enter opens one, Escape goes back.",
		"aria-describedby": "details",
	});
	readonly tip = element("div", { id: "tip", role: "tooltip", hidden: true });
	readonly view = new Viewport();
	private layout: Layout | null = null;
	private readonly painter: Painter;
	private hovered = -1;
	private pending = 0;
	private drag: { x: number; y: number; moved: boolean } | null = null;

	constructor(private readonly calls: FlameCalls) {
		const context = this.canvas.getContext("2d", { alpha: false });
		if (!context) throw new Error("this browser gives the page no canvas to draw on");
		this.painter = new Painter(context);
		new ResizeObserver(() => this.resize()).observe(this.canvas);
		this.canvas.addEventListener("pointerdown", (event) => this.press(event));
		this.canvas.addEventListener("pointermove", (event) => this.move(event));
		this.canvas.addEventListener("pointerup", (event) => this.release(event));
		this.canvas.addEventListener("pointercancel", () => (this.drag = null));
		this.canvas.addEventListener("pointerleave", () => this.hover(-1));
		this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
		this.canvas.addEventListener("keydown", (event) => this.key(event));
	}

	setLayout(layout: Layout): void {
		const isFirst = this.layout === null;
		this.layout = layout;
		this.hovered = -1;
		if (isFirst) this.view.setRange(layout.from, layout.to);
		this.view.attach(layout);
		this.redraw();
	}

	// Fills the width with a node.
	zoomTo(node: number, isAnimated: boolean): void {
		const layout = this.layout;
		if (!layout) return;
		const from = layout.start[node] as number,
			to = from + (layout.width[node] as number);
		this.view.reveal(layout.shown.tree.depth[node] as number);
		if (isAnimated && !matchMedia("(prefers-reduced-motion: reduce)").matches)
			this.glide(from, to);
		else this.view.setRange(from, to);
		this.redraw();
	}

	private glide(from: number, to: number): void {
		const { view } = this;
		const start = {
			from: view.from,
			to: view.to,
			time: performance.now(),
			layout: this.layout,
		};

		const step = (): void => {
			const part = Math.min((performance.now() - start.time) / ANIMATION_MS, 1);
			const eased = part * (2 - part);
			if (this.layout !== start.layout) return;
			view.setRange(
				start.from + (from - start.from) * eased,
				start.to + (to - start.to) * eased,
			);
			this.paint();
			if (part < 1) requestAnimationFrame(step);
		};
		requestAnimationFrame(step);
	}

	redraw(): void {
		if (!this.pending) this.pending = requestAnimationFrame(() => this.paint());
	}

	paint(): void {
		const scene = this.calls.scene();
		cancelAnimationFrame(this.pending);
		this.pending = 0;
		if (this.layout && scene)
			this.painter.paint(
				{ ...scene, layout: this.layout, hovered: this.hovered },
				this.view,
				this.ratio,
			);
	}

	private get ratio(): number {
		return window.devicePixelRatio || 1;
	}

	resize(): void {
		const { canvas, view } = this;
		const width = canvas.clientWidth,
			height = canvas.clientHeight;
		if (!width || !height) return;
		canvas.width = Math.round(width * this.ratio);
		canvas.height = Math.round(height * this.ratio);
		view.width = width;
		view.height = height;
		if (this.layout) view.attach(this.layout);
		this.paint();
	}

	private nodeUnder(event: MouseEvent): number {
		const box = this.canvas.getBoundingClientRect();
		if (!this.layout) return -1;
		const depth = Math.floor((event.clientY - box.top + this.view.top) / ROW);
		return nodeAt(this.layout, depth, this.view.timeAt(event.clientX - box.left));
	}

	private press(event: PointerEvent): void {
		if (event.button !== 0) return;
		this.drag = { x: event.clientX, y: event.clientY, moved: false };
		this.canvas.setPointerCapture(event.pointerId);
	}

	private move(event: PointerEvent): void {
		const { drag } = this;
		if (!drag) {
			this.hover(this.nodeUnder(event), event);
			return;
		}
		const dx = drag.x - event.clientX,
			dy = drag.y - event.clientY;
		if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
		drag.moved = true;
		drag.x = event.clientX;
		drag.y = event.clientY;
		this.hover(-1);
		this.view.pan(dx, dy);
		this.redraw();
	}

	private release(event: PointerEvent): void {
		const { drag } = this;
		this.drag = null;
		const node = this.nodeUnder(event);
		if (!drag || drag.moved || node < 0) return;
		this.calls.open(node);
	}

	private hover(node: number, event?: MouseEvent): void {
		const found = this.calls.scene()?.found;
		const isHidden = found && !found.nodes[node];
		const hovered = isHidden ? -1 : node;
		if (hovered !== this.hovered) {
			this.hovered = hovered;
			this.tip.replaceChildren(...(hovered < 0 ? [] : [this.calls.describe(hovered)]));
			this.redraw();
		}
		this.tip.hidden = hovered < 0;
		if (hovered >= 0 && event) this.placeTip(event);
	}

	private placeTip(event: MouseEvent): void {
		const { tip } = this;
		const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
		const below = event.clientY + 18;
		const top =
			below + tip.offsetHeight + 8 > window.innerHeight
				? event.clientY - tip.offsetHeight - 10
				: below;
		tip.style.transform = `translate(${Math.max(left, 4)}px, ${Math.max(top, 4)}px)`;
	}

	// As in maps: the wheel zooms with Ctrl or Shift held, else it scrolls as far as it can.
	private wheel(event: WheelEvent): void {
		const box = this.canvas.getBoundingClientRect();
		event.preventDefault();
		this.hover(-1);
		if (event.ctrlKey || event.shiftKey || event.metaKey)
			this.view.zoom(
				Math.exp((event.deltaY || event.deltaX) * WHEEL * 2),
				event.clientX - box.left,
			);
		else this.view.pan(event.deltaX, event.deltaY);
		this.redraw();
	}

	private key(event: KeyboardEvent): void {
		const { layout, view } = this;
		const selected = this.calls.scene()?.selected ?? 0;
		if (!layout || event.ctrlKey || event.altKey || event.metaKey) return;
		if (event.key === "Enter" || event.key === " ") this.calls.open(selected);
		else if (event.key === "+" || event.key === "=") view.zoom(0.7, view.width / 2);
		else if (event.key === "-") view.zoom(1 / 0.7, view.width / 2);
		else {
			const next = this.neighbour(selected, event.key);
			if (next < 0) return;
			this.calls.select(next);
			this.bringIntoSight(next);
		}
		event.preventDefault();
		this.redraw();
	}

	private bringIntoSight(node: number): void {
		const { layout, view } = this;
		if (!layout) return;
		const from = layout.start[node] as number,
			to = from + (layout.width[node] as number);
		view.reveal(layout.shown.tree.depth[node] as number);
		if (to <= view.from || from >= view.to || view.xOf(to) - view.xOf(from) < 1)
			view.setRange(from - (to - from), to + (to - from));
	}

	// The box that a key leads to: caller, widest callee, the next on the same row. Skips boxes
	// that the search hides.
	private neighbour(node: number, key: string): number {
		const layout = this.layout as Layout;
		const { tree } = layout.shown;
		const found = this.calls.scene()?.found;
		const isShown = (other: number): boolean => !found || found.nodes[other] !== 0;
		const depth = tree.depth[node] ?? 0;

		if (key === "Home") return 0;
		if (key === "ArrowUp") return tree.parent[node] ?? -1;
		const row = layout.rows[key === "ArrowDown" ? depth + 1 : depth];
		if (!row) return -1;
		if (key === "ArrowDown") {
			let widest = -1;
			for (
				let child = node + 1;
				child < (tree.end[node] as number);
				child = tree.end[child] as number
			)
				if (
					!layout.shown.hidden[child] &&
					isShown(child) &&
					(widest < 0 ||
						(layout.width[child] as number) > (layout.width[widest] as number))
				)
					widest = child;
			return widest;
		}
		if (key !== "ArrowLeft" && key !== "ArrowRight") return -1;
		const step = key === "ArrowLeft" ? -1 : 1;
		for (let at = row.indexOf(node) + step; at >= 0 && at < row.length; at += step)
			if (isShown(row[at] as number)) return row[at] as number;
		return -1;
	}
}
