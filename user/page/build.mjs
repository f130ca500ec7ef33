// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// build.mjs OUTPUT: makes the page of template.html, page.css and main.ts. @PROFILE@ stays in it, on
// a line of its own: that is where a profile goes. Only what is built here may run in the page, by
// the hashes in its policy.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = ["chrome111", "firefox113", "safari16.4"];

async function bundle(entry) {
	const built = await build({
		entryPoints: [join(here, entry)],
		absWorkingDir: here,
		bundle: true,
		minify: true,
		charset: "utf8",
		format: "iife",
		legalComments: "none",
		target,
		write: false,
	});
	return built.outputFiles[0].text.trim();
}

const sha256 = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const script = await bundle("main.ts");
const style = await bundle("page.css");
const policy = [
	"default-src 'none'",
	`script-src ${sha256(script)}`,
	`style-src ${sha256(style)}`,
	"base-uri 'none'",
	"form-action 'none'",
	"require-trusted-types-for 'script'",
	"trusted-types 'none'",
].join("; ");

const parts = { POLICY: policy, STYLE: style, SCRIPT: script };
const page = readFileSync(join(here, "template.html"), "utf8").replace(
	/@(POLICY|STYLE|SCRIPT)@/g,
	(_, part) => parts[part],
);
if (page.split("@PROFILE@").length !== 2)
	throw new Error("the page must have one place for a profile");
writeFileSync(process.argv[2], page);
