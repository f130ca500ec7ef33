/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "flamegraph/flamegraph_script.h"

/*
 * A hue by kind: s script, c functions in C, g the garbage collector, o time outside of script, k
 * categories; and a shade by name.
 */
#define HUE(kind, hue, saturation)                                                                 \
	"." kind "0>rect{fill:hsl(" hue "," saturation ",62%)}"                                    \
	"." kind "1>rect{fill:hsl(" hue "," saturation ",66%)}"                                    \
	"." kind "2>rect{fill:hsl(" hue "," saturation ",70%)}"                                    \
	"." kind "3>rect{fill:hsl(" hue "," saturation ",74%)}"                                    \
	"." kind "4>rect{fill:hsl(" hue "," saturation ",78%)}\n"

const char flamegraph_style[] =
	"\ntext{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#111;pointer-events:none}\n"
	".head{font-size:15px;font-weight:bold}\n"
	".paper{fill:#fff}\n" HUE("s", "28", "85%") HUE("c", "210", "55%") HUE("g", "120", "35%")
		HUE("o", "0", "0%") HUE("k", "48", "30%") "#frames rect{cursor:pointer}\n"
							  "#frames g:hover>rect{stroke:#111}\n"
							  "#frames .hit>rect{fill:#d060e0}\n"
							  "#frames .above>rect{opacity:.6}\n";

/*
 * Frames are laid out again by their attributes when one is clicked: those below it fill the width,
 * those above it become as wide as the picture, and others vanish. A click on the outermost one, or
 * Escape, shows all. Nothing is evaluated, loaded or sent.
 */
const char flamegraph_script[] =
	"\n'use strict';\n"
	"(() => {\n"
	"const left = 10, width = 1180, letter = 6.6;\n"
	"const note = document.getElementById('note'), told = note.textContent;\n"
	"const frames = [...document.querySelectorAll('#frames > g')].map(g => {\n"
	"  const box = g.querySelector('rect'), title = g.querySelector('title').textContent;\n"
	"  return {g, box, text: g.querySelector('text'), label: title.split('\\n')[0],\n"
	"    x: +box.getAttribute('x'), w: +box.getAttribute('width'), y: +box.getAttribute('y')};\n"
	"});\n"
	"const show = (frame, x, w) => {\n"
	"  frame.box.setAttribute('x', x);\n"
	"  frame.box.setAttribute('width', w);\n"
	"  const room = Math.floor(w / letter);\n"
	"  if (!frame.text) {\n"
	"    frame.text = document.createElementNS('http://www.w3.org/2000/svg', 'text');\n"
	"    frame.text.setAttribute('y', frame.y + 12);\n"
	"    frame.g.append(frame.text);\n"
	"  }\n"
	"  frame.text.setAttribute('x', x + 2);\n"
	"  frame.text.textContent = room < 3 ? '' : frame.label.length > room ?\n"
	"    frame.label.slice(0, room - 1) + '\\u2026' : frame.label;\n"
	"};\n"
	"const zoom = to => {\n"
	"  for (const frame of frames) {\n"
	"    const above = to && frame.y < to.y && frame.x <= to.x + .01 &&\n"
	"      frame.x + frame.w >= to.x + to.w - .01;\n"
	"    const inside = !to || (frame.y >= to.y && frame.x >= to.x - .01 &&\n"
	"      frame.x + frame.w <= to.x + to.w + .01);\n"
	"    frame.g.style.display = above || inside ? '' : 'none';\n"
	"    frame.g.classList.toggle('above', !!above);\n"
	"    if (above) show(frame, left, width);\n"
	"    else if (inside && to) show(frame, left + (frame.x - to.x) / to.w * width,\n"
	"      frame.w / to.w * width);\n"
	"    else if (inside) show(frame, frame.x, frame.w);\n"
	"  }\n"
	"};\n"
	"const search = text => {\n"
	"  let covered = 0, end = -1;\n"
	"  const hits = [];\n"
	"  for (const frame of frames) {\n"
	"    const hit = !!text && frame.label.includes(text);\n"
	"    frame.g.classList.toggle('hit', hit);\n"
	"    if (hit) hits.push(frame);\n"
	"  }\n"
	"  hits.sort((a, b) => a.x - b.x || b.w - a.w);\n"
	"  for (const hit of hits) {\n"
	"    covered += Math.max(0, hit.x + hit.w - Math.max(hit.x, end));\n"
	"    end = Math.max(end, hit.x + hit.w);\n"
	"  }\n"
	"  note.textContent = text ? told + '; \"' + text + '\" in ' +\n"
	"    (100 * covered / width).toFixed(1) + '%' : told;\n"
	"};\n"
	"document.getElementById('frames').addEventListener('click', event => {\n"
	"  const frame = frames.find(frame => frame.g.contains(event.target));\n"
	"  if (frame) zoom(frame.w > width - .1 ? null : frame);\n"
	"});\n"
	"document.addEventListener('keydown', event => {\n"
	"  if (event.key === 'Escape') { zoom(null); search(''); }\n"
	"  if (event.key !== 'f' || !(event.ctrlKey || event.metaKey)) return;\n"
	"  event.preventDefault();\n"
	"  search(prompt('Mark functions whose name has:') || '');\n"
	"});\n"
	"})();\n";
