// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// read_with_speedscope.js SPEEDSCOPE FILE: what speedscope (the folder of its package) reads from a
// profile, as JSON: [[[name, file, line, own time, total time], ...] for each profile]. It runs the
// importers of speedscope's page, without the page.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [folder, file] = process.argv.slice(2);
const release = path.join(folder, 'dist', 'release');
const script = fs.readdirSync(release).find(name => /^speedscope-.*\.js$/.test(name));
const bundle = fs.readFileSync(path.join(release, script), 'utf8');

// The page offers its importer to scripts that open it with a file; it is drawn by what comes last.
const importer = /window\.speedscope=\{loadFileFromBase64:\(\w+,\w+\)=>\{this\.loadProfile\(\(\)=>(\w+)\(/
	.exec(bundle)[1];
const drawing = bundle.lastIndexOf('console.log(`speedscope v');
const code = `${bundle.slice(0, drawing)};globalThis.importFile=${importer};})();`;

const anything = new Proxy(function () {}, {
	get: (target, key) => key === Symbol.toPrimitive ? () => '' : key === 'then' ? undefined : anything,
	apply: () => anything,
	construct: () => anything,
	set: () => true,
});
const silent = {log() {}, time() {}, timeEnd() {}, info() {}, warn() {}, error: console.error};
const page = {
	console: silent, document: anything, localStorage: anything, matchMedia: () => anything,
	location: {hash: '', href: 'file:///', pathname: '/', protocol: 'file:'},
	navigator: {userAgent: ''}, setTimeout, clearTimeout, TextDecoder, TextEncoder, Uint8Array,
	ArrayBuffer, atob, btoa, URL, performance, requestAnimationFrame() {}, addEventListener() {},
	removeEventListener() {}, Image: anything, FileReader: anything, HTMLElement: class {},
	Element: class {}, Node: class {},
	alert(text) { throw new Error(text); },
};
page.window = page.self = page.globalThis = page;
vm.createContext(page);
vm.runInContext(code, page);

page.importFile(path.basename(file), fs.readFileSync(file).toString('base64')).then(group => {
	console.log(JSON.stringify(group.profiles.map(profile => {
		const rows = [];
		profile.forEachFrame(frame => rows.push([frame.name, frame.file || '', frame.line || 0,
			frame.getSelfWeight(), frame.getTotalWeight()]));
		return rows;
	})));
}).catch(error => {
	console.error(String(error).slice(0, 2000));
	process.exit(1);
});
