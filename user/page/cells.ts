// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Cells that the tables have in common: times with shares, names, places.

import { element, name } from "./base/dom";
import type { Column } from "./base/grid";
import { printable, shortPlace } from "./base/text";
import type { State } from "./state";

// A share as text, with a bar behind it.
export function shareCell(state: State, us: number): HTMLElement {
	const bar = element("span", { class: "bar", "aria-hidden": "true" });
	bar.style.width = `${Math.min(100, state.allUs > 0 ? (us / state.allUs) * 100 : 0).toFixed(2)}%`;
	return element("span", { class: "share" }, bar, element("span", {}, state.share(us)));
}

// Two columns, time and share, of the microseconds that `usOf` returns.
export function timeColumns<Row>(
	state: State,
	title: string,
	hint: string,
	usOf: (row: Row) => number,
	sort?: string,
): Column<Row>[] {
	return [
		{
			title: `${title} ms`,
			hint,
			width: "7.5rem",
			isNumber: true,
			sort,
			cell: (row) => state.time(usOf(row)),
		},
		{
			title: `${title} %`,
			hint,
			width: "6rem",
			isNumber: true,
			cell: (row) => shareCell(state, usOf(row)),
		},
	];
}

export function nameCell(state: State, id: number, isBase = false): HTMLElement {
	const frame = state.frames.list[id];
	const label = frame?.label ?? "";
	const shown = isBase ? label.replace(/ at :\d+/, "") : label;
	return element(
		"span",
		{
			class: "name",
			title:
				frame && !frame.isCategory
					? printable(frame.name || "<anonymous>", 1000)
					: undefined,
		},
		element("span", {
			class: `swatch ${frame?.isGc ? "gc" : frame?.isNative ? "native" : frame?.isPlugin ? "plugin" : ""}`,
			"aria-hidden": "true",
		}),
		name(shown, { class: state.found?.frames[id] ? "match" : undefined }),
	);
}

export function placeCell(state: State, id: number): HTMLElement {
	const frame = state.frames.list[id];
	return element(
		"span",
		{ class: "place", title: frame?.place },
		name(shortPlace(frame?.place ?? "")),
	);
}
