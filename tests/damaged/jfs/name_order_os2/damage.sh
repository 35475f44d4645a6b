# SPDX-License-Identifier: GPL-2.0-only
xz -dc "$TOP/samples/jfs-os2.img.xz" >image
cp image base-os2
base=base-os2
at=$(entry_at "apple"); poke $((at + 6)) 78
