// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Makes elements, with text nodes only: nothing in the page parses markup.

type Child = Node | string | null | undefined | false;

interface Attributes {
	[name: string]: string | number | boolean | ((event: never) => void) | undefined;
}

// Sets attributes by name; functions, as of "onclick", become event listeners. False and undefined
// leave an attribute out.
export function element<K extends keyof HTMLElementTagNameMap>(
	name: K,
	attributes: Attributes = {},
	...children: Child[]
): HTMLElementTagNameMap[K] {
	const made = document.createElement(name);

	for (const [key, value] of Object.entries(attributes)) {
		if (typeof value === "function")
			made.addEventListener(key.replace(/^on/, ""), value as EventListener);
		else if (value !== undefined && value !== false)
			made.setAttribute(key, value === true ? "" : String(value));
	}
	append(made, ...children);
	return made;
}

export function append(parent: Element, ...children: Child[]): void {
	for (const child of children)
		if (child !== null && child !== undefined && child !== false) parent.append(child);
}

export function byId(id: string): HTMLElement {
	const found = document.getElementById(id);
	if (!found) throw new Error(`the page has no element '${id}'`);
	return found;
}

// A name from the profile, isolated so that its text direction does not affect other text.
export function name(text: string, attributes: Attributes = {}): HTMLElement {
	return element("bdi", attributes, text);
}

export function isTyping(target: EventTarget | null): boolean {
	return target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
}
