# First process of the guest, in its final root: completes it, runs the command, sends output and status to the host.

mkdir -p /dev/pts /dev/shm
mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
ln -s /proc/self/fd /dev/fd
ln -s /proc/self/fd/0 /dev/stdin
ln -s /proc/self/fd/1 /dev/stdout
ln -s /proc/self/fd/2 /dev/stderr

echo vm >/proc/sys/kernel/hostname
ip link set lo up
ulimit -n 65536

cd /run/vm || exit
. ./machine.sh
. ./job.sh
finish_root
set -- $(open_ports)
# Kept open: output to a serial line may be lost when its last user closes it.
exec 3>"$3"
mkfifo stdout stderr
# A port can be open only once, and is not a pipe, which programs need that open /dev/stdout. dd prints the byte count.
LC_ALL=C dd bs=32k of=$1 <stdout 2>stdout.dd &
stdout=$!
LC_ALL=C dd bs=32k of=$2 <stderr 2>stderr.dd &
stderr=$!

echo started >&3
# In the foreground: a shell starts background jobs with SIGINT ignored.
(run_command) </dev/null >stdout 2>stderr 3>&-
status=$?

# The command has ended; processes that it left would keep the pipes open.
for process in /proc/[0-9]*; do
  case " 1 $stdout $stderr " in
    *" ${process#/proc/} "*) ;;
    *) kill -KILL "${process#/proc/}" 2>/dev/null ;;
  esac
done
wait $stdout
wait $stderr

moved() {
  sed -n 's/^\([0-9]*\) bytes.*/\1/p' "$1"
}
echo "ended $status $(moved stdout.dd) $(moved stderr.dd)" >&3
# The host ends the machine when it has read all output; without a host, we do.
sleep 30
echo o >/proc/sysrq-trigger
sleep 30
