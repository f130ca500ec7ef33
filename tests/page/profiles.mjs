// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Profiles to test with. A random one comes as a file and as the list of stacks that it was made
// of, from which a test computes by itself what the page has to say.
import { below, pick, random } from "./cases.mjs";

const NAMES = [
	"f",
	"g",
	"parse",
	"",
	"größe",
	"关闭",
	"a b;c",
	"\u202eevil",
	"\u0000\u0007",
	"x".repeat(300),
	"constructor",
	"__proto__",
];
const SOURCES = ["app.lua", "lib/json.lua", "[C]", "= stdin", "\ud83d\ude00.lua"];

function randomFunctions(count) {
	const functions = [];
	for (let id = 1; id <= count; id++) {
		const entry = { Source: pick(SOURCES), Name: pick(NAMES), Line: id, TotalDuration: 0 };
		if (!entry.Name) delete entry.Name;
		if (random() < 0.15) entry.Flags = 2;
		else if (random() < 0.1) entry.Flags = 1;
		functions.push(entry);
	}
	functions.push({ Source: "GC", Name: "GC", TotalDuration: 0 });
	// One function at two lines, each of its own entry.
	for (const CurrentLine of [7, 8]) functions.push({ ...functions[0], CurrentLine });
	return functions;
}

function newNode(func) {
	return { func, self: 0, children: new Map(), id: 0 };
}

function randomTree(node, left, functionCount, maxDepth, deeper) {
	let at = [{ node, depth: 0 }];
	while (left-- > 0) {
		const from = pick(at);
		const isDeeper = random() < deeper;
		const parent = isDeeper ? at[at.length - 1] : from;
		const func = 1 + below(functionCount);
		if (parent.depth >= maxDepth || parent.node.children.has(func)) {
			at.push(from);
			continue;
		}
		const child = newNode(func);
		child.self = random() < 0.6 ? below(1000) : 0;
		parent.node.children.set(func, child);
		at.push({ node: child, depth: parent.depth + 1 });
	}
}

// Fills `nodes` with what is below `node`, and returns its total; without recursion, for depth.
function store(category, nodes, stacks) {
	const order = [];
	const pending = [{ node: category, stack: [] }];
	while (pending.length) {
		const { node, stack } = pending.pop();
		order.push(node);
		node.id = nodes.push(null);
		stacks.push({ stack, self: node.self, id: node.id });
		for (const [func, child] of node.children)
			pending.push({ node: child, stack: [...stack, func] });
	}
	for (const node of order.reverse()) {
		const children = [...node.children.values()];
		node.total = children.reduce((sum, child) => sum + child.total, node.self);
		nodes[node.id - 1] = { TotalDuration: node.total };
		if (children.length) {
			nodes[node.id - 1].FunctionIds = children.map((child) => child.func);
			nodes[node.id - 1].NodeIds = children.map((child) => child.id);
		}
	}
}

// { file, stacks: [{ stack: function ids from the outermost, self, id, category }], gc }
export function randomProfile({
	nodes: nodeCount = 300,
	functions: functionCount = 12,
	depth = 40,
	deeper = 0.7,
} = {}) {
	const Functions = randomFunctions(functionCount);
	const Nodes = [],
		Categories = [],
		stacks = [];
	for (let i = 0; i < 1 + below(3); i++) {
		const category = newNode(0),
			own = [];
		randomTree(category, nodeCount, Functions.length, depth, deeper);
		store(category, Nodes, own);
		Categories.push({ Name: `thread ${i}`, NodeId: category.id });
		for (const entry of own) stacks.push({ ...entry, category: i });
	}
	const start = 1700000000000;
	const file = {
		Version: 2,
		SessionStartTime: start,
		SessionEndTime: start + 1 + below(100000),
		Categories,
		Nodes,
		Functions,
		GCFuncId: functionCount + 1,
	};
	return { file, stacks, gc: functionCount + 1 };
}

// 200,000 nodes, 442 deep, as in a recording of a big program.
export function bigProfile(count = 200000, most = 442, functionCount = 4000) {
	const parent = [0, 0],
		depth = [0, 0],
		func = [0, 0],
		kids = [[], []],
		total = [0, 0];
	for (let n = 2; n <= count; n++) {
		let up = random() < 0.7 ? n - 1 : Math.max(1, n - 1 - below(3000));
		while (depth[up] >= most) up = Math.max(1, n - 1 - below(3000));
		parent[n] = up;
		depth[n] = depth[up] + 1;
		func[n] = 1 + below(functionCount);
		kids[n] = [];
		kids[up].push(n);
		total[n] = below(300);
	}
	for (let n = count; n > 1; n--) total[parent[n]] += total[n];
	return {
		Version: 2,
		SessionStartTime: 1700000000000,
		SessionEndTime: 1700000060000,
		Categories: [{ Name: "main", NodeId: 1 }],
		Nodes: kids.slice(1).map((list, i) => ({
			TotalDuration: total[i + 1],
			...(list.length ? { FunctionIds: list.map((n) => func[n]), NodeIds: list } : {}),
		})),
		Functions: Array.from({ length: functionCount }, (_, i) => ({
			Source: `/usr/share/app/lib/module_${i % 137}.lua`,
			Name: `function_${i}`,
			Line: (i % 900) + 1,
			TotalDuration: 0,
			Lines: [[(i % 900) + 2, i, 1]],
		})),
	};
}

// A small one with everything in it, whose figures a reader can add up.
export function smallProfile() {
	return {
		Version: 2,
		SessionStartTime: 1700000000000,
		SessionEndTime: 1700000002000,
		Categories: [{ Name: "main", NodeId: 1 }],
		Nodes: [
			{ TotalDuration: 1000000, FunctionIds: [1], NodeIds: [2] },
			{ TotalDuration: 1000000, FunctionIds: [2, 4], NodeIds: [3, 5] },
			{ TotalDuration: 700000, FunctionIds: [3], NodeIds: [4] },
			{ TotalDuration: 100000 },
			{ TotalDuration: 250000, FunctionIds: [5], NodeIds: [6] },
			{ TotalDuration: 150000 },
		],
		Functions: [
			{ Source: "app.lua", Name: "main chunk", TotalDuration: 1000000 },
			{
				Source: "app.lua",
				Name: "is_prime",
				Line: 3,
				TotalDuration: 700000,
				Lines: [
					[4, 100000, 100],
					[5, 500000, 500],
				],
			},
			{ Source: "GC", Name: "GC", TotalDuration: 100000 },
			{ Source: "plugin.lua", Name: "hook", Line: 1, Flags: 2, TotalDuration: 250000 },
			{ Source: "[C]", Name: "string.format", Flags: 3, TotalDuration: 150000 },
		],
		GCFuncId: 3,
		Recorder: {
			Tool: "luaspy",
			Version: "0",
			Target: "lua5.4 (pid 42)",
			Period: 1000,
			WallDuration: 2000000,
			ScriptDuration: { Interpreted: 500000, Compiled: 250000, C: 0, GC: 100000 },
			Samples: { total: 1000, complete: 999, host: 0 },
			LostRecords: 1,
		},
		Samples: [
			[3, 1000, 7],
			[3, 1000, 7],
			[4, 1000, 7],
			[6, 500000, 7],
			[3, 1000, 7],
		],
		Sources: [
			{
				Source: "app.lua",
				Lines: [
					[3, "local function is_prime(n)"],
					[4, "\tfor i = 2, n - 1 do"],
					[5, "\t\tif n % i == 0 then return false end"],
				],
			},
		],
	};
}

const MARKUP = [
	"</script><script>window.attacked=1</script>",
	'<img src=x onerror="window.attacked=1">',
	'"><svg onload=window.attacked=1>',
	"<!--",
	"]]>",
	"&lt;b&gt;",
	"${window.attacked=1}",
	"javascript:window.attacked=1",
	"\u202egnp.exe",
	"\u0000\u0001\u001b[31m",
	"\u2028\u2029",
	"\ud800",
	"A".repeat(1 << 20),
	"@PROFILE@",
	"__proto__",
	"constructor",
	"<style>*{display:none}</style>",
];

// Names that want to be markup, a stack of 1,000 calls, 200,000 nodes; every text that a file can
// have is such a name, and ids point where there is nothing, or back.
export function hostileProfile() {
	const file = bigProfile(200000, 1000, 4000);
	file.Functions.forEach((entry, i) => {
		entry.Name = MARKUP[i % MARKUP.length].slice(0, i < 2 * MARKUP.length ? 1 << 20 : 1000);
		entry.Source = MARKUP[(i * 7) % MARKUP.length].slice(0, 1000);
		entry.Flags = i % 4;
	});
	const text = MARKUP.join("");
	file.Categories = [
		{ Name: MARKUP[0], NodeId: 1 },
		{ Name: "again", NodeId: 1 },
		{ Name: "nowhere", NodeId: 999999 },
		{ Name: "root", NodeId: 0 },
	];
	const inner = file.Nodes.findLastIndex((node) => node.NodeIds);
	file.Nodes[inner].NodeIds = [1, inner + 1, inner + 1, -1, 1e9, "x", null];
	file.Nodes[inner].FunctionIds = [1, 1, 1, 1, 1, 1, 1];
	file.Nodes[9].TotalDuration = "many";
	file.Functions[9].Lines = [[1, 2, 3], "x", [-1], [1e99, 1e99, 1e99], null];
	file.Recorder = {
		Version: text,
		Target: text,
		Host: text,
		Interpreter: text,
		Layout: text,
		Collector: text,
		ScriptDuration: { Interpreted: text, Compiled: -1, C: null, Compiler: [1] },
		Samples: { total: 1, complete: 1 },
		Reasons: [{ Name: text, Class: text, Count: 1, Sentence: text }],
		Events: [{ TimeUs: 1, Kind: text, Text: text }],
	};
	file.Samples = [[1, 5, 1], [2, 5, 1], [3, -5, 1], "x", [99999999, 5, 1], [3, 5, 2]];
	file.Sources = [
		{ Source: file.Functions[0].Source, Lines: [[2, MARKUP[0]]] },
		null,
		{ Source: 5 },
	];
	return file;
}
