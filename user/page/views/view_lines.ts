// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The hottest lines of all functions, with their text where the recorder could read it.

import { element, name } from "../base/dom";
import { Grid } from "../base/grid";
import { count, printable, printableCode, shortPlace } from "../base/text";
import { nameCell, shareCell } from "../cells";
import { allLines, type LineTime, type Sources } from "../profile/lines";
import type { State } from "../state";

export class LinesView {
	readonly root: HTMLElement;
	private readonly grid: Grid<LineTime>;
	private all: LineTime[] | null = null;

	constructor(
		private readonly state: State,
		private readonly sources: Sources,
	) {
		this.grid = new Grid<LineTime>({
			id: "lines-grid",
			label: "Lines by self time",
			columns: [
				{
					title: "Self ms",
					width: "7.5rem",
					isNumber: true,
					cell: (row) => state.time(row.us),
				},
				{
					title: "Self %",
					width: "6rem",
					isNumber: true,
					cell: (row) => shareCell(state, row.us),
				},
				{
					title: "Samples",
					width: "5.5rem",
					isNumber: true,
					cell: (row) => (row.samples ? count(row.samples) : ""),
				},
				{ title: "Line", width: "minmax(9rem, 1.2fr)", cell: (row) => this.placeOf(row) },
				{
					title: "Function",
					width: "minmax(9rem, 1.2fr)",
					cell: (row) => nameCell(state, row.frame, true),
				},
				...(sources.areThere
					? [
							{
								title: "Text",
								width: "minmax(14rem, 3fr)",
								cell: (row: LineTime) => this.textOf(row),
							},
						]
					: []),
			],
			empty: "No line is known, or none matches the search.",
			open: (row) => state.openFunction(row.frame),
		});
		this.root = element(
			"div",
			{ id: "lines", class: "stack" },
			element(
				"p",
				{ class: "note" },
				"Self time of lines, of the whole recording: what is hidden or has the focus changes nothing here. Enter shows the function.",
				sources.areThere ? "" : " The file has no source text.",
			),
			this.grid.root,
		);
	}

	private placeOf(row: LineTime): HTMLElement {
		const source = printable(this.state.frames.list[row.frame]?.source ?? "");
		const place = `${source}:${row.line}`;
		return element("span", { class: "place", title: place }, name(shortPlace(place)));
	}

	private textOf(row: LineTime): HTMLElement {
		return element(
			"span",
			{ class: "code" },
			name(printableCode((this.sources.textOf(row.frame, row.line) ?? "").trim(), 300)),
		);
	}

	render(): void {
		const { found } = this.state;
		this.all ??= allLines(this.state.frames, this.state.frameSelf);
		this.grid.setRows(found ? this.all.filter((row) => found.frames[row.frame]) : this.all);
	}
}
