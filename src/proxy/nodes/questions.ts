// Asks a node whether it is there, by TCP. Any answer counts, also a refusal: the kernel of the node has sent it.
import { connect } from 'node:net';

/** `DaemonEndpoint` of the kubelet, whose port is the one that nodes leave open for each other. */
const KUBELET_PORT = 10_250;
/** When connections are started, in ms: the loss of a few packets is no silence. The kernel repeats each after 1 s. */
const STARTS = [0, 400, 800];
/** Time for an answer, in ms. */
const LIMIT = 1_600;

/** Resolves to whether the node answers. */
export async function answers(address: string, signal: AbortSignal): Promise<boolean> {
  const end = new AbortController();
  const ended = AbortSignal.any([signal, end.signal]);
  try {
    return await new Promise<boolean>((resolve) => {
      const timers = STARTS.map((start) => setTimeout(() => ask(address, ended, () => resolve(true)), start));
      // Answers that came while the process was stopped are read before the verdict.
      timers.push(setTimeout(() => setImmediate(() => setImmediate(resolve, false)), LIMIT));
      ended.addEventListener('abort', () => {
        for (const timer of timers) clearTimeout(timer);
        resolve(false);
      });
    });
  } finally {
    end.abort();
  }
}

function ask(address: string, ended: AbortSignal, answered: () => void): void {
  const socket = connect({ host: address, port: KUBELET_PORT });
  const close = () => socket.destroy();
  ended.addEventListener('abort', close);
  socket.on('connect', answered);
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET') answered();
  });
  socket.on('close', () => ended.removeEventListener('abort', close));
}
