#!/usr/bin/env node
// The entry point of the command. It imports nothing before it has refused the inspector.

// Without a listener, Node.js opens its inspector on SIGUSR1, on a loopback port: every process in the network namespace, of any
// user, could then run code as root. The listener is the first statement of the process. Node.js has an option too
// (--disable-sigusr1), but not in every version that we support, and not on the first line of a script.
process.on('SIGUSR1', () => {});

await import('./start.js');
