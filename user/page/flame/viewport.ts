// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The part of the flame graph that is on the screen: a range of time, and how far it is scrolled.

import type { Layout } from "./layout";

export const ROW = 20; // CSS pixels

export class Viewport {
	from = 0;
	to = 1;
	top = 0; // CSS pixels
	width = 1;
	height = 1;
	private layout: Layout | null = null;

	attach(layout: Layout): void {
		this.layout = layout;
		this.clamp();
	}

	get scale(): number {
		return this.width / (this.to - this.from);
	}

	xOf(time: number): number {
		return (time - this.from) * this.scale;
	}

	timeAt(x: number): number {
		return this.from + x / this.scale;
	}

	setRange(from: number, to: number): void {
		this.from = from;
		this.to = to;
		this.clamp();
	}

	zoom(factor: number, x: number): void {
		const time = this.timeAt(x);
		this.setRange(time - (time - this.from) * factor, time + (this.to - time) * factor);
	}

	pan(dx: number, dy: number): void {
		const moved = dx / this.scale;
		this.top += dy;
		this.setRange(this.from + moved, this.to + moved);
	}

	// Scrolls so that a row is in sight, with some of what led to it.
	reveal(depth: number): void {
		const y = depth * ROW;
		if (y < this.top + ROW) this.top = y - 4 * ROW;
		else if (y > this.top + this.height - 2 * ROW) this.top = y - this.height / 2;
		this.clamp();
	}

	private clamp(): void {
		const layout = this.layout;
		if (!layout) return;
		const whole = Math.max(layout.to - layout.from, 1e-9);
		const span = Math.min(Math.max(this.to - this.from, whole * 1e-9, 1e-3), whole);
		this.from = Math.min(Math.max(this.from, layout.from), layout.to - span);
		this.to = this.from + span;
		this.top = Math.max(0, Math.min(this.top, layout.rows.length * ROW - this.height));
	}
}
