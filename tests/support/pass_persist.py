#!/usr/bin/python3 -u
# Serves the rows of a walk file (OID|TYPE|VALUE, a line each) to snmpd by its
# pass_persist protocol. Whether the file is another is looked at before every answer, so
# that a test can replace it at any time.
import bisect
import os
import sys

KINDS = {"2": "integer", "4": "string", "6": "objectid", "64": "ipaddress",
         "65": "counter", "66": "gauge", "67": "timeticks"}


def arcs(text):
    return tuple(int(arc) for arc in text.strip().strip(".").split("."))


def rows(path):
    table = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip():
                oid, kind, value = line.rstrip("\n").split("|", 2)
                table[arcs(oid)] = (KINDS[kind], value)
    return table


def show(oid, row):
    kind, value = row
    print("." + ".".join(map(str, oid)), kind, value, sep="\n")


def main(path):
    known, table, keys = None, {}, []
    while line := sys.stdin.readline():
        command = line.strip()
        if command == "PING":
            print("PONG")
        elif command in ("get", "getnext"):
            wanted = arcs(sys.stdin.readline())
            state = os.stat(path)
            if (state.st_ino, state.st_mtime_ns) != known:
                known, table = (state.st_ino, state.st_mtime_ns), rows(path)
                keys = sorted(table)
            if command == "getnext":
                at = bisect.bisect_right(keys, wanted)
                wanted = keys[at] if at < len(keys) else None
            if wanted in table:
                show(wanted, table[wanted])
            else:
                print("NONE")
        else:
            print("NONE")


main(sys.argv[1])
