/**
 * How long a test waits for what takes a moment on an idle machine, in ms: the start of a process, a pass, a removal. It only ends a test
 * that would wait forever. A start of Node.js in User Mode Linux takes 0.5 s on a fast machine, and 10 s on one on which page faults are
 * slow; with three batches of tests at the same time, five times as long. A bound that a test checks has a constant of its own.
 */
export const PATIENCE = 240_000;
