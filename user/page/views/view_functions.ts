// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// All functions, and of the chosen one: callers, callees, and its lines.

import { append, element, name } from "../base/dom";
import { Grid } from "../base/grid";
import { duration, percent, plural, printable, printableCode } from "../base/text";
import { nameCell, placeCell, shareCell, timeColumns } from "../cells";
import { baseLabel } from "../profile/functions";
import { linesOf, type LineTime, type Sources } from "../profile/lines";
import { relatives, type FunctionTime } from "../profile/totals";
import type { State } from "../state";

const LISTED_MAX = 200; // callers, callees and lines that the side shows

// Of a table whose first three columns are numbers.
function headings(...titles: string[]): HTMLElement {
	const cells = titles.map((title, i) =>
		element("th", { scope: "col", class: i < 3 ? "number" : undefined }, title),
	);
	return element("thead", {}, element("tr", {}, ...cells));
}

function quiet(text: string): HTMLElement {
	return element("p", { class: "quiet" }, text);
}

export class FunctionsView {
	readonly root: HTMLElement;
	private readonly grid: Grid<FunctionTime>;
	private readonly side = element("section", {
		id: "function",
		"aria-label": "The chosen function",
		tabindex: 0,
	});
	private sort = "self";
	private described = "";

	constructor(
		private readonly state: State,
		private readonly sources: Sources,
	) {
		this.grid = new Grid<FunctionTime>({
			id: "functions-grid",
			label: "Functions",
			columns: [
				...timeColumns<FunctionTime>(
					state,
					"Self",
					"Time of the function itself",
					(row) => row.self,
					"self",
				),
				...timeColumns<FunctionTime>(
					state,
					"Total",
					"Time of the function and what it called; recursion counts once",
					(row) => row.total,
					"total",
				),
				{
					title: "Function",
					width: "minmax(10rem, 1.4fr)",
					sort: "name",
					cell: (row) => nameCell(state, row.frame, true),
				},
				{
					title: "Source",
					width: "minmax(11.5rem, 1fr)",
					sort: "place",
					cell: (row) => placeCell(state, row.frame),
				},
			],
			empty: "No function matches the search.",
			select: (row) => this.choose(row.frame),
			open: () => this.side.focus(),
			sortBy: (key) => {
				this.sort = key;
				this.render();
			},
			sortedBy: () => ({
				key: this.sort,
				isAscending: this.sort === "name" || this.sort === "place",
			}),
		});
		this.root = element("div", { id: "functions", class: "split" }, this.grid.root, this.side);
	}

	private choose(frame: number): void {
		this.state.chosen = frame;
		this.describe();
	}

	private compare(): (a: FunctionTime, b: FunctionTime) => number {
		const frames = this.state.frames.list;
		const text = (row: FunctionTime): string =>
			(this.sort === "place" ? frames[row.frame]?.place : frames[row.frame]?.label) ?? "";

		if (this.sort === "name" || this.sort === "place")
			return (a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : b.self - a.self);
		return this.sort === "total"
			? (a, b) => b.total - a.total || b.self - a.self || a.frame - b.frame
			: (a, b) => b.self - a.self || b.total - a.total || a.frame - b.frame;
	}

	render(): void {
		const { state } = this;
		const rows = state
			.functionTimes()
			.filter((row) => !state.found || state.found.frames[row.frame])
			.sort(this.compare());

		if (!rows.some((row) => row.frame === state.chosen))
			state.chosen =
				(rows.find(({ frame }) => state.frames.list[frame]?.isScript) ?? rows[0])?.frame ??
				0;
		this.grid.setRows(rows, (row) => row.frame === state.chosen);
		this.describe();
	}

	private describe(): void {
		const { state } = this;
		const key = `${state.chosen} ${state.focus} ${state.average} ${+state.hiding.gc}${+state.hiding.plugins}`;
		const times = state.functionTimes().find((row) => row.frame === state.chosen);
		const frame = state.frames.list[state.chosen];

		if (key === this.described) return;
		this.described = key;
		this.side.scrollTop = 0;
		if (!times || !frame) {
			this.side.replaceChildren(element("p", { class: "quiet" }, "No function is chosen."));
			return;
		}
		const between = relatives(state.shown, state.base, state.chosen, state.focus);
		this.side.replaceChildren(
			element("h2", {}, name(printable(baseLabel(state.frames, state.chosen), 300))),
			element("p", { class: "place" }, name(frame.place || "no source")),
			element(
				"p",
				{},
				`${duration(times.self * state.scale)} itself (${state.share(times.self)}), `,
				`${duration(times.total * state.scale)} with what it called (${state.share(times.total)}).`,
			),
			this.linesBlock(state.chosen),
			this.relativesBlock(
				"Callers",
				"whose calls took this time",
				between.callers,
				times.total,
			),
			this.relativesBlock(
				"Callees",
				"what it called, directly",
				between.callees,
				times.total,
			),
		);
	}

	private relativesBlock(
		title: string,
		hint: string,
		list: { frame: number; time: number }[],
		whole: number,
	): HTMLElement {
		const { state } = this;
		const rows = list
			.slice(0, LISTED_MAX)
			.map(({ frame, time }) =>
				element(
					"tr",
					{},
					element("td", { class: "number" }, state.time(time)),
					element("td", { class: "number" }, shareCell(state, time)),
					element("td", { class: "number" }, percent(time, whole)),
					element("td", {}, this.link(frame)),
				),
			);
		const block = element(
			"div",
			{ class: "block" },
			element("h3", {}, `${title} `, element("small", {}, hint)),
		);

		if (!rows.length) {
			append(
				block,
				quiet(
					title === "Callees"
						? "It called nothing that was sampled."
						: "It is outermost.",
				),
			);
			return block;
		}
		append(
			block,
			element(
				"table",
				{},
				headings("ms", "of all", "of it", "Function"),
				element("tbody", {}, ...rows),
			),
		);
		if (list.length > LISTED_MAX)
			append(block, quiet(`And ${plural(list.length - LISTED_MAX, "more function")}.`));
		return block;
	}

	private link(frame: number): Node {
		const { state } = this;
		if (!state.isFunction(frame))
			return element("span", { class: "quiet" }, name(state.frames.list[frame]?.label ?? ""));
		return element(
			"button",
			{ type: "button", class: "link", onclick: () => state.openFunction(frame) },
			name(baseLabel(state.frames, frame)),
		);
	}

	private linesBlock(frame: number): HTMLElement {
		const block = element(
			"div",
			{ class: "block" },
			element("h3", {}, "Lines ", element("small", {}, "self time, of the whole recording")),
		);
		const lines = linesOf(this.state.frames, this.state.frameSelf, frame);

		if (!lines.length) {
			append(
				block,
				element(
					"p",
					{ class: "quiet" },
					"No lines are known: it is no script, or was stripped.",
				),
			);
			return block;
		}
		append(block, this.listing(lines));
		return block;
	}

	// In the order of the source, with the lines between where their text is known.
	private listing(lines: LineTime[]): HTMLElement {
		const whole = lines.reduce((sum, line) => sum + line.us, 0);
		const rows = this.sources
			.listing(lines)
			.slice(0, LISTED_MAX)
			.map(({ line, time, text }) => {
				const bar = element("span", { class: "bar", "aria-hidden": "true" });
				bar.style.width = `${time && whole > 0 ? (time.us / whole) * 100 : 0}%`;
				return element(
					"tr",
					{ class: time ? "hot" : "quiet" },
					element("td", { class: "number" }, time ? this.state.time(time.us) : ""),
					element(
						"td",
						{ class: "number" },
						element(
							"span",
							{ class: "share" },
							bar,
							element("span", {}, time ? percent(time.us, whole) : ""),
						),
					),
					element("td", { class: "number line" }, String(line)),
					element(
						"td",
						{ class: "code" },
						name(text === null ? "" : printableCode(text, 400)),
					),
				);
			});
		return element(
			"table",
			{ class: "listing" },
			headings("ms", "of it", "Line", "Text"),
			element("tbody", {}, ...rows),
		);
	}
}
