/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Wireshark's dissectors: C calls the script once a packet, in PUC Lua 5.2. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "field.h"

#define PACKETS 240000
#define PAYLOAD 16

static const char dissector[] = FIELD_WORK
	"local xyz = Proto('xyz', 'XYZ protocol')\n"
	"local sum = ProtoField.uint32('xyz.sum', 'Sum')\n"
	"xyz.fields = {sum}\n"
	"local function checksum(buffer)\n"
	"	local n = 0\n"
	"	for i = 0, buffer:len() - 1 do n = (n * 33 + buffer(i, 1):uint()) % 65521 end\n"
	"	return n\n"
	"end\n"
	"function xyz.dissector(buffer, pinfo, tree)\n"
	"	pinfo.cols.protocol = 'XYZ'\n"
	"	tree:add(xyz, buffer()):add(sum, checksum(buffer))\n"
	"	work()\n"
	"end\n"
	"DissectorTable.get('udp.port'):add(7777, xyz)\n";

/* pcap: a file's header; each packet is UDP to port 7777. */
struct header {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t zone, digits, length_max, link_type;
};

struct __attribute__((packed)) packet {
	uint32_t seconds, microseconds, captured, length;
	uint8_t addresses[12];
	uint16_t ethertype;
	uint8_t version, service;
	uint16_t ip_length, id, fragment;
	uint8_t hops, protocol;
	uint16_t ip_checksum;
	uint32_t from, to;
	uint16_t from_port, to_port, udp_length, udp_checksum;
	uint8_t payload[PAYLOAD];
};

static void write_packets(const char *path)
{
	const struct header header = {0xa1b2c3d4, 2, 4, 0, 0, 65535, 1};
	const uint32_t length = sizeof(struct packet) - offsetof(struct packet, addresses);
	struct packet packet = {
		.captured = length,
		.length = length,
		.ethertype = htons(0x0800),
		.version = 0x45,
		.ip_length = htons(20 + 8 + PAYLOAD),
		.hops = 64,
		.protocol = 17,
		.from_port = htons(40000),
		.to_port = htons(7777),
		.udp_length = htons(8 + PAYLOAD),
	};
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(&header, sizeof(header), 1, file), 1);
	for (int i = 0; i < PACKETS; i++) {
		packet.microseconds = (uint32_t)i;
		packet.from = htonl(0x0a000001);
		packet.to = htonl(0x0a000002);
		memset(packet.payload, i, sizeof(packet.payload));
		assert_int_equal(fwrite(&packet, sizeof(packet), 1, file), 1);
	}
	assert_int_equal(fclose(file), 0);
}

static void shows_the_dissector_and_the_classes_it_uses(void **state)
{
	struct child *tshark;
	struct scriptprofile *profile;

	need_to_record();
	need_program("tshark", "tshark");
	field__write(*state, "xyz.lua", dissector);
	write_packets(in_folder(*state, "x.pcap"));
	tshark = start(*state, "tshark", "-l", "-r", "x.pcap", "-X", "lua_script:xyz.lua", "-T",
		       "fields", "-e", "xyz.sum");
	child__await_output(*state, tshark, "\n");
	profile = field__record(*state, tshark, "*xyz.lua");
	require_of(profile,
		   scriptprofile__total_us(profile, "*xyz.lua", NULL, 12) > profile->all_us / 2);
	require_of(profile, field__has_stack(profile, "^* > checksum > Tvb.range"));
	require_of(profile, field__has_stack(profile, "checksum > TvbRange.uint"));
	require_of(profile, field__has_c_function(profile, "TreeItem.add"));
	require_of(profile, field__has_stack(profile, "work > hot"));
	require_of(profile, field__has_stack(profile, "* > TvbRange.__gc"));
	require_of(profile, field__host_percent(profile) >= 2);
	require_of(profile, field__host_percent(profile) <= 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		staged(shows_the_dissector_and_the_classes_it_uses),
	};

	return cmocka_run_group_tests_name("tshark", tests, NULL, NULL);
}
