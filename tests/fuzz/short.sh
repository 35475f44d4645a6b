#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 400
# A short fuzzing of every parser, in memory.
exec "$(dirname "$0")/run" short
