@ 60 SOA ns1 hostmaster 1 3600 600 86400 60
@ 60 NS ns1
ns1 60 A 192.0.2.53
; DYNA where every group has addresses; DYNC where one is a host name only.
cdn 30 DYNA geoip!poolsync
