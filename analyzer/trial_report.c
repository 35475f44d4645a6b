/* SPDX-License-Identifier: GPL-2.0-only */
#include "trial_report.h"
bool trial_report(const json_t *result, enum trial_format format)
{
	(void)result; (void)format;
	return true;
}
