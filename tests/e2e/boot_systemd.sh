#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# boot_systemd.sh FOLDER CGROUP: becomes a systemd with nothing to do, process 1 of namespaces of its
# own in the cgroup of that path, whose root is FOLDER/root. It has this system's /usr, and in
# /usr/local what FOLDER/installed holds. To be run as root; units, also those of the system, are
# only those that are put into root/etc/systemd/system or lie in /usr/local. Where FOLDER/upper is, it
# takes what is written to /usr, packages can be installed, and their units are there, too.
set -eu
folder=$1 cgroup=$2
root=$folder/root

make_root() {
	mkdir -p "$root"
	cd "$root"
	mkdir -p usr etc/systemd/system etc/default var proc sys dev run home old
	mkdir -m 1777 tmp
	for name in bin sbin lib lib32 lib64 libx32; do
		[ ! -L "/$name" ] || ln -s "usr/$name" "$name"
	done
	cp -a /etc/passwd /etc/group /etc/ld.so.cache /etc/nsswitch.conf /etc/alternatives etc
	: >etc/machine-id
	cp /lib/systemd/system/systemd-journald.service /lib/systemd/system/systemd-journald*.socket \
		etc/systemd/system
	for target in basic sysinit sockets shutdown; do
		printf '[Unit]\nDefaultDependencies=no\n' >"etc/systemd/system/$target.target"
	done
	echo "Wants=systemd-journald.socket" >>etc/systemd/system/sysinit.target
}

# Settings of the kernel, which are the whole machine's, stay as they are.
mount_all() {
	cd "$root"
	mount --bind . .
	cd "$root"
	if [ -d "$folder/upper" ]; then
		mkdir -p "$folder/work" var/lib/dpkg/info var/lib/dpkg/updates var/log
		: >>var/lib/dpkg/status
		mount -t overlay -o "lowerdir=/usr,upperdir=$folder/upper,workdir=$folder/work" usr usr
		mount -t tmpfs -o mode=755 units usr/lib/systemd/system
		rm -f usr/sbin/policy-rc.d
	else
		mount --bind /usr usr
		mount -o remount,bind,ro usr
	fi
	mount --bind "$folder/installed" usr/local
	for name in null zero full random urandom tty; do
		: >"dev/$name"
		mount --bind "/dev/$name" "dev/$name"
	done
	mount -t proc proc proc
	mount --bind proc/sys proc/sys
	mount -o remount,bind,ro proc/sys
	mount -t sysfs -o ro sysfs sys
	mount -t cgroup2 cgroup2 sys/fs/cgroup
	mount -t tmpfs -o mode=755 tmpfs run
}

if [ "${BOOTS-}" != inside ]; then
	make_root
	echo $$ >"$cgroup/cgroup.procs"
	BOOTS=inside exec unshare --fork --kill-child --pid --mount --cgroup --uts --ipc --net \
		"$0" "$folder" "$cgroup"
fi
units=
[ ! -d "$folder/upper" ] || units=:/usr/lib/systemd/system
mount_all
pivot_root . old
umount -l /old
exec env -i PATH=/usr/sbin:/usr/bin container=test \
	SYSTEMD_UNIT_PATH="/etc/systemd/system:/usr/local/lib/systemd/system$units" \
	/lib/systemd/systemd --system --unit=basic.target --log-target=journal
