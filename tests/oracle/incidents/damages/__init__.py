"""What can befall stopped brokers: small functions on the folder of an incident, one row a kind.

`site` (what a damage finds), `records` (segments, indexes, snapshots), `checkpoints` (checkpoints, markers, the
metadata log), `pieces` (whole ones, but older or of another place), `exchanged` (files of the wrong place, fields that
no checksum covers), `generations` (all of another time or another cluster), `subtle` (every checksum is right),
`handiwork` (what people do by hand), `hands` (what operators do in an outage), `operators` (other roles, addresses,
settings), `hosts` (scripts, and disks on other hosts), `restores` (restores and moves), `filesystems` (disks, file
systems, clocks), `places` (directories), `identities` (ids and settings), `table` (the rows).
"""
