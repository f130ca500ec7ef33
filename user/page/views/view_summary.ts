// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The summary: sentences whose functions can be followed, and what was recorded.

import { append, element, name } from "../base/dom";
import { printable } from "../base/text";
import { baseLabel } from "../profile/functions";
import type { State } from "../state";
import { facts, sections, type Sentence } from "./summary";

export function sentenceElement(state: State, kind: "p" | "li", sentence: Sentence): HTMLElement {
	return element(
		kind,
		{},
		...sentence.map((part) =>
			typeof part === "string"
				? part
				: element(
						"button",
						{
							type: "button",
							class: "link",
							onclick: () => state.openFunction(part.frame),
						},
						name(part.text ?? baseLabel(state.frames, part.frame)),
					),
		),
	);
}

const EVENTS_MAX = 500;

export class SummaryView {
	readonly root = element("div", { id: "summary", class: "text", tabindex: 0 });

	constructor(private readonly state: State) {}

	private events(): HTMLElement | null {
		const events = this.state.file.Recorder?.Events;
		if (!Array.isArray(events) || !events.length) return null;
		return element(
			"section",
			{},
			element("h2", {}, "Events"),
			element(
				"ul",
				{},
				...events
					.slice(0, EVENTS_MAX)
					.map((event) =>
						element(
							"li",
							{},
							`${(Number(event.TimeUs) / 1e6).toFixed(3)} s: ${printable(String(event.Kind))} `,
							name(printable(String(event.Text ?? ""), 300)),
						),
					),
			),
		);
	}

	render(): void {
		const { state, root } = this;
		root.replaceChildren(
			...sections(state).map(({ title, sentences }) =>
				element(
					"section",
					{},
					element("h2", {}, title),
					element(
						"ul",
						{},
						...sentences.map((sentence) => sentenceElement(state, "li", sentence)),
					),
				),
			),
		);
		append(
			root,
			this.events(),
			element(
				"section",
				{},
				element("h2", {}, "The recording"),
				element(
					"dl",
					{},
					...facts(state).flatMap(([term, value]) => [
						element("dt", {}, term),
						element("dd", {}, name(value)),
					]),
				),
			),
		);
	}
}
