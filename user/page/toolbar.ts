// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// What is above each view: tabs, search, what is hidden, average, and the way to the focus.

import { append, byId, element, name } from "./base/dom";
import { duration, percent, plural } from "./base/text";
import { AVERAGES, type State, type View } from "./state";

const TABS: [View, string][] = [
	["flame", "Flame graph"],
	["tree", "Call tree"],
	["bottom-up", "Bottom-up"],
	["functions", "Functions"],
	["lines", "Lines"],
	["summary", "Summary"],
];

const CRUMBS_MAX = 8; // of the path to the focus: both ends

export class Toolbar {
	readonly search = element("input", {
		id: "search",
		type: "search",
		placeholder: "Search functions  ( / )",
		"aria-label": "Search functions and sources",
		spellcheck: "false",
		autocomplete: "off",
		oninput: () => this.state.setQuery(this.search.value),
	});
	private readonly tabs = element("div", {
		class: "tabs",
		role: "tablist",
		"aria-label": "Views",
	});
	private readonly found = element("span", { id: "found", role: "status" });
	private readonly crumbs = element("nav", { id: "crumbs", "aria-label": "Focus" });

	constructor(private readonly state: State) {
		for (const [view, title] of TABS)
			append(
				this.tabs,
				element(
					"button",
					{
						type: "button",
						role: "tab",
						id: `tab-${view}`,
						"aria-controls": "view",
						onclick: () => state.setView(view),
						onkeydown: (event: KeyboardEvent) => this.tabKey(event),
					},
					title,
				),
			);
		append(
			byId("toolbar"),
			this.tabs,
			element(
				"div",
				{ class: "tools" },
				this.search,
				this.found,
				this.toggle(
					"gc",
					"GC",
					state.gcUs,
					"no time of the garbage collector was recorded",
				),
				this.toggle(
					"plugins",
					"Plugins",
					state.pluginUs,
					"no function is marked as a plugin's: record with --plugin",
				),
				this.averages(),
			),
		);
		byId("toolbar").after(this.crumbs);
	}

	// A part that the recording does not have cannot be hidden; the title says why.
	private toggle(key: "gc" | "plugins", title: string, us: number, reason: string): HTMLElement {
		const { state } = this;
		const box = element("input", {
			type: "checkbox",
			id: `show-${key}`,
			checked: true,
			disabled: us <= 0,
			onchange: () => state.setHiding({ [key]: !box.checked }),
		});
		const share = us > 0 ? ` ${percent(us, state.tree.total[0] as number)}` : "";
		return element(
			"label",
			{
				class: "check",
				title:
					us > 0
						? `Show or hide it; totals follow (${duration(us)})`
						: `Nothing to hide: ${reason}`,
			},
			box,
			title + share,
		);
	}

	private averages(): HTMLElement {
		const { state } = this;
		const select = element("select", {
			id: "average",
			"aria-label": "Times",
			disabled: !state.sessionUs,
			title: state.sessionUs
				? "Total time, or the average over the session"
				: "The file does not say how long the session was",
			onchange: () => state.setAverage(Number(select.value)),
		});
		for (const seconds of AVERAGES)
			append(
				select,
				element(
					"option",
					{ value: seconds },
					seconds === 0
						? "Total"
						: seconds < 60
							? "Average per 1 s"
							: `Average per ${seconds / 60} min`,
				),
			);
		return select;
	}

	private tabKey(event: KeyboardEvent): void {
		const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		const at = TABS.findIndex(([view]) => view === this.state.view);
		if (!step) return;
		event.preventDefault();
		const next = TABS[(at + step + TABS.length) % TABS.length]?.[0] as View;
		this.state.setView(next);
		byId(`tab-${next}`).focus();
	}

	viewOfKey(key: string): View | undefined {
		return TABS[Number(key) - 1]?.[0];
	}

	private drawCrumbs(): void {
		const { state } = this;
		const way: number[] = [];
		for (let node = state.focus; node >= 0; node = state.tree.parent[node] as number)
			way.unshift(node);
		if (way.length > CRUMBS_MAX) way.splice(2, way.length - CRUMBS_MAX, -1);
		this.crumbs.replaceChildren(
			element("span", { class: "quiet" }, "Focus: "),
			...way.flatMap((node, i) => [
				i ? element("span", { class: "quiet", "aria-hidden": "true" }, " › ") : "",
				node < 0
					? element("span", { class: "quiet" }, "…")
					: element(
							"button",
							{
								type: "button",
								class: "link",
								"aria-current": node === state.focus ? "true" : undefined,
								onclick: () => state.setFocus(node),
							},
							name(node ? state.frameOf(node).label : "all"),
						),
			]),
			state.focus
				? element(
						"button",
						{
							type: "button",
							class: "small",
							title: "Back to the last focus",
							onclick: () => state.back(),
						},
						"Back (Esc)",
					)
				: element(
						"span",
						{ class: "quiet" },
						" (click a call in the flame graph, or press Enter, to look at it alone)",
					),
		);
	}

	render(): void {
		const { state } = this;
		for (const [view] of TABS) {
			const tab = byId(`tab-${view}`);
			tab.setAttribute("aria-selected", String(view === state.view));
			tab.tabIndex = view === state.view ? 0 : -1;
		}
		this.found.textContent = state.found
			? `${plural(state.found.frameCount, "match").replace("matchs", "matches")}, ${state.share(state.found.time)}`
			: "";
		this.drawCrumbs();
	}
}
