// The addon's clients and watches replaced by parts that send nothing and count the calls that reach them.
import { TRANSACTION_ANSWER } from '../../../src/kernel/netlink/layouts.js';
import { type Addon, loadAddon } from '../../../src/kernel/shared/addon.js';

const PARTS = [
  'IpvsClient',
  'IpsetClient',
  'RtnetlinkClient',
  'RtnetlinkWatch',
  'NetlinkClient',
  'NetlinkWatch',
] as const satisfies (keyof Addon)[];

/** The methods that reach no kernel, or change nothing there. */
const NOT_SENT: ReadonlySet<string | symbol> = new Set(['open', 'close', 'select', 'setReceiveBuffer']);

/** The answers of calls that resolve to no records. Every other call resolves to none. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  apply: [],
  // A transaction that was committed.
  transact: new Uint8Array(TRANSACTION_ANSWER.SIZE),
  beginListing: { messages: new Uint8Array(), restarted: false, ended: true },
};

/** A stand-in for the addon, from its making to `restore()`. */
export class CountedAddon {
  /** The calls so far that would reach the kernel, `IpvsClient.get`, without those that open and close. */
  readonly calls: string[] = [];
  readonly #addon = loadAddon();
  readonly #parts = PARTS.map((name) => [name, this.#addon[name]] as const);

  constructor() {
    const { calls } = this;
    for (const name of PARTS) {
      const part = class {
        constructor() {
          // biome-ignore lint/correctness/noConstructorReturn: the addon's class has other methods in each family.
          return counted(name, calls);
        }
      };
      Object.assign(this.#addon, { [name]: part });
    }
  }

  restore(): void {
    Object.assign(this.#addon, Object.fromEntries(this.#parts));
  }
}

function counted(part: string, calls: string[]): object {
  const get = (_: object, method: string | symbol) => {
    if (method === 'then') return undefined;
    if (NOT_SENT.has(method)) return async () => new Uint8Array();
    return async (records?: { readonly length: number }) => {
      // A batch of which every operation is invalid is a call without records.
      if (method === 'apply' && records?.length === 0) return [];
      calls.push(`${part}.${String(method)}`);
      return ANSWERS[String(method)] ?? new Uint8Array();
    };
  };
  return new Proxy({}, { get });
}
