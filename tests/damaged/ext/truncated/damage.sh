# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
truncate -s 9M "$IMAGE"
