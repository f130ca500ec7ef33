// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The keys, in a dialog.

import { byId, element } from "./base/dom";

const KEYS: [string, string][] = [
	["/", "search; Enter goes to the view"],
	["Esc", "leave the search, or back to the last focus"],
	["1 to 6", "the views"],
	["Arrow keys", "to caller, callee, and neighbours; in tables, to the next row"],
	["→ and ←", "in trees: open and close"],
	["Enter", "focus on the call, or show the function"],
	["+ and −, Ctrl and wheel", "zoom the flame graph; drag it to move"],
	["Home, End", "first and last row; in the flame graph, everything"],
	["g and p", "hide or show garbage collection and plugins"],
	["?", "this list"],
];

const SIGNS: [string, string][] = [
	["gc", "dots: the garbage collector (GC)"],
	["native", "diagonal lines: machine code made of a script (<native>)"],
	["plugin", "level lines: a plugin's (<plugin>)"],
];

export function makeHelp(): HTMLDialogElement {
	const dialog = element(
		"dialog",
		{ id: "help", "aria-labelledby": "help-title" },
		element("h2", { id: "help-title" }, "Keys and signs"),
		element(
			"dl",
			{},
			...KEYS.flatMap(([keys, what]) => [
				element("dt", {}, element("kbd", {}, keys)),
				element("dd", {}, what),
			]),
		),
		element(
			"ul",
			{ class: "signs" },
			...SIGNS.map(([kind, what]) =>
				element(
					"li",
					{},
					element("span", { class: `swatch ${kind}`, "aria-hidden": "true" }),
					what,
				),
			),
			element("li", {}, "Colours tell source files apart, and nothing else."),
		),
		element("form", { method: "dialog" }, element("button", {}, "Close")),
	);
	document.body.append(dialog);
	byId("show-help").addEventListener("click", () => dialog.showModal());
	return dialog;
}
