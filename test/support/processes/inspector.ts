// Whether SIGUSR1 opens the inspector of a command.
import { spawn } from 'node:child_process';
import { createServer, type Socket } from 'node:net';

/** Starts a command that waits for an agent, sends it SIGUSR1, and returns what it prints on standard error. */
export async function printedOnSIGUSR1(command: string): Promise<string> {
  const waiting: Socket[] = [];
  const agent = createServer((socket) => waiting.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => agent.listen(0, '127.0.0.1', resolve));
  const { port } = agent.address() as { port: number };
  const args = [
    'status',
    `--healthz-bind-address=127.0.0.1:${port}`,
    `--metrics-bind-address=127.0.0.1:${port}`,
    '--timeout=60',
  ];
  // Port 0: the port of the inspector is free, even if another process is debugged on this machine.
  const child = spawn(process.execPath, ['--inspect-port=0', command, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const began = performance.now();
  await new Promise((resolve) => agent.once('connection', resolve));
  const deadline = performance.now() + Math.max(500, 3 * (performance.now() - began));
  child.kill('SIGUSR1');
  // The inspector is opened by a thread of its own, in less time than the start takes. The command ends a moment after its agent
  // disconnects.
  while (printed === '' && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 25));
  for (const socket of waiting) socket.destroy();
  agent.close();
  child.kill('SIGTERM');
  await ended;
  return printed;
}
