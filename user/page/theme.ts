// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Light or dark: as the system says, until the user says otherwise.

export type Theme = "auto" | "light" | "dark";

const THEMES: Theme[] = ["auto", "light", "dark"];
const KEY = "luaspy-theme";

// A page opened from a file may be denied storage.
function remembered(): Theme {
	try {
		const theme = localStorage.getItem(KEY) as Theme;
		return THEMES.includes(theme) ? theme : "auto";
	} catch {
		return "auto";
	}
}

function remember(theme: Theme): void {
	try {
		localStorage.setItem(KEY, theme);
	} catch {
		return; // it holds until the page is closed
	}
}

export class ThemeSwitch {
	private readonly system = matchMedia("(prefers-color-scheme: dark)");
	private theme = remembered();

	constructor(
		private readonly button: HTMLElement,
		private readonly onChange: (isDark: boolean) => void,
	) {
		button.addEventListener("click", () => this.next());
		this.system.addEventListener("change", () => this.apply());
		this.apply();
	}

	private next(): void {
		this.theme = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length] as Theme;
		remember(this.theme);
		this.apply();
	}

	private apply(): void {
		const isDark = this.theme === "dark" || (this.theme === "auto" && this.system.matches);
		document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
		this.button.textContent = {
			auto: "Theme: auto",
			light: "Theme: light",
			dark: "Theme: dark",
		}[this.theme];
		this.onChange(isDark);
	}
}
