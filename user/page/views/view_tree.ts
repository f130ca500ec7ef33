// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The call tree, from what has the focus downwards. A search opens what leads to its matches.

import { Grid } from "../base/grid";
import { nameCell, placeCell, timeColumns } from "../cells";
import { LEADS } from "../profile/search";
import type { State } from "../state";

const LEADING_MAX = 2000; // rows that a search opens by itself

export class TreeView {
	readonly grid: Grid<number>;
	private readonly open = new Set<number>();
	private readonly closed = new Set<number>(); // by the user, in a search
	private sort = "total";
	private drawn = "";
	private opened = 0; // rows that the search has opened so far
	private expanded = new Set<number>();

	constructor(private readonly state: State) {
		this.grid = new Grid<number>({
			id: "tree",
			label: "Call tree",
			columns: [
				...timeColumns<number>(
					state,
					"Total",
					"Time of the function and what it called",
					(node) => state.shown.total[node] as number,
					"total",
				),
				...timeColumns<number>(
					state,
					"Self",
					"Time of the function itself",
					(node) => state.tree.self[node] as number,
					"self",
				),
				{
					title: "Function",
					width: "minmax(16rem, 3fr)",
					isTree: true,
					sort: "name",
					cell: (node) => nameCell(state, state.tree.frame[node] as number),
				},
				{
					title: "Source",
					width: "minmax(8rem, 1fr)",
					cell: (node) => placeCell(state, state.tree.frame[node] as number),
				},
			],
			empty: "No call matches the search.",
			level: (node) =>
				(state.tree.depth[node] as number) - (state.tree.depth[state.focus] as number) + 1,
			isOpen: (node) => (this.children(node).length ? this.expanded.has(node) : null),
			toggle: (node, open) => this.toggle(node, open),
			open: (node) => state.setFocus(node),
			select: (node) => (state.selected = node),
			sortBy: (key) => {
				this.sort = key;
				this.render();
			},
			sortedBy: () => ({ key: this.sort, isAscending: this.sort === "name" }),
		});
		this.openHottest();
	}

	// Opens the hottest path down to where the time splits up.
	private openHottest(): void {
		const { tree, shown } = this.state;
		let node = 0;

		for (;;) {
			const hottest = this.sorted(this.children(node))[0];
			this.open.add(node);
			if (
				hottest === undefined ||
				(shown.total[hottest] as number) < (shown.total[node] as number) / 2
			)
				return;
			if ((tree.depth[hottest] as number) > 60) return;
			node = hottest;
		}
	}

	private children(node: number): number[] {
		const { tree, shown, found } = this.state;
		const children: number[] = [];

		for (
			let child = node + 1;
			child < (tree.end[node] as number);
			child = tree.end[child] as number
		)
			if (!shown.hidden[child] && (!found || found.nodes[child])) children.push(child);
		return children;
	}

	private sorted(children: number[]): number[] {
		const { tree, shown } = this.state;
		const column = this.sort === "self" ? tree.self : shown.total;

		if (this.sort === "name")
			return children.sort((a, b) =>
				this.state.frameOf(a).label < this.state.frameOf(b).label ? -1 : 1,
			);
		return children.sort((a, b) => (column[b] as number) - (column[a] as number) || a - b);
	}

	private leads(node: number): boolean {
		return ((this.state.found?.nodes[node] ?? 0) & LEADS) !== 0;
	}

	private isOpen(node: number): boolean {
		if (this.open.has(node) || node === this.state.focus) return !this.closed.has(node);
		return this.leads(node) && this.opened < LEADING_MAX && !this.closed.has(node);
	}

	private toggle(node: number, open: boolean): void {
		if (open) {
			this.open.add(node);
			this.closed.delete(node);
		} else {
			this.open.delete(node);
			this.closed.add(node);
		}
		this.state.selected = node;
		this.render();
	}

	private rows(): number[] {
		const { state } = this;
		const rows: number[] = [];
		const pending = [state.focus];

		this.opened = 0;
		this.expanded = new Set();
		while (pending.length) {
			const node = pending.pop() as number;
			rows.push(node);
			if (!this.isOpen(node)) continue;
			this.expanded.add(node);
			const children = this.sorted(this.children(node));
			if (state.found) this.opened += children.length;
			for (let i = children.length - 1; i >= 0; i--) pending.push(children[i] as number);
		}
		return rows;
	}

	// Opens the path to what was selected elsewhere.
	private openWayTo(node: number): void {
		for (
			let up = this.state.tree.parent[node] as number;
			up >= 0;
			up = this.state.tree.parent[up] as number
		)
			this.open.add(up);
	}

	render(): void {
		const { state } = this;

		if (this.drawn !== state.query) this.closed.clear();
		this.drawn = state.query;
		if (state.found && !state.found.frameCount) {
			this.grid.setRows([]);
			return;
		}
		this.openWayTo(state.selected);
		this.grid.setRows(this.rows(), (node) => node === state.selected);
	}
}
