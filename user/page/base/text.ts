// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Text for people: names of any bytes made harmless, times, shares.

export const LABEL_MAX = 160;

// Control characters, line separators, marks and overrides of text direction, zero width, byte
// order mark, half surrogates: invisible, or able to make a name look like another.
const MISLEADING =
	/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

function escapeCharacter(character: string): string {
	const code = character.codePointAt(0) ?? 0;
	return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

// Cuts first, so that of a name of a megabyte, only the part that is shown is searched.
export function printable(text: string, most = LABEL_MAX): string {
	const isCut = text.length > most;
	const shown = (isCut ? text.slice(0, most - 1) : text).replace(MISLEADING, escapeCharacter);
	return isCut ? shown + "…" : shown;
}

// Shortens a long path to its end: the file and its folder say more than the folder of all files.
export function shortPlace(place: string, most = 26): string {
	const parts = place.split("/");
	let short = parts.pop() ?? "";

	if (place.length <= most) return place;
	while (parts.length && short.length + (parts[parts.length - 1] as string).length + 3 <= most)
		short = `${parts.pop()}/${short}`;
	return parts.length ? `…/${short}` : short;
}

// A line of source: tabs are no control characters there.
export function printableCode(text: string, most: number): string {
	return printable(text.slice(0, most + 1).replaceAll("\t", "    "), most);
}

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const thousandths = new Intl.NumberFormat("en", {
	minimumFractionDigits: 3,
	maximumFractionDigits: 3,
});

export function count(value: number): string {
	return grouped.format(value);
}

// For columns: milliseconds to the microsecond.
export function milliseconds(us: number): string {
	return thousandths.format(us / 1000);
}

// For sentences: three digits and the unit that fits.
export function duration(us: number): string {
	if (us >= 100e6) return `${count(us / 1e6)} s`;
	if (us >= 999.5e3) return `${(us / 1e6).toPrecision(3)} s`;
	if (us >= 999.5) return `${Number((us / 1e3).toPrecision(3))} ms`;
	return `${Number(us.toPrecision(3))} µs`;
}

export function percent(part: number, whole: number): string {
	if (!(whole > 0)) return "0.0%";
	const share = (part / whole) * 100;
	return share > 0 && share < 0.05 ? "<0.1%" : `${share.toFixed(1)}%`;
}

export function plural(value: number, noun: string): string {
	return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}
