#!/usr/bin/env python3
"""Records what the kernel answers to ipset, and how it acknowledges and refuses, as the captures of this folder.

Runs inside the VM:  npm run vm -- --writable test/native/captures python3 test/native/captures/capture_ipset.py

Like capture.py, whose tap it uses: nothing of this package is involved.
"""
import subprocess
import sys

from capture import FOLDER, NETLINK_ROUTE, datagrams, listen, messages, run, save

NETLINK_NETFILTER = 12
NLMSG_ERROR, NLMSG_DONE = 2, 3
NFNL_SUBSYS_IPSET = 6
IPSET_CMD_LIST = 7
IPSET_CMD_PROTOCOL, IPSET_CMD_TYPE = 1, 13
LIST = NFNL_SUBSYS_IPSET << 8 | IPSET_CMD_LIST
PROTOCOL = NFNL_SUBSYS_IPSET << 8 | IPSET_CMD_PROTOCOL
TYPE = NFNL_SUBSYS_IPSET << 8 | IPSET_CMD_TYPE

# One set of each type that is written, and some that are only listed; small, so that each fits one datagram.
SETS = r"""
ipset create ip4 hash:ip
ipset add ip4 10.0.0.1
ipset add ip4 10.0.0.2
ipset create ip6 hash:ip family inet6 maxelem 17
ipset add ip6 fd00::1
ipset create net4 hash:net
ipset add net4 10.0.0.0/8
ipset add net4 10.1.0.0/16 nomatch
ipset add net4 10.2.3.4
ipset create net6 hash:net family inet6
ipset add net6 fd00::/32
ipset add net6 fd01::1
ipset create ipport4 hash:ip,port hashsize 2048
ipset add ipport4 10.96.0.10,udp:53
ipset add ipport4 10.96.0.10,tcp:53
ipset add ipport4 10.96.0.11,sctp:9999
ipset add ipport4 10.96.0.12,icmp:8/0
ipset create ipport6 hash:ip,port family inet6
ipset add ipport6 fd00::1,tcp:443
ipset create ipportip4 hash:ip,port,ip
ipset add ipportip4 10.0.0.1,tcp:80,10.0.0.1
ipset create ipportip6 hash:ip,port,ip family inet6
ipset add ipportip6 fd00::1,udp:80,fd00::2
ipset create ipportnet4 hash:ip,port,net
ipset add ipportnet4 10.0.0.1,tcp:80,10.0.0.0/8
ipset add ipportnet4 10.0.0.1,tcp:80,10.1.2.3
ipset create ipportnet6 hash:ip,port,net family inet6
ipset add ipportnet6 fd00::1,tcp:80,fd00::/64
ipset create ports bitmap:port range 30000-32767
ipset add ports 30080
ipset add ports 32767
ipset create empty hash:ip,port
ipset create extended hash:ip,port timeout 600 counters comment skbinfo
ipset add extended 10.0.0.1,tcp:80 comment hello packets 1 bytes 2 skbmark 0x1/0xff
ipset create macs hash:mac
ipset add macs 01:02:03:04:05:06
ipset create ifaces hash:net,iface
ipset add ifaces 10.0.0.0/8,lo
ipset create marks hash:ip,mark
ipset add marks 10.0.0.1,0x63
ipset create addresses bitmap:ip range 10.0.0.0/24
ipset add addresses 10.0.0.7
ipset create list list:set
ipset add list ip4
"""

LISTED = ["ip4", "ip6", "net4", "net6", "ipport4", "ipport6", "ipportip4", "ipportip6", "ipportnet4", "ipportnet6",
          "ports", "empty", "extended", "macs", "ifaces", "marks", "addresses", "list"]


def replies(seen, protocol, kind):
    """The datagrams whose first message is a reply of this type."""
    for number, data in seen:
        first = next(messages(data), None)
        # Requests pass the tap too; replies come from the kernel and carry the asking port.
        if number == protocol and first and first[0] == kind and data[12:16] != bytes(4):
            yield data


def request(seen, protocol, kind):
    """The last request of this type."""
    found = [message for number, data in seen if number == protocol for message_kind, _, message in messages(data)
             if message_kind == kind and data[12:16] == bytes(4)]
    return found[-1] if found else None


def attempt(command):
    """For a command that is meant to fail."""
    return f"{command} 2> /dev/null || true"


def main():
    run("modprobe ip_set")
    tap = listen()
    datagrams(tap, SETS)  # what the tap has seen so far is not kept

    seen = datagrams(tap, "ipset list -t")
    save("ipset-list-headers.request", request(seen, NETLINK_NETFILTER, LIST))
    save("ipset-header.reply", list(replies(seen, NETLINK_NETFILTER, LIST))[0])
    for name in LISTED:
        seen = list(replies(datagrams(tap, f"ipset list {name}"), NETLINK_NETFILTER, LIST))
        save(f"ipset-{name}.reply", seen[0])
    witness = subprocess.check_output("ipset save; ipset list -t", shell=True, text=True)
    (FOLDER / "ipset-replies.txt").write_text(witness)

    # More entries than one message holds: the second has no header.
    adds = "for i in $(seq 0 299); do echo add many 10.9.$((i / 100)).$((i % 100)); done"
    datagrams(tap, f"ipset create many hash:ip; {adds} | ipset restore")
    parts = list(replies(datagrams(tap, "ipset list many"), NETLINK_NETFILTER, LIST))
    save("ipset-many-1.reply", parts[0])
    save("ipset-many-2.reply", parts[1])

    # The tool asks for the version of the interface, and for the revisions of a type, before it creates a set.
    seen = datagrams(tap, "ipset create typed hash:ip")
    for name, kind in (("protocol", PROTOCOL), ("type", TYPE)):
        save(f"ipset-{name}.request", request(seen, NETLINK_NETFILTER, kind))
        save(f"ipset-{name}.reply", next(replies(seen, NETLINK_NETFILTER, kind)))

    seen = datagrams(tap, "ipset flush empty")
    save("netlink-acknowledged.reply", next(replies(seen, NETLINK_NETFILTER, NLMSG_ERROR)))
    seen = datagrams(tap, attempt("ipset flush nothing"))
    save("netlink-refused.reply", next(replies(seen, NETLINK_NETFILTER, NLMSG_ERROR)))
    seen = datagrams(tap, attempt("ip link add knp0 type nothing"))
    save("netlink-refused-with-text.reply", list(replies(seen, NETLINK_ROUTE, NLMSG_ERROR))[-1])
    seen = datagrams(tap, "ipset list empty")
    save("ipset-list-set.request", request(seen, NETLINK_NETFILTER, LIST))
    save("netlink-done.reply", next(replies(seen, NETLINK_NETFILTER, NLMSG_DONE)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
