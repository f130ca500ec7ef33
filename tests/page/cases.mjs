// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Runs the case that the command line names, of those that a file has. Random trees come from a
// fixed seed, which a failure names.

let state = Number(process.env.SEED ?? 20261124) >>> 0;
export const seed = state;

// mulberry32
export function random() {
	state = (state + 0x6d2b79f5) >>> 0;
	let value = state;
	value = Math.imul(value ^ (value >>> 15), value | 1);
	value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
	return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
}

export const below = (limit) => Math.floor(random() * limit);
export const pick = (list) => list[below(list.length)];

export async function run(cases) {
	const [name] = process.argv.slice(2);
	const wanted = cases[name];
	if (!wanted) {
		console.error(`no case '${name}'; there are: ${Object.keys(cases).join(", ")}`);
		process.exit(2);
	}
	try {
		await wanted();
	} catch (error) {
		console.error(`seed ${seed}: ${error.stack}`);
		process.exit(1);
	}
}
