#!/usr/bin/env python3
"""Records what conntrack says to the kernel, and what it answers, as the captures of this folder.

Runs inside the VM:  npm run vm -- --writable test/native/captures python3 test/native/captures/capture_conntrack.py

With the argument `details`, it only records flows with all their details, an expectation, and statistics.

Like capture.py, whose tap it uses: nothing of this package is involved.
"""
import socket
import subprocess
import sys
import time

from capture import FOLDER, datagrams, listen, run, save
from capture_ipset import NETLINK_NETFILTER, replies, request

NFNL_SUBSYS_CTNETLINK, NFNL_SUBSYS_CTNETLINK_EXP = 1, 2
IPCTNL_MSG_CT_NEW, IPCTNL_MSG_CT_GET, IPCTNL_MSG_CT_DELETE, IPCTNL_MSG_CT_GET_STATS = 0, 1, 2, 5
IPCTNL_MSG_CT_GET_STATS_CPU = 4


def kind(message):
    return NFNL_SUBSYS_CTNETLINK << 8 | message


# Real flows, whose addresses are translated, and one of each other kind.
SET_UP = r"""
ip link set lo up
ip addr add 10.0.0.1/32 dev lo; ip addr add 10.0.0.9/32 dev lo; ip addr add 10.96.0.10/32 dev lo
ip addr add fd00::1/128 dev lo nodad; ip addr add fd00::9/128 dev lo nodad; ip addr add fd00:96::a/128 dev lo nodad
iptables -t nat -A OUTPUT -p udp -d 10.96.0.10 --dport 53 -j DNAT --to-destination 10.0.0.1:5353
ip6tables -t nat -A OUTPUT -p udp -d fd00:96::a --dport 53 -j DNAT --to-destination [fd00::1]:5353
iptables -t mangle -A OUTPUT -p udp -d 10.96.0.10 -j CONNMARK --set-mark 0x4000
"""
INSERTED = r"""
conntrack -I -t 600 -s 10.0.0.9 -d 10.0.0.1 -p tcp --sport 4000 --dport 80 --state ESTABLISHED -u ASSURED,SEEN_REPLY
conntrack -I -t 600 -s 10.0.0.9 -d 10.0.0.1 -p icmp --icmp-type 8 --icmp-code 0 --icmp-id 513
conntrack -I -t 600 -s 10.0.0.9 -d 10.0.0.1 -p udp --sport 4000 --dport 80 -w 258
conntrack -I -t 600 -s fd00::9 -d fd00::1 -p sctp --sport 4000 --dport 80 --state ESTABLISHED --orig-vtag 1 --reply-vtag 2
conntrack -I -t 600 -s fd00::9 -d fd00::1 -p icmpv6 --icmpv6-type 128 --icmpv6-code 0 --icmpv6-id 513
"""

# name, what selects one flow
DELETED = [
    ("udp", "-f ipv4 -p udp --orig-dst 10.96.0.10"),
    ("udp6", "-f ipv6 -p udp --orig-dst fd00:96::a"),
    ("tcp", "-f ipv4 -p tcp"),
    ("sctp6", "-f ipv6 -p sctp"),
    ("icmp", "-f ipv4 -p icmp"),
    ("icmp6", "-f ipv6 -p icmpv6"),
    ("zone", "-f ipv4 -p udp -w 258"),
]


def exchange(client, service, server, port=53):
    """A datagram and its answer, and one more, so that the flow is assured."""
    family = socket.AF_INET6 if ":" in client else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as there, socket.socket(family, socket.SOCK_DGRAM) as here:
        there.bind((server, 5353))
        here.bind((client, 4660))
        for _ in range(2):
            here.sendto(b"?", (service, port))
            _, sender = there.recvfrom(10)
            there.sendto(b"!", sender)
            here.recvfrom(10)


# Flows with counters and labels (and timestamps, where the kernel has them); one with a helper, which expects another.
DETAILS = r"""
sysctl -q net.netfilter.nf_conntrack_acct=1 net.netfilter.nf_conntrack_timestamp=1
modprobe nf_conntrack_ftp
ip link set lo up
ip addr add 10.0.0.1/32 dev lo; ip addr add 10.0.0.9/32 dev lo
iptables -t mangle -A OUTPUT -p udp -m connlabel --label 5 --set -j ACCEPT
iptables -t raw -A OUTPUT -p tcp --dport 21 -j CT --helper ftp
"""


def expect():
    """A connection of FTP, whose helper reads a command that announces another one. Returns it open."""
    server = socket.create_server(("10.0.0.1", 21))
    client = socket.create_connection(("10.0.0.1", 21), source_address=("10.0.0.9", 4001))
    # The helper reads a line only after it has seen the end of another.
    for line in (b"USER a\r\n", b"PORT 10,0,0,9,163,11\r\n"):
        client.sendall(line)
        time.sleep(0.1)
    return client, server


def details(tap):
    run(DETAILS)
    exchange("10.0.0.9", "10.0.0.1", "10.0.0.1", 5353)
    connection = expect()
    seen = datagrams(tap, "conntrack -L -f ipv4")
    save("conntrack-details.reply", next(replies(seen, NETLINK_NETFILTER, kind(IPCTNL_MSG_CT_NEW))))
    text = subprocess.check_output("conntrack -L -f ipv4 -o id,ktimestamp; conntrack -L expect", shell=True, text=True)
    seen = datagrams(tap, "conntrack -L expect")
    save("conntrack-expectation.reply", next(replies(seen, NETLINK_NETFILTER, NFNL_SUBSYS_CTNETLINK_EXP << 8)))
    seen = datagrams(tap, "conntrack -C")
    save("conntrack-statistics.reply", next(replies(seen, NETLINK_NETFILTER, kind(IPCTNL_MSG_CT_GET_STATS))))
    seen = datagrams(tap, "conntrack -S")
    save("conntrack-cpus.reply", next(replies(seen, NETLINK_NETFILTER, kind(IPCTNL_MSG_CT_GET_STATS_CPU))))
    text += subprocess.check_output("conntrack -C; conntrack -S", shell=True, text=True)
    (FOLDER / "conntrack-details.txt").write_text(text)
    for end in connection:
        end.close()
    return 0


def main():
    run("modprobe nf_conntrack_netlink")
    tap = listen()
    if sys.argv[1:] == ["details"]:
        return details(tap)
    datagrams(tap, SET_UP)
    exchange("10.0.0.9", "10.96.0.10", "10.0.0.1")
    exchange("fd00::9", "fd00:96::a", "fd00::1")
    datagrams(tap, INSERTED)

    lists = {}
    for family in ("4", "6"):
        seen = datagrams(tap, f"conntrack -L -f ipv{family}")
        save(f"conntrack-list{family}.request", request(seen, NETLINK_NETFILTER, kind(IPCTNL_MSG_CT_GET)))
        save(f"conntrack-flows{family}.reply", next(replies(seen, NETLINK_NETFILTER, kind(IPCTNL_MSG_CT_NEW))))
        lists[family] = subprocess.check_output(f"conntrack -L -f ipv{family} -o id", shell=True, text=True)
    (FOLDER / "conntrack-replies.txt").write_text(lists["4"] + lists["6"])
    seen = datagrams(tap, "conntrack -C")
    save("conntrack-statistics.request", request(seen, NETLINK_NETFILTER, kind(IPCTNL_MSG_CT_GET_STATS)))

    for name, selection in DELETED:
        seen = datagrams(tap, f"conntrack -D {selection}")
        save(f"conntrack-delete-{name}.request", request(seen, NETLINK_NETFILTER, kind(IPCTNL_MSG_CT_DELETE)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
