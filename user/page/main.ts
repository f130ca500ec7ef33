// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Reads the profile out of the page and puts the views around it.

import { byId, element, isTyping } from "./base/dom";
import { printable } from "./base/text";
import { makeHelp } from "./help";
import { parseFile } from "./profile/file";
import { Sources } from "./profile/lines";
import type { Shown } from "./profile/shown";
import { State, type View } from "./state";
import { ThemeSwitch } from "./theme";
import { Toolbar } from "./toolbar";
import { headline, targetOf } from "./views/summary";
import { BottomUpView } from "./views/view_bottom_up";
import { FlameView } from "./views/view_flame";
import { FunctionsView } from "./views/view_functions";
import { LinesView } from "./views/view_lines";
import { sentenceElement, SummaryView } from "./views/view_summary";
import { TreeView } from "./views/view_tree";

interface Drawn {
	root: HTMLElement;
	render(): void;
}

class Page {
	private readonly flame: FlameView;
	private readonly toolbar: Toolbar;
	private readonly made = new Map<View, Drawn>();
	private readonly help = makeHelp();
	private current: Drawn | null = null;
	private said: { shown: Shown; focus: number } | null = null;

	constructor(private readonly state: State) {
		document.title = `${targetOf(state)}, luaspy`;
		byId("title").textContent = targetOf(state);
		byId("about").textContent = printable(String(state.file.Recorder?.Interpreter ?? ""));
		this.flame = new FlameView(state);
		this.toolbar = new Toolbar(state);
		new ThemeSwitch(byId("theme"), (isDark) => this.flame.setTheme(isDark));
		state.onChange(() => this.render());
		document.addEventListener("keydown", (event) => this.key(event));
		this.render();
	}

	// Makes a view when it is first shown, so that opening the page takes the time of one view.
	private make(view: View): Drawn {
		const { state } = this;
		const sources = new Sources(state.file, state.frames);
		switch (view) {
			case "flame":
				return this.flame;
			case "tree": {
				const tree = new TreeView(state);
				return { root: tree.grid.root, render: () => tree.render() };
			}
			case "bottom-up": {
				const bottomUp = new BottomUpView(state);
				return { root: bottomUp.grid.root, render: () => bottomUp.render() };
			}
			case "functions":
				return new FunctionsView(state, sources);
			case "lines":
				return new LinesView(state, sources);
			case "summary":
				return new SummaryView(state);
		}
	}

	private render(): void {
		const { state } = this;
		let drawn = this.made.get(state.view);
		if (!drawn) this.made.set(state.view, (drawn = this.make(state.view)));
		this.toolbar.render();
		this.drawHeadline();
		if (this.current !== drawn) {
			byId("view").replaceChildren(drawn.root);
			byId("view").setAttribute("aria-labelledby", `tab-${state.view}`);
			this.current = drawn;
			if (drawn === this.flame) this.flame.flame.resize();
		}
		drawn.render();
	}

	// The headline of what has the focus. It is kept, since it takes a walk over the tree.
	private drawHeadline(): void {
		const { state } = this;
		if (this.said?.shown === state.shown && this.said.focus === state.focus) return;
		this.said = { shown: state.shown, focus: state.focus };
		byId("headline").replaceChildren(sentenceElement(state, "p", headline(state)));
	}

	private toView(): void {
		byId("view").querySelector<HTMLElement>("canvas, [tabindex='0']")?.focus();
	}

	private escape(): void {
		const { search } = this.toolbar;
		if (document.activeElement === search || this.state.query) {
			search.value = "";
			this.state.setQuery("");
			this.toView();
		} else if (!(this.state.view === "flame" && this.flame.back())) {
			this.state.back();
		}
	}

	private key(event: KeyboardEvent): void {
		const { search } = this.toolbar;
		if (event.ctrlKey || event.altKey || event.metaKey || this.help.open) return;
		if (event.key === "Escape") this.escape();
		else if (event.target === search && event.key === "Enter") this.toView();
		else if (isTyping(event.target) && event.target === search) return;
		else if (event.key === "/") search.select();
		else if (event.key === "?") this.help.showModal();
		else if (event.key === "g" || event.key === "p")
			byId(event.key === "g" ? "show-gc" : "show-plugins").click();
		else if (this.toolbar.viewOfKey(event.key)) {
			this.state.setView(this.toolbar.viewOfKey(event.key) as View);
			this.toView();
		} else return;
		event.preventDefault();
	}
}

function start(): void {
	const data = byId("profile");
	const began = performance.now();
	try {
		new Page(new State(parseFile(data.textContent ?? "")));
		performance.measure("luaspy-open", { start: began });
		document.documentElement.dataset["ready"] = "yes";
	} catch (error) {
		byId("view").replaceChildren(
			element(
				"p",
				{ class: "failure", role: "alert" },
				`This page cannot show its profile: ${error instanceof Error ? error.message : String(error)}`,
			),
		);
		document.documentElement.dataset["ready"] = "failed";
	}
}

start();
