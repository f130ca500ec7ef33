// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The flame graph with its orders, and a description of the selected call. In order of time, it
// shows one thread, and a click zooms; in other orders, a click gives a call the focus.

import { append, element, name } from "../base/dom";
import { count, duration, percent, printable } from "../base/text";
import { paletteOf, type Palette } from "../flame/colors";
import { Flame } from "../flame/flame";
import { lay, type Layout, type Order } from "../flame/layout";
import type { Frame } from "../profile/functions";
import type { Found } from "../profile/search";
import { show, type Shown } from "../profile/shown";
import type { Thread } from "../profile/timeline";
import type { State } from "../state";

const ORDERS: [Order, string, string][] = [
	["heavy", "Left-heavy", "Equal stacks merged, the heaviest first"],
	[
		"merged",
		"Merged",
		"Equal stacks merged, in order of names, so that recordings can be compared",
	],
	["time", "Time order", "One call after the other, as they ran"],
];

export class FlameView {
	readonly root: HTMLElement;
	readonly flame: Flame;
	private readonly details = element("div", { id: "details", "aria-live": "polite" });
	private readonly orders = element("div", {
		class: "segments",
		role: "group",
		"aria-label": "Order of the flame graph",
	});
	private readonly threads = element("select", {
		"aria-label": "Thread",
		onchange: () => this.chooseThread(),
	});
	private readonly note = element("span", { class: "note" });
	private order: Order = "heavy";
	private thread: Thread | undefined;
	private laid = "";
	private layout: Layout | null = null;
	private focus = 0;
	private timeSelected = 0;
	private timeFound: { query: string; shown: Shown; found: Found | null } | null = null;
	private readonly timePast: number[] = [];
	private palette: Palette = paletteOf(false);

	constructor(private readonly state: State) {
		this.thread = state.threads[0];
		this.flame = new Flame({
			scene: () => this.scene(),
			describe: (node) => this.tip(node),
			select: (node) => this.select(node),
			open: (node) => this.open(node),
		});
		for (const [index, thread] of state.threads.entries())
			append(
				this.threads,
				element(
					"option",
					{ value: index },
					`${thread.label}, ${count(thread.samples)} samples`,
				),
			);
		this.root = element(
			"div",
			{ id: "flame-view", class: "stack" },
			element("div", { class: "bar-row" }, this.orders, this.threads, this.note),
			this.flame.canvas,
			this.details,
			this.flame.tip,
		);
	}

	setTheme(isDark: boolean): void {
		this.palette = paletteOf(isDark);
		this.flame.redraw();
	}

	private get isTime(): boolean {
		return this.order === "time";
	}

	private get selected(): number {
		return this.isTime ? this.timeSelected : this.state.selected;
	}

	private scene(): ReturnType<ConstructorParameters<typeof Flame>[0]["scene"]> {
		return {
			frames: this.state.frames,
			found: this.found(),
			selected: this.selected,
			palette: this.palette,
		};
	}

	private found(): Found | null {
		const { state, layout } = this;
		if (!this.isTime || !layout) return state.found;
		if (this.timeFound?.query !== state.query || this.timeFound.shown !== layout.shown)
			this.timeFound = {
				query: state.query,
				shown: layout.shown,
				found: state.findIn(layout.shown),
			};
		return this.timeFound.found;
	}

	private setOrder(order: Order): void {
		this.order = order;
		this.render();
		this.flame.canvas.focus();
	}

	private chooseThread(): void {
		this.thread = this.state.threads[Number(this.threads.value)];
		this.render();
	}

	private drawOrders(): void {
		const { state } = this;
		this.orders.replaceChildren(
			...ORDERS.map(([order, title, hint]) => {
				const isMissing = order === "time" && !state.threads.length;
				return element(
					"button",
					{
						type: "button",
						"aria-pressed": this.order === order ? "true" : "false",
						disabled: isMissing,
						title: isMissing
							? "The recording has no order of time: record it with --timeline"
							: hint,
						onclick: () => this.setOrder(order),
					},
					title,
				);
			}),
		);
		this.threads.hidden = !this.isTime || state.threads.length < 2;
	}

	private makeLayout(): Layout {
		const { state } = this;
		if (!this.isTime || !this.thread) return lay(state.shown, state.frames, this.order);
		const { tree, left } = state.threadTree(this.thread);
		this.note.textContent = left
			? `Not shown: the last ${count(left)} samples, for want of memory.`
			: "";
		return lay(show(tree, state.frames, state.hiding), state.frames, "time");
	}

	// Makes a new layout only if the data of the boxes have changed.
	render(): void {
		const { state } = this;
		const key = `${this.order} ${this.isTime ? this.thread?.id : ""} ${+state.hiding.gc}${+state.hiding.plugins}`;
		const isNew = key !== this.laid;

		this.drawOrders();
		if (isNew) {
			this.note.textContent = "";
			this.timeSelected = 0;
			this.timePast.length = 0;
			this.laid = key;
			this.layout = this.makeLayout();
			this.flame.setLayout(this.layout);
			if (this.isTime) this.flame.view.setRange(this.layout.from, this.layout.to);
		}
		if (!this.isTime && (isNew || this.focus !== state.focus))
			this.flame.zoomTo(state.focus, !isNew);
		this.focus = state.focus;
		this.describe();
		this.flame.redraw();
	}

	private select(node: number): void {
		if (this.isTime) this.timeSelected = node;
		else this.state.selected = node;
		this.describe();
	}

	private open(node: number): void {
		if (!this.isTime) {
			this.state.selected = node;
			if (node === this.state.focus) this.describe();
			this.state.setFocus(node);
			this.flame.redraw();
			return;
		}
		this.timePast.push(this.timeSelected);
		this.timeSelected = node;
		this.flame.zoomTo(node, true);
		this.describe();
	}

	// Returns whether Escape had something to go back to in this view.
	back(): boolean {
		if (!this.isTime || !this.layout) return false;
		const whole = this.layout;
		const isWhole = this.flame.view.from <= whole.from && this.flame.view.to >= whole.to;
		const last = this.timePast.pop();
		if (last === undefined && isWhole) return false;
		this.timeSelected = last ?? 0;
		this.flame.zoomTo(this.timeSelected, true);
		this.describe();
		return true;
	}

	private frameOf(node: number): Frame {
		const { frame } = (this.layout as Layout).shown.tree;
		return this.state.frames.list[frame[node] as number] as Frame;
	}

	private times(node: number): string {
		const { state } = this;
		const { shown, start, width } = this.layout as Layout;
		const total = shown.total[node] as number,
			self = shown.tree.self[node] as number;

		if (this.isTime && !node) return duration(width[0] as number);
		if (this.isTime)
			return `${duration(width[node] as number)} from ${((start[node] as number) / 1e6).toFixed(4)} s; ${duration(self)} itself`;
		const average = state.average ? " on average" : "";
		return `total ${duration(total * state.scale)}${average} (${state.share(total)} of all), self ${duration(self * state.scale)} (${state.share(self)})`;
	}

	private tip(node: number): Node {
		const frame = this.frameOf(node);
		return element(
			"div",
			{},
			element("strong", {}, name(node ? frame.label : "all")),
			frame.place && element("div", { class: "place" }, name(frame.place)),
			element("div", {}, this.times(node)),
			frame.name.length > 160 &&
				element("div", { class: "place" }, name(printable(frame.name, 600))),
		);
	}

	private describe(): void {
		const { state, layout, selected } = this;
		if (!layout || selected < 0 || layout.shown.hidden[selected]) return;
		const frame = this.frameOf(selected);
		const id = layout.shown.tree.frame[selected] as number;
		const parent = layout.shown.tree.parent[selected] as number;
		const ofParent =
			parent > 0 && !this.isTime
				? `, ${percent(layout.shown.total[selected] as number, layout.shown.total[parent] as number)} of its caller`
				: "";

		this.details.replaceChildren(
			element("strong", {}, name(selected ? frame.label : "all")),
			" ",
			frame.place && element("span", { class: "place" }, name(frame.place)),
			" ",
			element("span", {}, this.times(selected) + ofParent),
			" ",
			frame.isCategory
				? ""
				: element(
						"button",
						{ type: "button", class: "link", onclick: () => state.openFunction(id) },
						"callers, callees, lines",
					),
		);
	}
}
