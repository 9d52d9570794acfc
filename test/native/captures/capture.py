#!/usr/bin/env python3
"""Records what ipvsadm and ip say to the kernel, and what it answers, as the captures of this folder.

Runs inside the VM:  npm run vm -- --writable test/native/captures python3 test/native/captures/capture.py

The messages pass an nlmon device, which the kernel hands a copy of every netlink message, and an AF_PACKET socket reads
them there: nothing of this package is involved. Each capture is one file with one datagram or, for requests, one message.
"""
import pathlib
import socket
import struct
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).parent
NETLINK_ROUTE, NETLINK_GENERIC = 0, 16
NLM_F_REQUEST = 1
GENL_ID_CTRL = 16
ETH_P_ALL = 3
SO_RCVBUFFORCE = 33


def run(command):
    subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)


def listen():
    run("modprobe nlmon && ip link add nlmon0 type nlmon && ip link set nlmon0 up")
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    tap.bind(("nlmon0", 0))
    tap.settimeout(0.2)
    tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
    return tap


def datagrams(tap, command):
    """(netlink protocol, datagram) of everything that passes while the command runs."""
    drain(tap)
    run(command)
    return drain(tap)


def drain(tap):
    seen = []
    while True:
        try:
            data, address = tap.recvfrom(1 << 17)
        except socket.timeout:
            return seen
        seen.append((address[1], data))


def messages(data):
    while len(data) >= 16:
        length, kind, flags = struct.unpack_from("=IHH", data)
        if length < 16:  # ip pads one of its requests with zeros
            return
        yield kind, flags, data[:length]
        data = data[(length + 3) & ~3:]


def pick(seen, protocol, kind, command, request):
    """The last datagram (or, of requests, message) of this type and, in generic netlink, command."""
    found = None
    for number, data in seen:
        if number != protocol:
            continue
        for message_kind, flags, message in messages(data):
            asks = bool(flags & NLM_F_REQUEST)
            # A reply repeats no NLM_F_REQUEST, and requests are what the tool sends in a datagram of its own.
            if message_kind != kind or asks != request:
                continue
            if command is not None and message[16] != command:
                continue
            found = message if request else data
            break
    return found


def family_id(seen):
    for number, data in seen:
        for kind, flags, message in messages(data) if number == NETLINK_GENERIC else []:
            if kind == GENL_ID_CTRL and not flags & NLM_F_REQUEST and b"IPVS\0" in message:
                at = 20
                while at + 4 <= len(message):
                    length, attribute = struct.unpack_from("=HH", message, at)
                    if attribute == 1:
                        return struct.unpack_from("=H", message, at + 4)[0]
                    at += (length + 3) & ~3
    raise SystemExit("no family id seen")


NEW_SERVICE, SET_SERVICE, DEL_SERVICE, GET_SERVICE, NEW_DEST, SET_DEST, DEL_DEST, GET_DEST = range(1, 9)
NEW_DAEMON, DEL_DAEMON, GET_DAEMON = 9, 10, 11
SET_CONFIG, GET_CONFIG, SET_INFO, GET_INFO, ZERO, FLUSH = range(12, 18)

# name, command, IPVS_CMD_… of the request
IPVS_REQUESTS = [
    ("add-service-tcp", "ipvsadm -A -t 10.96.0.1:443 -s rr", NEW_SERVICE),
    ("add-service-udp-persistent", "ipvsadm -A -u 10.96.0.10:53 -s wrr -p 10800", NEW_SERVICE),
    ("add-service-sctp", "ipvsadm -A --sctp-service 10.96.0.11:9999 -s lc", NEW_SERVICE),
    ("add-service-tcp6", "ipvsadm -A -t '[fd00:10:96::1]:443' -s sh -p 300 -M 64", NEW_SERVICE),
    ("add-service-mh-port", "ipvsadm -A -t 10.96.0.12:80 -s mh -b mh-port,mh-fallback", NEW_SERVICE),
    ("add-service-sip", "ipvsadm -A -u 10.96.0.13:5060 -s rr -p 60 -M 255.255.255.0 --pe sip -o", NEW_SERVICE),
    ("add-service-mark", "ipvsadm -A -f 1 -s rr", NEW_SERVICE),
    ("add-service-mark6", "ipvsadm -A -f 4294967295 -6 -s rr", NEW_SERVICE),
    ("edit-service", "ipvsadm -E -t 10.96.0.1:443 -s wlc -p 90", SET_SERVICE),
    ("add-server", "ipvsadm -a -t 10.96.0.1:443 -r 10.0.0.4:6443 -m -w 5", NEW_DEST),
    ("add-server-thresholds", "ipvsadm -a -t 10.96.0.1:443 -r 10.0.0.5:6443 -g -w 0 -x 100 -y 50", NEW_DEST),
    ("add-server6", "ipvsadm -a -t '[fd00:10:96::1]:443' -r '[fd00::4]:6443' -m -w 2147483647", NEW_DEST),
    ("add-server-tunnel", "ipvsadm -a -f 1 -r 10.0.0.6 -i --tun-type gue --tun-port 6080 --tun-nocsum", NEW_DEST),
    ("edit-server", "ipvsadm -e -t 10.96.0.1:443 -r 10.0.0.4:6443 -m -w 0", SET_DEST),
    ("delete-server", "ipvsadm -d -t 10.96.0.1:443 -r 10.0.0.4:6443", DEL_DEST),
    ("delete-service", "ipvsadm -D -u 10.96.0.10:53", DEL_SERVICE),
    ("delete-service-mark", "ipvsadm -D -f 4294967295 -6", DEL_SERVICE),
    ("set-timeouts", "ipvsadm --set 900 120 300", SET_CONFIG),
    ("get-timeouts", "ipvsadm -L --timeout", GET_CONFIG),
    ("list-services", "ipvsadm -Ln", GET_SERVICE),
    ("list-servers", "ipvsadm -Ln", GET_DEST),
    ("get-info", "ipvsadm -Ln", GET_INFO),
    ("zero", "ipvsadm -Z", ZERO),
    ("zero-service", "ipvsadm -Z -t 10.96.0.1:443", ZERO),
    ("start-daemon", "ip link set lo up; ipvsadm --start-daemon master --mcast-interface lo --syncid 7", NEW_DAEMON),
    ("start-daemon-group",
     "ipvsadm --start-daemon backup --mcast-interface lo --syncid 8 --sync-maxlen 1400 --mcast-group 224.0.0.99"
     " --mcast-port 9000 --mcast-ttl 3", NEW_DAEMON),
    ("list-daemons", "ipvsadm -Ln --daemon", GET_DAEMON),
    ("stop-daemon", "ipvsadm --stop-daemon backup", DEL_DAEMON),
    ("start-daemon-group6",
     "ipvsadm --start-daemon backup --mcast-interface lo --mcast-group ff01::51 --mcast-ttl 255", NEW_DAEMON),
    ("flush", "ipvsadm --stop-daemon master; ipvsadm --stop-daemon backup; ipvsadm -C", FLUSH),
]

RTM_NEWLINK, RTM_DELLINK, RTM_NEWADDR, RTM_DELADDR = 16, 17, 20, 21
RTM_NEWNSID, RTM_GETNSID = 88, 90
ROUTE_REQUESTS = [
    ("add-link-dummy", "ip link add kube-ipvs0 type dummy", RTM_NEWLINK),
    ("add-address", "ip addr add 10.96.0.1/32 dev kube-ipvs0", RTM_NEWADDR),
    ("add-address-prefix", "ip addr add 10.96.0.2/24 dev kube-ipvs0", RTM_NEWADDR),
    ("add-address6", "ip addr add fd00:10:96::1/128 dev kube-ipvs0", RTM_NEWADDR),
    ("delete-address", "ip addr del 10.96.0.1/32 dev kube-ipvs0", RTM_DELADDR),
    ("delete-address6", "ip addr del fd00:10:96::1/128 dev kube-ipvs0", RTM_DELADDR),
    ("delete-link", "ip link del kube-ipvs0", RTM_DELLINK),
]

# Two connections through a virtual server to a real one in another namespace, so that no counter is zero.
TRAFFIC = r"""
ip link set lo up; ip addr add 10.96.7.1/32 dev lo
ip netns add backend
ip link add knp0 type veth peer name knp1 netns backend
ip addr add 10.0.7.1/24 dev knp0; ip link set knp0 up
ip -n backend addr add 10.0.7.4/24 dev knp1; ip -n backend link set knp1 up; ip -n backend link set lo up
ipvsadm -A -t 10.96.7.1:80 -s wrr -p 600
ipvsadm -a -t 10.96.7.1:80 -r 10.0.7.4:8080 -m -w 7 -x 900 -y 300
ipvsadm -a -t 10.96.7.1:80 -r 10.0.7.5:8080 -m -w 0
"""
SERVER = """
import socket
server = socket.create_server(("10.0.7.4", 8080))
print("ready", flush=True)
held = []
while True:
    connection, _ = server.accept()
    asked = connection.recv(2000)
    connection.sendall(b"z" * 500)
    if asked[:1] == b"y":
        connection.close()
    else:
        held.append(connection)
"""


def exchange():
    """One connection that stays open and one that is closed; returns what must stay alive."""
    server = subprocess.Popen(["ip", "netns", "exec", "backend", sys.executable, "-c", SERVER],
                              stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    clients = []
    for payload in (b"x" * 1000, b"y" * 10):
        client = socket.create_connection(("10.96.7.1", 80), timeout=10, source_address=("10.0.7.1", 0))
        client.sendall(payload)
        client.recv(2000)
        clients.append(client)
    clients.pop().close()
    time.sleep(5)  # Linux 6.1 adds its counters up every two seconds
    return server, clients


def save(name, data):
    if data is None:
        raise SystemExit(f"nothing seen for {name}")
    (FOLDER / name).write_bytes(data)
    print(f"{name}: {len(data)} bytes")


def capture_namespaces(tap):
    run("ip netns add blue; ip netns add red; ip netns set blue 7; ip netns set red 11")
    # ip asks for the id of each name first, and then for all.
    seen = datagrams(tap, "ip netns list-id")
    save("route-list-namespace-ids.request", pick(seen, NETLINK_ROUTE, RTM_GETNSID, None, True))
    save("route-namespace-ids.reply", pick(seen, NETLINK_ROUTE, RTM_NEWNSID, None, False))


def main():
    run("modprobe ip_vs && modprobe dummy && modprobe ip_vs_pe_sip")
    tap = listen()
    seen = datagrams(tap, "ipvsadm -Ln")
    ipvs = family_id(seen)
    save("genl-family.reply", pick(seen, NETLINK_GENERIC, GENL_ID_CTRL, None, False))
    for name, command, number in IPVS_REQUESTS:
        seen = datagrams(tap, command)
        save(f"ipvs-{name}.request", pick(seen, NETLINK_GENERIC, ipvs, number, True))
        if name == "get-timeouts":
            save("ipvs-timeouts.reply", pick(seen, NETLINK_GENERIC, ipvs, SET_CONFIG, False))
        if name == "list-daemons":
            save("ipvs-daemons.reply", pick(seen, NETLINK_GENERIC, ipvs, NEW_DAEMON, False))
        if name == "get-info":
            save("ipvs-info.reply", pick(seen, NETLINK_GENERIC, ipvs, SET_INFO, False))

    run(TRAFFIC)
    server, clients = exchange()
    run("ipvsadm -A -f 77 -6 -s lc; ipvsadm -A -t '[fd00:10:96::7]:443' -s mh -p 300 -M 64")
    seen = datagrams(tap, "ipvsadm -Ln")
    save("ipvs-services.reply", pick(seen, NETLINK_GENERIC, ipvs, NEW_SERVICE, False))
    save("ipvs-servers.reply", pick(seen, NETLINK_GENERIC, ipvs, NEW_DEST, False))
    witness = [subprocess.check_output(["ipvsadm", *options.split()], text=True)
               for options in ("-S -n", "-Ln", "-Ln --stats --exact", "-Ln --thresholds")]
    (FOLDER / "ipvs-replies.txt").write_text("\n".join(witness))
    server.kill()
    clients.clear()

    for name, command, number in ROUTE_REQUESTS:
        seen = datagrams(tap, command)
        save(f"route-{name}.request", pick(seen, NETLINK_ROUTE, number, None, True))
        if name == "add-address6":
            seen = datagrams(tap, "ip -d link show")
            save("route-links.reply", pick(seen, NETLINK_ROUTE, RTM_NEWLINK, None, False))
            seen = datagrams(tap, "ip -4 addr show")
            save("route-addresses4.reply", pick(seen, NETLINK_ROUTE, RTM_NEWADDR, None, False))
            seen = datagrams(tap, "ip -6 addr show")
            save("route-addresses6.reply", pick(seen, NETLINK_ROUTE, RTM_NEWADDR, None, False))
            witness = subprocess.check_output("ip -d link show; ip addr show", shell=True, text=True)
            (FOLDER / "route-replies.txt").write_text(witness)
    capture_namespaces(tap)
    return 0


if __name__ == "__main__":
    sys.exit(main())
