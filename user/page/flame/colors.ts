// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Colours of boxes: one hue for each source file, so that what belongs together looks alike. Text
// is readable on every colour (4.5:1) in both themes. Label and pattern say what a box is.

import type { Frame } from "../profile/functions";

export interface Palette {
	text: string;
	strongText: string;
	page: string;
	border: string;
	accent: string;
	pattern: string;
	fill(frame: Frame): string;
}

const HUES = [25, 55, 85, 115, 145, 175, 205, 235, 265, 295, 325, 355];

function hash(text: string): number {
	let value = 2166136261;

	for (let i = 0; i < Math.min(text.length, 256); i++)
		value = Math.imul(value ^ text.charCodeAt(i), 16777619);
	return value >>> 0;
}

function palette(
	isDark: boolean,
): Omit<Palette, "fill"> & { box: [number, number]; plain: string } {
	return isDark
		? {
				text: "#eceff4",
				strongText: "#ffffff",
				page: "#16181d",
				border: "#16181d",
				accent: "#ffd24a",
				pattern: "rgba(255,255,255,0.16)",
				box: [0.39, 0.075],
				plain: "#3d434e",
			}
		: {
				text: "#1b1f27",
				strongText: "#000000",
				page: "#ffffff",
				border: "#ffffff",
				accent: "#0b57d0",
				pattern: "rgba(0,0,0,0.14)",
				box: [0.86, 0.075],
				plain: "#dfe3e9",
			};
}

export function paletteOf(isDark: boolean): Palette {
	const colors = palette(isDark);
	const [lightness, chroma] = colors.box;
	const known = new Map<Frame, string>();

	const choose = (frame: Frame): string => {
		if (!frame.isScript && !frame.source.includes("/")) return colors.plain;
		const own = hash(`${frame.name}:${frame.line}`);
		const hue = (HUES[hash(frame.source) % HUES.length] as number) + ((own % 7) - 3) * 4;
		const shade = (((own >>> 8) % 5) - 2) * 0.016;
		return `oklch(${(lightness + shade).toFixed(3)} ${chroma} ${hue})`;
	};
	return {
		...colors,
		fill(frame) {
			let color = known.get(frame);
			if (!color) known.set(frame, (color = choose(frame)));
			return color;
		},
	};
}
