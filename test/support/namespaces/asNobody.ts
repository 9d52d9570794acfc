// A user without privileges, for tests.
import { ROOT } from '../paths.js';

// Other users cannot enter root's home, where the checkout may lie. In this mount namespace, the folders above it are open to all.
const SET_UP = `
mount --bind "$0" /mnt
mount -t tmpfs -o mode=755 tmpfs "/$(echo "$0" | cut -d / -f 2)"
mkdir -p "$0"
mount --move /mnt "$0"
cd "$0"
exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"`;

/** Starts a program as user and group 65534, wherever the checkout lies. Node must be elsewhere. */
export const AS_NOBODY: readonly string[] = ['unshare', '--mount', 'sh', '-ec', SET_UP, ROOT];
