#!/usr/bin/env python3
"""Writes mmdb.golden from the rows below, sharing nothing with the program: a plain trie
with a set of children per node, after the MaxMind DB format specification 2.0."""
import ipaddress
import pathlib
import sys

sys.setrecursionlimit(10000)
G = "g-0a1b2c3d4e"
RECORDS = [  # in order of first use; the default's first
    ("centre", None, ["centre"], None),
    ("gz-01", "gz-tianhe-1", ["gz-01"], None),
    (G, "hz-1", ["gz-02", "gz-01"], [3, 1]),
    ("sh-01", None, ["sh-01"], None),
]
ROWS = [
    ("10.0.0.0/24", 1), ("10.0.1.0/25", 1),
    ("131.1.1.0/24", 2), ("131.1.2.0/23", 2), ("131.1.4.0/22", 2), ("131.1.8.0/23", 2), ("131.1.10.0/24", 2),
    ("203.0.113.0/24", 3), ("255.255.255.255/32", 2),
    ("2001:db8:100::/40", 1), ("2001:db8:200::/41", 2),
]
EPOCH = 1767323045  # 2026-01-02T03:04:05Z


def head(kind, size):
    assert size < 285
    first, more = (size, b"") if size < 29 else (29, bytes([size - 29]))
    return (bytes([kind << 5 | first]) if kind < 8 else bytes([first, kind - 7])) + more


def text(s):
    return head(2, len(s.encode())) + s.encode()


def number(kind, n):
    octets = n.to_bytes((n.bit_length() + 7) // 8, "big")
    return head(kind, len(octets)) + octets


def array(items):
    return head(11, len(items)) + b"".join(text(i) if isinstance(i, str) else number(6, i) for i in items)


def mapping(*pairs):
    return head(7, len(pairs)) + b"".join(text(k) + v for k, v in pairs)


def record(token, bas, edges, weights):
    pairs = [("edge", text(token))] + ([("bas", text(bas))] if bas else [])
    pairs += [("edges", array(edges))] + ([("weights", array(weights))] if weights else [])
    pairs += [("city", mapping(("names", mapping(("en", text(token))))))]
    return mapping(*pairs)


trie = {}  # bit string -> record
for prefix, value in ROWS:
    net = ipaddress.ip_network(prefix)
    bits = "0" * 96 if net.version == 4 else ""
    bits += format(int(net.network_address), f"0{net.max_prefixlen}b")[: net.prefixlen]
    trie[bits] = value
inner = {bits[:n] for bits in trie for n in range(len(bits))}


def tree(bits, value):
    value = trie.get(bits, value)
    if bits not in inner:
        return value
    halves = (tree(bits + "0", value), tree(bits + "1", value))
    return halves[0] if halves[0] == halves[1] and isinstance(halves[0], int) else halves


nodes = []


def count(node):
    """Numbers nodes so that a parent comes before its children and the right half first."""
    if not isinstance(node, int):
        nodes.append(node)
        count(node[1])
        count(node[0])


root = tree("", 0)
count(root)
numbers = {id(node): at for at, node in enumerate(nodes)}
data, offsets = b"", []
for r in RECORDS:
    offsets.append(len(data))
    data += record(*r)
out = b""
for node in nodes:
    for half in node:
        link = len(nodes) + 16 + offsets[half] if isinstance(half, int) else numbers[id(half)]
        out += link.to_bytes(3, "big")
out += bytes(16) + data + b"\xab\xcd\xefMaxMind.com"
out += mapping(
    ("binary_format_major_version", number(5, 2)),
    ("binary_format_minor_version", number(5, 0)),
    ("build_epoch", number(9, EPOCH)),
    ("database_type", text("Poolsync-GSLB-City")),
    ("description", mapping(("en", text("poolsync, session 00000000000000aa, generation 42")))),
    ("ip_version", number(5, 6)),
    ("languages", array(["en"])),
    ("node_count", number(6, len(nodes))),
    ("record_size", number(5, 24)),
)
pathlib.Path(__file__).with_name("mmdb.golden").write_bytes(out)
