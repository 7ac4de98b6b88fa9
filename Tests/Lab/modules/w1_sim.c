// SPDX-License-Identifier: GPL-2.0
/*
 * w1_sim: a 1-Wire bus master without hardware, with emulated DS18B20 (family 0x28) on it. Its
 * parameters are writable in /sys/module/w1_sim/parameters: temps (thousandths of a degree, one for
 * each sensor), crc_errors (that many readings get a wrong checksum), absent (which sensor does not
 * answer; -1: none).
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/w1.h>

#define MAXS 8
static int temps[MAXS] = { 21500, 22500 };
static int n_sensors = 2;
module_param_array_named(temps, temps, int, &n_sensors, 0644);
MODULE_PARM_DESC(temps, "thousandths of a degree, one number for each sensor");
static int crc_errors;           /* the next N scratchpad reads get a wrong CRC */
module_param(crc_errors, int, 0644);
static int absent = -1;          /* index of a sensor that does not answer (pulled off the bus) */
module_param(absent, int, 0644);

struct sim {
	u8 rom[MAXS][8];
	s16 latched[MAXS];
	u8 conf[MAXS], th[MAXS], tl[MAXS];
	int n, state, pos, sel;
	u8 id[8], out[9];
	int outlen, outpos;
	u8 cmd;
};
enum { ROMCMD, MATCH, FUNC, WRITESP, OUT, DEAF };
static struct sim sim;

/* Zero: somebody is on the bus. */
static u8 sim_reset(void *d)
{
	struct sim *s = d;

	s->state = ROMCMD;
	s->sel = -1;
	return 0;
}

static void load(struct sim *s, int i)
{
	s16 t = s->latched[i];
	u8 sp[9] = { t & 0xff, t >> 8, s->th[i], s->tl[i], s->conf[i], 0xff, 0x0c, 0x10, 0 };

	sp[8] = w1_calc_crc8(sp, 8);
	if (crc_errors > 0) { crc_errors--; sp[8] ^= 0x5a; }
	memcpy(s->out, sp, 9); s->outlen = 9; s->outpos = 0; s->state = OUT;
}

static void sim_write(void *d, u8 b)
{
	struct sim *s = d;
	int i;

	switch (s->state) {
	case ROMCMD:
		if (b == W1_SKIP_ROM) {
			s->sel = -2;		/* all of them */
			s->state = FUNC;
		} else if (b == W1_MATCH_ROM) {
			s->pos = 0;
			s->state = MATCH;
		} else if (b == 0x33 && s->n == 1) {	/* read ROM */
			memcpy(s->out, s->rom[0], 8);
			s->outlen = 8;
			s->outpos = 0;
			s->state = OUT;
		} else {
			s->state = DEAF;
		}
		break;
	case MATCH:
		s->id[s->pos++] = b;
		if (s->pos == 8) {
			for (i = 0; i < s->n; i++)
				if (i != absent && !memcmp(s->id, s->rom[i], 8)) s->sel = i;
			s->state = s->sel >= 0 ? FUNC : DEAF;
		}
		break;
	case FUNC:
		s->cmd = b; s->outlen = s->outpos = 0; s->state = OUT;
		if (b == 0x44) {                                  /* convert T: 1/16 degC */
			for (i = 0; i < s->n; i++)
				if (i == s->sel || s->sel == -2) s->latched[i] = DIV_ROUND_CLOSEST(temps[i] * 16, 1000);
		} else if (b == 0xbe) load(s, s->sel < 0 ? 0 : s->sel);
		else if (b == 0x4e) { s->pos = 0; s->state = WRITESP; }
		break;                                            /* 0xb4 power, 0x48, 0xb8: read as 0xff */
	case WRITESP:
		for (i = 0; i < s->n; i++)
			if (i == s->sel || s->sel == -2) {
				if (s->pos == 0) s->th[i] = b;
				if (s->pos == 1) s->tl[i] = b;
				if (s->pos == 2) s->conf[i] = (b & 0x60) | 0x1f;
			}
		s->pos++;
		break;
	}
}
static u8 sim_read(void *d)
{
	struct sim *s = d;

	return s->state == OUT && s->outpos < s->outlen ? s->out[s->outpos++] : 0xff;
}
static void sim_search(void *d, struct w1_master *m, u8 type, w1_slave_found_callback cb)
{
	struct sim *s = d;
	int i;

	if (type != W1_SEARCH) return;
	for (i = 0; i < s->n; i++)
		if (i != absent) { u64 rn; memcpy(&rn, s->rom[i], 8); cb(m, rn); }
}
/* single bits: an idle bus reads 1 (= externally powered, conversion done) */
static u8 sim_touch(void *d, u8 bit) { return bit; }
static struct w1_bus_master bm = { .data = &sim, .reset_bus = sim_reset, .write_byte = sim_write,
	.read_byte = sim_read, .search = sim_search, .touch_bit = sim_touch };

static int __init w1_sim_init(void)
{
	int i;

	sim.n = n_sensors;
	for (i = 0; i < sim.n; i++) {
		u8 r[8] = { 0x28, i + 1, 0x5e, 0x11, 0xa0, 0x01, 0x00, 0 };

		r[7] = w1_calc_crc8(r, 7); memcpy(sim.rom[i], r, 8);
		sim.latched[i] = 85 * 16; sim.conf[i] = 0x7f; sim.th[i] = 75; sim.tl[i] = 70;
	}
	return w1_add_master_device(&bm);
}
static void __exit w1_sim_exit(void) { w1_remove_master_device(&bm); }
module_init(w1_sim_init);
module_exit(w1_sim_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("1-Wire master with emulated DS18B20 sensors, for tests");
