# The guest's connection to the host in User Mode Linux: files over hostfs, output over serial lines.

mount_host() {
  mount -t hostfs -o ro none "$1"
}

# NAME PATH TARGET
mount_share() {
  mount -t hostfs -o "$2" none "$3"
}

# Prints the names of the ports for standard output, standard error and status.
open_ports() {
  for port in /dev/ttyS0 /dev/ttyS1 /dev/ttyS2; do
    # A serial line is a terminal, which would write CR LF for LF.
    stty -F "$port" raw -echo
  done
  echo /dev/ttyS0 /dev/ttyS1 /dev/ttyS2
}

# This kernel has no nf_tables for IP, so iptables must be iptables-legacy, regardless of the host.
finish_root() {
  for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
    ln -sf xtables-legacy-multi "/usr/sbin/$name"
  done
}
