/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/plugin_presets.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *name, *glob;
} presets[] = {
	/* neovim.io/doc/user/pack.html: packages below any 'packpath', vim.pack's among them. */
	{"neovim", "*/pack/*/start/*"},
	{"neovim", "*/pack/*/opt/*"},
	/*
	 * lazy.folke.io/configuration: root is stdpath("data")/lazy; the folders of a plugin that
	 * Neovim runs Lua from are those of 'runtimepath' (neovim.io/doc/user/options.html).
	 */
	{"neovim", "*/lazy/*/lua/*"},
	{"neovim", "*/lazy/*/plugin/*"},
	{"neovim", "*/lazy/*/ftplugin/*"},
	{"neovim", "*/lazy/*/after/*"},
	/* github.com/junegunn/vim-plug, README: stdpath("data")/plugged or ~/.vim/plugged. */
	{"neovim", "*/plugged/*"},
	/*
	 * developer.konghq.com/custom-plugins/reference: modules are kong.plugins.NAME.MODULE,
	 * found by package.path, bundled ones as well.
	 */
	{"kong", "*/kong/plugins/*"},
	{"kong", "kong/plugins/*"},
	/*
	 * apisix.apache.org/docs/apisix/plugin-develop: apisix/plugins and apisix/stream/plugins
	 * below the installation or extra_lua_path.
	 */
	{"apisix", "*/apisix/plugins/*"},
	{"apisix", "*/apisix/stream/plugins/*"},
	{"apisix", "apisix/plugins/*"},
	{"apisix", "apisix/stream/plugins/*"},
	/*
	 * Prosody, util/pluginloader.lua: mod_NAME.lua and libraries NAME.lib.lua, directly in one
	 * of plugin_paths or in folders mod_NAME there; Prosody's own are in prosody/modules.
	 */
	{"prosody", "*/mod_*.lua"},
	{"prosody", "*/mod_*/*.lua"},
	{"prosody", "*.lib.lua"},
	{"prosody", "*/prosody/modules/*"},
};

static int add_preset(struct patterns *patterns, const char *name, size_t length)
{
	int error = -ENOENT;

	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		if (strlen(presets[i].name) != length || strncmp(presets[i].name, name, length))
			continue;
		error = patterns__add(patterns, presets[i].glob);
		if (error)
			break;
	}
	return error;
}

int plugin_presets__add(struct patterns *patterns, const char *names)
{
	for (;;) {
		size_t length = strcspn(names, ",");
		int error = add_preset(patterns, names, length);

		if (error || !names[length])
			return error;
		names += length + 1;
	}
}
