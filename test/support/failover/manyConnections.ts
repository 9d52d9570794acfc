// Many open connections of one process, and the servers at their other ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { PATIENCE } from '../../laboratory/patience.js';

/** Answers each message with its own name and the client's address. Prints a line when it listens. */
const SERVE = `
import selectors, socket, sys
name, port = sys.argv[1], int(sys.argv[2])
selector = selectors.DefaultSelector()
listener = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=2000)
selector.register(listener, selectors.EVENT_READ)
print("ready", flush=True)
while True:
    for key, _ in selector.select():
        if key.fileobj is listener:
            selector.register(listener.accept()[0], selectors.EVENT_READ)
            continue
        try:
            if not key.fileobj.recv(100):
                raise OSError
            client = key.fileobj.getpeername()[0].removeprefix("::ffff:")
            key.fileobj.send(f"{name} {client}\\n".encode())
        except OSError:
            selector.unregister(key.fileobj)
            key.fileobj.close()
`;

// Reads lines: "open ADDRESS PORT COUNT SOURCE" or "ask SECONDS". Answers each with a line of JSON. A connection that failed is closed.
const CONNECT = `
PATIENCE = ${PATIENCE / 1000}
import errno, json, selectors, socket, sys, time
opened = {}
def ask(seconds):
    selector, found, failed = selectors.DefaultSelector(), {}, {}
    def fail(client, code):
        failed[code] = failed.get(code, 0) + 1
        del opened[client]
        client.close()
    waiting = set()
    for client in list(opened):
        try:
            client.send(b"?")
            selector.register(client, selectors.EVENT_READ)
            waiting.add(client)
        except OSError as error:
            fail(client, errno.errorcode[error.errno])
    end = time.monotonic() + seconds
    while waiting and time.monotonic() < end:
        for key, _ in selector.select(end - time.monotonic()):
            client = key.fileobj
            selector.unregister(client)
            waiting.discard(client)
            try:
                answer = client.recv(100).decode().strip()
                if answer == "" or opened[client] not in (None, answer):
                    fail(client, answer or "closed")
                else:
                    opened[client] = answer
                    found[answer] = found.get(answer, 0) + 1
            except OSError as error:
                fail(client, errno.errorcode[error.errno])
    for client in waiting:
        fail(client, "no answer")
    return {"answers": found, "failed": failed}
for line in sys.stdin:
    what, *words = line.split()
    if what == "open":
        for source in range(int(words[3]), int(words[3]) + int(words[2])):
            opened[socket.create_connection((words[0], int(words[1])), PATIENCE, ("", source))] = None
    print(json.dumps(ask(float(words[0]) if what == "ask" else PATIENCE)), flush=True)
`;

function start(namespace: string, program: string, ...args: readonly string[]) {
  const words = ['netns', 'exec', namespace, 'python3', '-IS', '-c', program, ...args];
  const child = spawn('ip', words, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, lines };
}

async function end(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill();
  await exit;
}

/** Answers over all connections. */
export interface Answers {
  /** Number of connections by answer: `web-1 192.168.60.100`. One that answered otherwise before has failed. */
  readonly answers: Readonly<Record<string, number>>;
  /** Number of connections by the code of their error. They are closed. */
  readonly failed: Readonly<Record<string, number>>;
}

/** Starts a server of both families in a namespace; resolves when it listens. */
export async function serve(
  namespace: string,
  name: string,
  port: number,
): Promise<{ close(): Promise<void> }> {
  const { child, lines } = start(namespace, SERVE, name, `${port}`);
  if ((await lines.next()).done) throw new Error(`the server ${name} ended`);
  return { close: () => end(child) };
}

/** The first port from which the next connection is opened. No port is used twice: IPVS may still have a connection with it, and its way. */
let nextSource = 20_000;

/** The connections of a process in a namespace. Close it after the test. */
export class ManyConnections {
  readonly #process: ReturnType<typeof start>;

  constructor(namespace: string) {
    this.#process = start(namespace, CONNECT);
  }

  /** Opens connections, one after another, and asks over all that are open. */
  open(address: string, port: number, count: number): Promise<Answers> {
    const source = nextSource;
    nextSource += count;
    return this.#do(`open ${address} ${port} ${count} ${source}`);
  }

  /** Asks over all open connections, and waits at most this time, in s. */
  ask(seconds: number): Promise<Answers> {
    return this.#do(`ask ${seconds}`);
  }

  async #do(line: string): Promise<Answers> {
    this.#process.child.stdin.write(`${line}\n`);
    const { value, done } = await this.#process.lines.next();
    if (done) throw new Error(`the process ended before it answered: ${line}`);
    return JSON.parse(value) as Answers;
  }

  close(): Promise<void> {
    return end(this.#process.child);
  }
}

/** Sum of the numbers of an answer. */
export function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
