/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What error messages say that luaspy accepts. */
#ifndef TEST_ACCEPTED_H
#define TEST_ACCEPTED_H

#define PID       "a process id, 1 to 4194304"
#define DURATION  "a time such as 500ms, 30, 1.5s, 5m or 1h, up to 365 days"
#define FREQUENCY "1 to 20000 Hz, such as 1000, 250hz or 10khz"
#define DEPTH     "a number of frames, 1 to 4096"

#endif
