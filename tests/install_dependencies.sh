#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# install_dependencies.sh [build|demo|test|extra|page|kernels|lint]...: installs what these need and
# the machine lacks, on Debian and its relatives; elsewhere it says what to install. Fetches nothing
# if all is there.
set -euo pipefail

PATH=$PATH:/usr/sbin:/sbin
read -ra compiler <<<"${CC:-gcc}"
packages=()

has_program() { command -v "$1" >/dev/null; }
has_library() { has_program pkg-config && pkg-config --exists "$1"; }
compiles() { "${compiler[@]}" -x c "$@" -o /dev/null - >/dev/null 2>&1; }
has_header() { echo "#include <$1>" | compiles -E; }
has_fuzzer() {
	echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
		"${CLANG:-clang}" -x c -fsanitize=fuzzer,address - -o /dev/null 2>/dev/null
}
has_sanitizers() { echo 'int main(void) { return 0; }' | compiles -fsanitize=address,undefined; }

builds_for_32_bits() { echo '#include <stdio.h>' | compiles -m32 -c; }
is_static_busybox() { [ -x /bin/busybox ] && ! readelf -l /bin/busybox | grep -q INTERP; }
has_pip() { python3 -m pip --version >/dev/null 2>&1; }
has_weechat_plugin() { compgen -G "/usr/lib/*/weechat/plugins/$1.so" >/dev/null; }

# Ubuntu's bpftool is a script that looks for the tools of the running kernel and may find none.
has_bpftool() {
	local tool
	for tool in "${BPFTOOL:-bpftool}" /usr/lib/linux-tools/*/bpftool; do
		"$tool" version >/dev/null 2>&1 && return
	done
	return 1
}

# need PACKAGE PROBE [ARGUMENT]
need() {
	local package=$1
	shift
	"$@" || packages+=("$package")
}

need_to_build() {
	need gcc has_program "${compiler[0]}"
	need make has_program make
	need clang has_program "${CLANG:-clang}"
	need bpftool has_bpftool
	need pkg-config has_program pkg-config
	need libbpf-dev has_library 'libbpf >= 1.0'
	need libelf-dev has_library libelf
	need zlib1g-dev has_library zlib
	need libncurses-dev has_library ncursesw
	need uthash-dev has_header uthash.h
	need ncurses-bin has_program infocmp
	need binutils has_program readelf
}

need_to_demonstrate() {
	need lua-check has_program luacheck
}

need_to_test() {
	local version
	need libcmocka-dev has_library cmocka
	need libjansson-dev has_library jansson
	need "$(sanitizers_package)" has_sanitizers
	need "$(fuzzer_package)" has_fuzzer
	for version in 5.1 5.2 5.3 5.4; do
		need "lua$version" has_program "lua$version"
	done
	need liblua5.1-0-dev has_library lua5.1
	need liblua5.2-dev has_library lua5.2
	need liblua5.3-dev has_library lua5.3
	need liblua5.4-dev has_library lua5.4
	need luajit has_program luajit
	need libluajit-5.1-dev has_library luajit
	need lua-check has_program luacheck
	need musl-tools has_program musl-gcc
	if [ "$(uname -m)" != aarch64 ]; then
		need gcc-aarch64-linux-gnu has_program aarch64-linux-gnu-gcc
		need libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/lib/libc.a
	fi
	need procps has_program pgrep
	need tmux has_program tmux
	need libcap2-bin has_program setcap
	need systemd test -x /lib/systemd/systemd
	need dpkg-dev has_program dpkg-shlibdeps
	need lintian has_program lintian
	need man-db has_program man
	need mandoc has_program mandoc
	need busybox-static is_static_busybox
	need redis-server has_program redis-server
	need redis-tools has_program redis-cli
	need_in_the_field
	need python3 has_program python3
	need_readers
}

# Other people's readers of luaspy's formats. npm of Debian's has 300 small packages with it; pip
# fetches the others.
need_readers() {
	need python3-pip has_pip
	need nodejs has_program node
	need npm has_program npm
	need golang-go has_program go
	need valgrind has_program callgrind_annotate
}

# Programs that embed Lua, together 190 MB, of which libwireshark takes 120 and TeX's programs 50.
need_in_the_field() {
	need haproxy has_program haproxy
	need tshark has_program tshark
	need prosody has_program prosody
	need texlive-binaries has_program texlua
	need premake4 has_program premake4
	need imapfilter has_program imapfilter
	need lighttpd has_program lighttpd
	need lighttpd-modules-lua test -e /usr/lib/lighttpd/mod_magnet.so
	need weechat-headless has_program weechat-headless
	need weechat-lua has_weechat_plugin lua
}

# What a few tests want besides, 330 MB: they leave themselves out without it.
need_extra() {
	[ "$(uname -m)" != x86_64 ] || need "$(multilib_package)" builds_for_32_bits
	need collectd-core has_program collectd
	need nmap has_program nmap
	need pandoc has_program pandoc
	need gringo has_program clingo
	need vim-nox has_program vim.nox
	need neovim has_program nvim
	need sysbench has_program sysbench
	[ "$(uname -m)" != x86_64 ] || need tarantool has_program tarantool
	need rpm has_program rpm
	need skopeo has_program skopeo
	case $(uname -m) in
	x86_64) need gcc-aarch64-linux-gnu has_program aarch64-linux-gnu-gcc ;;
	esac
	need umoci has_program umoci
	need podman has_program podman
}

# To build and test the page that shows a profile, 300 MB; npm fetches the rest (user/page/).
need_page() {
	need nodejs has_program node
	need npm has_program npm
	need chromium has_program chromium
}

# To boot kernels, 250 MB, of which the compiler for arm64 takes half.
need_kernels() {
	need qemu-system-x86 has_program qemu-system-x86_64
	need qemu-system-arm has_program qemu-system-aarch64
	need busybox-static is_static_busybox
	need cpio has_program cpio
	need binutils has_program readelf
	need debian-archive-keyring test -e /usr/share/keyrings/debian-archive-keyring.gpg
	case $(uname -m) in
	x86_64) need g++-aarch64-linux-gnu has_program aarch64-linux-gnu-g++ ;; # and gcc
	esac
}

need_to_lint() {
	need clang-format has_program clang-format
	need shellcheck has_program shellcheck
	need python3 has_program python3
}

# What holds the sanitizers and the fuzzer of this clang; nothing if it is another compiler.
clang_runtime_package() {
	local clang_version
	clang_version=$("$@" --version 2>/dev/null | sed -n 's/.*clang version \([0-9]*\).*/\1/p')
	[ -z "$clang_version" ] || echo "libclang-rt-$clang_version-dev"
}

# Of a clang that is yet to be installed, the one for the distribution's default.
fuzzer_package() {
	local package
	package=$(clang_runtime_package "${CLANG:-clang}")
	echo "${package:-libclang-rt-dev}"
}

# Of the gcc that is there: gcc-multilib itself cannot be installed beside a cross compiler.
multilib_package() {
	local version
	version=$(gcc -dumpversion 2>/dev/null) || true
	echo "gcc-${version:+${version%%.*}-}multilib"
}

# gcc brings its own.
sanitizers_package() {
	local package
	package=$(clang_runtime_package "${compiler[@]}")
	echo "${package:-gcc}"
}

look_for() {
	local purpose
	packages=()
	for purpose in "$@"; do
		case $purpose in
		build) need_to_build ;;
		demo) need_to_demonstrate ;;
		test) need_to_test ;;
		extra) need_extra ;;
		page) need_page ;;
		kernels) need_kernels ;;
		lint) need_to_lint ;;
		*)
			echo "unknown purpose '$purpose' (build, demo, test, extra, page, kernels or lint)" >&2
			exit 2
			;;
		esac
	done
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

apt_install() {
	as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -q --no-install-recommends "$@" </dev/null
}

# Ubuntu has bpftool among its kernel's tools.
name_for_this_release() {
	local policy
	policy=$(apt-cache policy bpftool 2>/dev/null)
	[[ $policy == *'Candidate: '[0-9]* ]] && return
	packages=("${packages[@]/#bpftool/linux-tools-generic}")
}

# The tests want these programs; nobody asked for services on this machine.
new_services=()
service_policy=/usr/sbin/policy-rc.d
policy_is_ours=

refuse_services() {
	local service
	for service in redis-server haproxy prosody lighttpd; do
		case " ${packages[*]} " in
		*" $service "*) new_services+=("$service") ;;
		esac
	done
	if [ ${#new_services[@]} = 0 ] || [ -e "$service_policy" ]; then
		return 0
	fi
	policy_is_ours=1
	printf '#!/bin/sh\nexit 101\n' | as_root tee "$service_policy" >/dev/null
	as_root chmod 755 "$service_policy"
}

allow_services() {
	if [ -n "$policy_is_ours" ]; then
		as_root rm -f "$service_policy"
	fi
	if [ ${#new_services[@]} != 0 ] && has_program systemctl; then
		as_root systemctl disable --quiet "${new_services[@]}" >/dev/null 2>&1 || true
	fi
}

look_for "${@:-build}"
[ ${#packages[@]} = 0 ] && exit 0

if ! has_program apt-get; then
	echo "cannot install on this system; missing are what Debian calls: ${packages[*]}" >&2
	exit 1
fi
if [ "$(id -u)" != 0 ] && ! has_program sudo; then
	echo "cannot install without root; as root: apt-get install ${packages[*]}" >&2
	exit 1
fi

echo "installing: ${packages[*]}"
trap allow_services EXIT
refuse_services
if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
	as_root apt-get update -q
fi
name_for_this_release
# Old lists name packages that the mirrors no longer have.
apt_install "${packages[@]}" || { as_root apt-get update -q && apt_install "${packages[@]}"; }

look_for "${@:-build}"
if [ ${#packages[@]} != 0 ]; then
	echo "still missing after installation: ${packages[*]} (too old, or out of PATH?)" >&2
	exit 1
fi
