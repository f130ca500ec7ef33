// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The ScriptProfiler v2 file as the page gets it, with luaspy's optional fields. Durations are
// microseconds, ids count from 1. Nothing in it is trusted: tree.ts and functions.ts check each id.

export interface FileCategory {
	Name?: string;
	NodeId: number;
}

export interface FileNode {
	TotalDuration: number;
	FunctionIds?: number[];
	NodeIds?: number[];
}

export interface FileFunction {
	Source?: string;
	Name?: string;
	Line?: number;
	Flags?: number;
	CurrentLine?: number;
	TotalDuration: number;
	Lines?: [line: number, us: number, samples: number][];
}

// The text of source lines, where the recorder could read it; any lines, in any order.
export interface FileSource {
	Source: string;
	Lines: [line: number, text: string][];
}

export interface FileReason {
	Name: string;
	Class: string;
	Count: number;
	Sentence: string;
}

export interface FileRecorder {
	Tool?: string;
	Version?: string;
	Host?: string;
	Target?: string;
	Interpreter?: string;
	Layout?: string;
	Collector?: string;
	CollectorUnknown?: string;
	Frequency?: number;
	Period?: number;
	WallDuration?: number;
	CpuDuration?: number;
	PausedDuration?: number;
	ScriptDuration?: { [part: string]: number };
	Samples?: { total: number; [sampleClass: string]: number };
	Reasons?: FileReason[];
	Events?: { TimeUs: number; Kind: string; Text?: string }[];
	[counter: string]: unknown;
}

export interface ProfileFile {
	Version: number;
	SessionStartTime?: number;
	SessionEndTime?: number;
	Categories: FileCategory[];
	Nodes: FileNode[];
	Functions: FileFunction[];
	GCFuncId?: number;
	Recorder?: FileRecorder;
	Samples?: [node: number, deltaUs: number, thread: number][];
	Sources?: FileSource[];
}

export const NATIVE = 1;
export const PLUGIN = 2;

// Throws the error that the page shows instead of the profile.
export function parseFile(text: string): ProfileFile {
	const file = JSON.parse(text) as Partial<ProfileFile> | null;

	if (!file || file.Version !== 2)
		throw new Error(`the profile's version is ${String(file?.Version)}, this page reads 2`);
	for (const key of ["Categories", "Nodes", "Functions"] as const)
		if (!Array.isArray(file[key])) throw new Error(`the profile has no list '${key}'`);
	return file as ProfileFile;
}
