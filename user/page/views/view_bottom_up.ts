// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Functions by self time, and below each its callers: where the time went, and who asked for it.

import { Grid } from "../base/grid";
import { nameCell, placeCell, timeColumns } from "../cells";
import { callersOf, invert, type Inverted } from "../profile/bottom_up";
import { MATCHES } from "../profile/search";
import type { State } from "../state";

interface Row {
	of: Inverted;
	level: number;
	key: string;
	isBelowMatch: boolean;
}

const LEADING_MAX = 500; // rows that a search opens by itself

export class BottomUpView {
	readonly grid: Grid<Row>;
	private readonly toggled = new Map<string, boolean>();
	private made = "";
	private tops: Inverted[] = [];
	private callers = new Map<Inverted, Inverted[]>();
	private leading: Uint8Array = new Uint8Array(0);
	private ledFor: unknown = null;
	private sort = "self";
	private selectedKey = "";
	private shownRows = 0;
	private expanded = new Set<string>();

	constructor(private readonly state: State) {
		this.grid = new Grid<Row>({
			id: "bottom-up",
			label: "Bottom-up: functions by self time, with their callers",
			columns: [
				...timeColumns<Row>(
					state,
					"Self",
					"Self time of the outermost row's function, called this way",
					(row) => row.of.self,
					"self",
				),
				{
					title: "Function, and its callers",
					width: "minmax(16rem, 3fr)",
					isTree: true,
					sort: "name",
					cell: (row) => nameCell(state, row.of.frame, true),
				},
				{
					title: "Source",
					width: "minmax(8rem, 1fr)",
					cell: (row) => placeCell(state, row.of.frame),
				},
			],
			empty: "No function matches the search.",
			level: (row) => row.level,
			isOpen: (row) => (this.below(row).length ? this.expanded.has(row.key) : null),
			toggle: (row, open) => {
				this.toggled.set(row.key, open);
				this.selectedKey = row.key;
				this.render();
			},
			open: (row) => state.openFunction(row.of.frame),
			select: (row) => (this.selectedKey = row.key),
			sortBy: (key) => {
				this.sort = key;
				this.render();
			},
			sortedBy: () => ({ key: this.sort, isAscending: this.sort === "name" }),
		});
	}

	private refresh(): void {
		const { state } = this;
		const made = `${state.focus} ${+state.hiding.gc}${+state.hiding.plugins}`;

		if (made !== this.made) {
			this.tops = invert(state.shown, state.base, state.focus);
			this.callers = new Map();
			this.made = made;
		}
		if (this.ledFor !== state.found) {
			this.leading = this.findLeading();
			this.ledFor = state.found;
		}
	}

	// By node: whether it or one of its callers matches: in this view, it leads to a match.
	private findLeading(): Uint8Array {
		const { tree, found } = this.state;
		const leading = new Uint8Array(found ? tree.count : 0);

		for (let node = 1; node < leading.length; node++)
			leading[node] =
				leading[tree.parent[node] as number] ||
				((found?.nodes[node] as number) & MATCHES ? 1 : 0);
		return leading;
	}

	private allCallers(of: Inverted): Inverted[] {
		let callers = this.callers.get(of);
		if (!callers)
			this.callers.set(
				of,
				(callers = callersOf(this.state.shown, this.state.base, of, this.state.focus)),
			);
		return callers.filter(
			(caller) =>
				!this.state.frames.list[caller.frame]?.isCategory ||
				this.state.file.Categories.length > 1,
		);
	}

	private isLeft(of: Inverted, isBelowMatch: boolean): boolean {
		return !this.state.found || isBelowMatch || of.at.some((node) => this.leading[node]);
	}

	private matches(of: Inverted): boolean {
		return this.state.found !== null && this.state.found.frames[of.frame] !== 0;
	}

	private below(row: Row): Inverted[] {
		const isBelow = row.isBelowMatch || this.matches(row.of);
		return this.allCallers(row.of).filter((caller) => this.isLeft(caller, isBelow));
	}

	private isOpen(row: Row): boolean {
		return (
			this.toggled.get(row.key) ??
			(this.state.found !== null &&
				!row.isBelowMatch &&
				!this.matches(row.of) &&
				this.shownRows < LEADING_MAX)
		);
	}

	private order(list: Inverted[]): Inverted[] {
		const { list: frames } = this.state.frames;
		if (this.sort !== "name") return list;
		return [...list].sort((a, b) =>
			(frames[a.frame]?.label ?? "") < (frames[b.frame]?.label ?? "") ? -1 : 1,
		);
	}

	private rows(): Row[] {
		const rows: Row[] = [];
		const pending: Row[] = [];
		const put = (list: Inverted[], above: Row | null): void => {
			for (const of of this.order(list).reverse())
				pending.push({
					of,
					level: above ? above.level + 1 : 1,
					key: `${above?.key ?? ""}/${of.frame}`,
					isBelowMatch: above !== null && (above.isBelowMatch || this.matches(above.of)),
				});
		};

		this.shownRows = 0;
		this.expanded = new Set();
		put(
			this.tops.filter((of) => this.isLeft(of, false)),
			null,
		);
		while (pending.length) {
			const row = pending.pop() as Row;
			rows.push(row);
			this.shownRows++;
			if (!this.isOpen(row)) continue;
			this.expanded.add(row.key);
			put(this.below(row), row);
		}
		return rows;
	}

	render(): void {
		this.refresh();
		this.grid.setRows(this.rows(), (row) => row.key === this.selectedKey);
	}
}
