/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef __TARGET_ARCH_arm64
#define __TARGET_ARCH_arm64
#endif

#include "luajit/scratch_luajit.bpf.h"

#include "arm64_machine.h"
#include "family_walker.h"

#include "family_walker_definitions.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#include "luajit/walk_luajit.bpf.h"

#include "family_walker_body.h"
#pragma GCC diagnostic pop

#define CFRAME_SIZE  208 /* CFRAME_SPACE, vm_arm64.dasc */
#define FRAME_RECORD 192 /* SAVE_FP_LR_ */
#define NOP          0xd503201fU
#define STORE_LINK   0xf81f8275U /* STR x21, [x19, #-8] */
#define NONSENSE     0x4045000000000000ULL

/* Puts the VM's C frame onto the native stack, in place of the one that the image has made. */
static void enter(struct machine *machine, size_t thread)
{
	struct image *image = &machine->image;
	struct image_thread *entered = &image->threads[thread];

	luajit_image__native_frame(image, CFRAME_SIZE);
	machine__put(machine, image->sp + 16, entered->address);
	memory__put(&image->memory, image->sp + 40, 1, 4);
	machine__put(machine, image->sp + FRAME_RECORD, image->sp + CFRAME_SIZE + 64);
	machine__put(machine, image->sp + FRAME_RECORD + 8, IMAGE_C_FUNCTION + 64);
	entered->cframe = image->sp;
	machine__put(machine, entered->address + offsetof(struct ls_luajit_state, cframe),
		     image->sp);
}

static void scramble(struct machine *machine)
{
	for (size_t i = 0; i < LS_REGISTER_COUNT; i++)
		machine->image.registers[i] = NONSENSE + i;
}

int machine__begin(void **state)
{
	static const char *const sources[] = {"@main.lua", "@body.lua", "@leaf.lua"};
	struct machine *machine = calloc(1, sizeof(*machine));
	struct image *image;

	assert_non_null(machine);
	*state = machine;
	image = &machine->image;
	luajit_image__start(image, &layouts_luajit[0].offsets);
	machine->walker = calloc(1, sizeof(*machine->walker));
	assert_non_null(machine->walker);
	start_walker(machine->walker);
	for (uint32_t i = 0; i < 3; i++)
		machine->closures[i] = luajit_image__closure(
			image, luajit_image__proto(image, sources[i], 10 * i));
	machine->builtin = luajit_image__builtin(image, IMAGE_C_FUNCTION, 40);
	luajit_image__call_from_c(image, IMAGE_MAIN, machine->closures[0]);
	enter(machine, IMAGE_MAIN);
	luajit_image__call(image, IMAGE_MAIN, machine->closures[2], 7);
	memory__map(&image->memory, MACHINE_VM, MEMORY_PAGE);
	image->pc = MACHINE_VM + 0x100;
	scramble(machine);
	return 0;
}

int machine__end(void **state)
{
	struct machine *machine = *state;

	end_walker(machine->walker);
	free(machine->walker);
	luajit_image__end(&machine->image);
	free(machine);
	return 0;
}

struct image_call *machine__top(struct machine *machine)
{
	return luajit_image__top(&machine->image, IMAGE_MAIN);
}

uint64_t machine__after(const struct image_call *call, uint32_t pc)
{
	return call->code + 4 * (pc + 1);
}

uint64_t machine__constants(const struct machine *machine, uint64_t closure)
{
	const struct memory *memory = &machine->image.memory;
	uint64_t code = memory__get(memory, closure + offsetof(struct ls_luajit_function, pc), 8);

	return memory__get(memory,
			   code - sizeof(struct ls_luajit_proto) +
				   offsetof(struct ls_luajit_proto, constants),
			   8);
}

uint64_t machine__value(uint64_t closure)
{
	return closure | ~(uint64_t)LS_LUAJIT_FUNCTION << LS_LUAJIT_TYPE_SHIFT;
}

void machine__run(struct machine *machine, uint32_t pc)
{
	struct image *image = &machine->image;
	struct image_call *call = luajit_image__top(image, IMAGE_MAIN);

	call->pc = pc;
	image->sp = image->threads[IMAGE_MAIN].cframe;
	scramble(machine);
	image->registers[BASE] = call->base;
	image->registers[PC] = machine__after(call, pc);
	image->registers[GL] = image->global;
	image->registers[L] = image->threads[IMAGE_MAIN].address;
	image->registers[FP] = image->sp + FRAME_RECORD;
	luajit_image__set_vm_state(image, LS_LUAJIT_IN_INTERPRETER);
}

void machine__leave_vm(struct machine *machine, uint64_t size)
{
	luajit_image__native_frame(&machine->image, size);
	scramble(machine);
}

void machine__put_code(struct machine *machine, uint32_t count)
{
	struct image *image = &machine->image;

	for (uint32_t i = 0; i < 16; i++)
		memory__put(&image->memory, image->pc + 4 * i,
			    count && i + 1 == count ? STORE_LINK : NOP, 4);
}

void machine__put(struct machine *machine, uint64_t address, uint64_t word)
{
	memory__put(&machine->image.memory, address, word, 8);
}

void machine__sample(struct machine *machine)
{
	struct ls_luajit_layout layout = *machine->image.layout;

	layout.cframe_previous = 0;
	sample_as(machine->walker, &machine->image, &layout);
}

void machine__forget(struct machine *machine)
{
	clear_walker(machine->walker);
}

void machine__expect(struct machine *machine)
{
	static const size_t threads[] = {IMAGE_MAIN};

	machine__sample(machine);
	expect_chain(machine->walker, &machine->image, LS_SAMPLE_COMPLETE, threads, 1);
}

void machine__expect_error(struct machine *machine, uint8_t error)
{
	machine__sample(machine);
	assert_int_equal(machine->walker->scratch->sample.error, error);
}

uint64_t machine__base(const struct machine *machine)
{
	return machine->walker->scratch->base.base;
}
