# SPDX-License-Identifier: GPL-2.0-only
# base: tails
truncate -s 140000 "$IMAGE"
