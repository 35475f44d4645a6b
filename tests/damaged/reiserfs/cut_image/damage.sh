# SPDX-License-Identifier: GPL-2.0-only
# base: base
truncate -s 700000 "$IMAGE"
