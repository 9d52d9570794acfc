#!/bin/sh
# First process of the guest, in the initramfs: combines the host's root (read-only) and memory for writes to one root.

fail() {
  echo "vm: $*" >/dev/console
  # The end of the first process is a panic, which ends the machine.
  exit 1
}

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev

for module in /modules/*.ko; do
  [ -e "$module" ] || continue # all are built in
  insmod "$module" || fail "cannot load $module"
done

. /job/machine.sh
mount_host /host || fail "cannot mount the host's root"
mount -t tmpfs -o size=80%,mode=755 tmpfs /writes
mkdir /writes/upper /writes/work
mount -t overlay -o lowerdir=/host,upperdir=/writes/upper,workdir=/writes/work overlay /root ||
  fail "cannot lay memory over the host's root"

. /job/job.sh

# Directly from the host's root, without the overlay.
mkdir -p /root/lib/modules
mount --bind "/host$modules" /root/lib/modules || fail "cannot show the modules in $modules"

mount -t tmpfs -o mode=755 tmpfs /root/run
mkdir -p /root/run/lock /root/run/netns /root/run/vm
cp /job/*.sh /root/run/vm/
# This folder gets no memory of its own, so that a checkout below /tmp stays visible.
[ "$keep_tmp" = yes ] || mount -t tmpfs -o mode=1777 tmpfs /root/tmp

for_writing() {
  mkdir -p "/root$2"
  mount_share "$1" "$2" "/root$2" || fail "cannot mount $2 for writing"
}
mount_writable

for folder in proc sys dev; do
  mkdir -p "/root/$folder"
  mount --move "/$folder" "/root/$folder"
done
# The kernel loads modules with the root folder of this process, so it must remain the first one.
exec switch_root /root /bin/sh /run/vm/supervise.sh
