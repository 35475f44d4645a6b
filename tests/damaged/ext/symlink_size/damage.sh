# SPDX-License-Identifier: GPL-2.0-only
# base: plain
dbg 'sif <18> size 5000'
