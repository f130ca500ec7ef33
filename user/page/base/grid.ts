// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// A table of any length: only the rows in sight are elements. Arrow keys, Home, End and the page
// keys move; in trees, right and left open and close; Enter does what a double click does.

import { append, element } from "./dom";

const ROW = 24;
const ROWS_MAX = 600000; // a browser's elements can be some ten million pixels high

export interface Column<Row> {
	title: string;
	hint?: string;
	width: string; // of a grid's column
	isNumber?: boolean;
	isTree?: boolean; // shows the level, and what is open
	sort?: string; // rows can be sorted by this
	cell(row: Row): Node | string;
}

export interface GridOptions<Row> {
	id: string;
	label: string;
	columns: Column<Row>[];
	empty: string; // the text shown if there are no rows
	level?(row: Row): number; // trees: from 1
	isOpen?(row: Row): boolean | null; // trees: null if the row has no children
	toggle?(row: Row, open: boolean): void;
	open?(row: Row): void;
	select?(row: Row): void;
	sortBy?(key: string): void;
	sortedBy?(): { key: string; isAscending: boolean };
	rowClass?(row: Row): string;
}

export class Grid<Row> {
	readonly root: HTMLElement;
	private readonly head: HTMLElement;
	private readonly body: HTMLElement;
	private readonly spacer: HTMLElement;
	private rows: readonly Row[] = [];
	private at = 0; // the selected row

	constructor(private readonly options: GridOptions<Row>) {
		this.head = element("div", { class: "grid-head", role: "row" });
		this.spacer = element("div", { class: "grid-rows", role: "rowgroup" });
		this.body = element("div", { class: "grid-body", role: "presentation" }, this.spacer);
		this.root = element(
			"div",
			{
				id: options.id,
				class: "grid",
				role: options.level ? "treegrid" : "grid",
				tabindex: 0,
				"aria-label": options.label,
			},
			element("div", { role: "rowgroup", class: "grid-top" }, this.head),
			this.body,
		);
		this.root.style.setProperty(
			"--columns",
			options.columns.map((column) => column.width).join(" "),
		);
		this.body.addEventListener("scroll", () => this.draw());
		this.root.addEventListener("keydown", (event) => this.key(event));
		new ResizeObserver(() => this.draw()).observe(this.body);
	}

	get selected(): Row | undefined {
		return this.rows[this.at];
	}

	// `isKept` tells the row that was selected before, if it is still there.
	setRows(rows: readonly Row[], isKept?: (row: Row) => boolean): void {
		this.rows = rows.length > ROWS_MAX ? rows.slice(0, ROWS_MAX) : rows;
		const kept = isKept ? this.rows.findIndex(isKept) : -1;
		this.at = Math.max(
			0,
			Math.min(kept >= 0 ? kept : isKept ? 0 : this.at, this.rows.length - 1),
		);
		this.root.setAttribute("aria-rowcount", String(rows.length + 1));
		this.spacer.style.height = `${this.rows.length * ROW}px`;
		this.drawHead();
		this.draw();
	}

	private drawHead(): void {
		const sorted = this.options.sortedBy?.();
		this.head.replaceChildren(
			...this.options.columns.map((column) => {
				const isSorted = column.sort !== undefined && sorted?.key === column.sort;
				const arrow = isSorted ? (sorted.isAscending ? " ▲" : " ▼") : "";
				const content = column.sort
					? element(
							"button",
							{
								type: "button",
								title: column.hint,
								onclick: () => this.options.sortBy?.(column.sort as string),
							},
							column.title + arrow,
						)
					: element("span", { title: column.hint }, column.title);
				return element(
					"div",
					{
						role: "columnheader",
						class: column.isNumber ? "number" : undefined,
						"aria-sort": isSorted
							? sorted.isAscending
								? "ascending"
								: "descending"
							: undefined,
					},
					content,
				);
			}),
		);
	}

	draw(): void {
		const height = this.body.clientHeight;
		const first = Math.max(0, Math.floor(this.body.scrollTop / ROW) - 2);
		const last = Math.min(this.rows.length, first + Math.ceil(height / ROW) + 5);
		const made: HTMLElement[] = [];

		for (let at = first; at < last; at++) made.push(this.makeRow(at));
		if (!this.rows.length)
			made.push(
				element(
					"div",
					{ class: "grid-empty", role: "row" },
					element("div", { role: "gridcell" }, this.options.empty),
				),
			);
		this.spacer.replaceChildren(...made);
		this.head.style.paddingInlineEnd = `${8 + this.body.offsetWidth - this.body.clientWidth}px`;
		this.root.setAttribute("aria-activedescendant", this.rows.length ? this.idOf(this.at) : "");
	}

	private idOf(at: number): string {
		return `${this.options.id}-${at}`;
	}

	private makeRow(at: number): HTMLElement {
		const { options } = this;
		const row = this.rows[at] as Row;
		const isOpen = options.isOpen?.(row) ?? null;
		const made = element("div", {
			id: this.idOf(at),
			role: "row",
			class: `grid-row ${at === this.at ? "selected" : ""} ${options.rowClass?.(row) ?? ""}`,
			"aria-rowindex": at + 2,
			"aria-selected": at === this.at ? "true" : "false",
			"aria-level": options.level?.(row),
			"aria-expanded": isOpen === null ? undefined : isOpen ? "true" : "false",
			onclick: (event: MouseEvent) => this.click(at, event),
			ondblclick: () => options.open?.(row),
		});
		made.style.transform = `translateY(${at * ROW}px)`;
		for (const column of options.columns) append(made, this.makeCell(column, row, isOpen));
		return made;
	}

	private makeCell(column: Column<Row>, row: Row, isOpen: boolean | null): HTMLElement {
		const { options } = this;
		const cell = element("div", {
			role: "gridcell",
			class: column.isNumber ? "number" : "text",
		});

		if (options.level && column.isTree) {
			const sign = element(
				"span",
				{ class: "twisty", "aria-hidden": "true" },
				isOpen === null ? "" : isOpen ? "▾" : "▸",
			);
			// Deep rows stay readable: beyond some depth they are no longer indented further.
			sign.style.marginLeft = `${Math.min(options.level(row) - 1, 40) * 12}px`;
			append(cell, sign);
		}
		append(cell, column.cell(row));
		return cell;
	}

	private click(at: number, event: MouseEvent): void {
		const row = this.rows[at] as Row;
		const isTwisty =
			event.target instanceof Element && event.target.classList.contains("twisty");
		const isOpen = this.options.isOpen?.(row) ?? null;

		this.choose(at);
		if (isTwisty && isOpen !== null) this.options.toggle?.(row, !isOpen);
	}

	private choose(at: number): void {
		this.at = Math.max(0, Math.min(at, this.rows.length - 1));
		const row = this.rows[this.at];
		const top = this.at * ROW;
		const { body } = this;
		if (top < body.scrollTop) body.scrollTop = top;
		else if (top + ROW > body.scrollTop + body.clientHeight)
			body.scrollTop = top + ROW - body.clientHeight;
		this.draw();
		if (row !== undefined) this.options.select?.(row);
	}

	private key(event: KeyboardEvent): void {
		const page = Math.max(1, Math.floor(this.body.clientHeight / ROW) - 1);
		const moves: Record<string, number> = {
			ArrowUp: this.at - 1,
			ArrowDown: this.at + 1,
			PageUp: this.at - page,
			PageDown: this.at + page,
			Home: 0,
			End: this.rows.length - 1,
		};
		const move = moves[event.key];

		if (
			event.ctrlKey ||
			event.altKey ||
			event.metaKey ||
			event.target instanceof HTMLButtonElement
		)
			return;
		if (move !== undefined) this.choose(move);
		else if (!this.act(event.key)) return;
		event.preventDefault();
	}

	private act(key: string): boolean {
		const { options, selected } = this;
		if (selected === undefined) return false;
		const isOpen = options.isOpen?.(selected) ?? null;
		if (key === "Enter" && options.open) options.open(selected);
		else if (key === "ArrowRight" && isOpen === false) options.toggle?.(selected, true);
		else if (key === "ArrowRight" && isOpen) this.choose(this.at + 1);
		else if (key === "ArrowLeft" && isOpen) options.toggle?.(selected, false);
		else if (key === "ArrowLeft" && options.level) this.choose(this.parentOf(this.at));
		else return false;
		return true;
	}

	private parentOf(at: number): number {
		const { level } = this.options;
		if (!level) return at;
		const own = level(this.rows[at] as Row);
		let up = at;
		while (up > 0 && level(this.rows[up] as Row) >= own) up--;
		return up;
	}
}
