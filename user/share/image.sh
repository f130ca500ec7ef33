#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# image.sh OUTPUT VERSION REVISION ARCHITECTURE=PROGRAM...: makes OUTPUT an OCI image of static
# programs, one for each ARCHITECTURE (x86, arm64), as an archive that podman loads and skopeo
# copies. The same programs give the same bytes; SOURCE_DATE_EPOCH is the time of all in it.
#
# The formats: OCI image specification 1.0, image-layout.md, image-index.md, manifest.md, config.md.
set -eu
output=$1 version=$2 revision=$3
shift 3
: "${SOURCE_DATE_EPOCH:?is the time of what is in the image, in seconds}"

layout=$(mktemp -d "$output.XXXXXX")
trap 'rm -rf "$layout" "$layout.root" "$layout.tar"' EXIT
mkdir -p "$layout/blobs/sha256"
umask 022

created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
image_type=application/vnd.oci.image

# Moves a file among the blobs; prints its descriptor without the closing brace.
add_blob() {
	digest=$(sha256sum <"$2" | cut -d ' ' -f 1)
	printf '{"mediaType":"%s","digest":"sha256:%s","size":%d' "$1" "$digest" "$(wc -c <"$2")"
	mv "$2" "$layout/blobs/sha256/$digest"
}

# Of what lies in the folder $2.
make_tar() {
	tar --create --file "$1" --directory "$2" --format=ustar --sort=name --owner=0 --group=0 \
		--numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --mode=u=rwX,go=rX .
}

labels() {
	printf '"org.opencontainers.image.%s":"%s"' title luaspy
	printf ',"org.opencontainers.image.%s":"%s"' \
		description 'Sampling profiler for Lua that looks from outside' \
		version "$version" created "$created" licenses 'GPL-2.0-only OR BSD-2-Clause'
	[ -z "$revision" ] || printf ',"org.opencontainers.image.revision":"%s"' "$revision"
}

# The layer is the program and the folders above it.
add_layer() {
	install -D -m 755 "$1" "$layout.root/usr/bin/luaspy"
	make_tar "$layout.tar" "$layout.root"
	rm -rf "$layout.root"
	layer_id=$(sha256sum <"$layout.tar" | cut -d ' ' -f 1)
	gzip -9n <"$layout.tar" >"$layout/layer"
	layer="$(add_blob $image_type.layer.v1.tar+gzip "$layout/layer")}"
}

# What a container of it runs, and as what.
add_config() {
	cat >"$layout/config" <<-END
	{"created":"$created","architecture":"$1","os":"linux","config":{
	"Env":["PATH=/usr/bin","LANG=C.UTF-8"],"Entrypoint":["/usr/bin/luaspy"],"Cmd":["help"],
	"Labels":{$(labels)}},
	"rootfs":{"type":"layers","diff_ids":["sha256:$layer_id"]},
	"history":[{"created":"$created","created_by":"make image"}]}
	END
	config="$(add_blob $image_type.config.v1+json "$layout/config")}"
}

# Prints the image's descriptor.
add_image() {
	case $1 in
	x86) architecture=amd64 ;;
	*) architecture=$1 ;;
	esac
	add_layer "$2"
	add_config "$architecture"
	printf '{"schemaVersion":2,"mediaType":"%s","config":%s,"layers":[%s]}' \
		$image_type.manifest.v1+json "$config" "$layer" >"$layout/manifest"
	add_blob $image_type.manifest.v1+json "$layout/manifest"
	printf ',"platform":{"architecture":"%s","os":"linux"}}' "$architecture"
}

images=
for each in "$@"; do
	image=$(add_image "${each%%=*}" "${each#*=}")
	images=${images:+$images,}$image
done

# What the archive names is one thing: the image, or a list of the images for each architecture.
named=${images%?}
if [ $# != 1 ]; then
	printf '{"schemaVersion":2,"mediaType":"%s","manifests":[%s]}' $image_type.index.v1+json \
		"$images" >"$layout/images"
	named=$(add_blob $image_type.index.v1+json "$layout/images")
fi
printf '{"schemaVersion":2,"manifests":[%s,"annotations":{"%s":"luaspy:%s"}}]}' "$named" \
	org.opencontainers.image.ref.name "$version" >"$layout/index.json"
printf '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"

make_tar "$layout.tar" "$layout"
mv "$layout.tar" "$output"
