# The guest's connection to the host in QEMU: files over 9p, output over the ports of a virtio console.

options=trans=virtio,version=9p2000.L,msize=512000

mount_host() {
  # The host's files are taken not to change while the guest looks at them: "loose" caches them.
  mount -t 9p -o "ro,cache=loose,$options" root "$1"
}

# NAME PATH TARGET
mount_share() {
  mount -t 9p -o "$options" "$1" "$3"
}

# Prints the names of the ports for standard output, standard error and status.
open_ports() {
  # The host announces its three ports to the driver one by one.
  set --
  until [ $# -eq 3 ]; do
    sleep 0.01
    set -- /dev/vport*p[123]
  done
  echo "$@"
}

finish_root() {
  :
}
