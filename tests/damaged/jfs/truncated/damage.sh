# SPDX-License-Identifier: GPL-2.0-only
truncate -s 1M "$IMAGE"
