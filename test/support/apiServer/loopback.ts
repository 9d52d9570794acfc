// The address of the API servers of one process.

/**
 * An address of the loopback interface that no other test process uses. While a server is closed, another process may get its
 * port, but not at this address. A process id has at most 22 bits: PID_MAX_LIMIT of include/linux/threads.h.
 */
export const OWN_LOOPBACK = [127, 1 + (process.pid >> 16), (process.pid >> 8) & 255, process.pid & 255].join(
  '.',
);
