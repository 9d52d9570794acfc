// A network namespace for each run: the kernel keeps deleted real servers in a list that slows additions for minutes, and
// nothing of the machine's own network may change.
import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type HostKernel, openHostKernel } from '../src/command/modes/shared/hostKernel.js';
import { loadModule } from '../src/command/modes/shared/loadModules.js';
import { NetlinkError } from '../src/kernel/errors.js';
import { openIpset } from '../src/kernel/ipset/index.js';
import type { Ipset } from '../src/kernel/ipset/types.js';
import { type IptablesClient, openIptables } from '../src/kernel/iptables/index.js';
import { openIpvs } from '../src/kernel/ipvs/index.js';
import { openNetlink } from '../src/kernel/netlink/index.js';
import { openNftables } from '../src/kernel/nftables/index.js';
import type { Nftables } from '../src/kernel/nftables/types.js';
import type { Sysctl } from '../src/kernel/sysctl/index.js';
import { loadBenchAddon } from './addon.js';
import { NODE_ADDRESS } from './cluster.js';
import type { KernelNumbers, Workload } from './phases.js';

type Ipvs = Awaited<ReturnType<typeof openIpvs>>;

/** The link of the virtual addresses: kube-proxy's name. */
export const VIRTUAL_LINK = 'kube-ipvs0';
/** The link with the address of the node. */
export const NODE_LINK = 'node0';
/** The table of nftables mode, in each family. */
const NFTABLES_TABLE = 'kube-proxy';

/**
 * Time after which the kernel has removed the former namespace, in ms: until then it holds the lock of rtnetlink for some ms at a
 * time, for which the first operations of a run would wait.
 */
const REMOVAL = 60;

/** The parts of a sandbox. */
type SandboxParts = Pick<Sandbox, 'host' | 'ipset' | 'nftables' | 'ipvs' | 'linkKind'>;

/** Parts of the kernel in a namespace of their own, and numbers of the kernel. */
export class Sandbox {
  readonly host: Omit<HostKernel, 'iptables'>;
  /** Its programs start in the namespace with the first restore of a family, and end with {@link leave}. */
  readonly iptables: IptablesClient = openIptables();
  readonly ipset: Ipset;
  readonly nftables: Nftables;
  /** Absent if the kernel has no IPVS. */
  readonly ipvs: Ipvs | undefined;
  /** Kind of links without hardware: dummy, or bridge where the kernel has no dummy. */
  readonly linkKind: string;

  private constructor({ host, ipset, nftables, ipvs, linkKind }: SandboxParts) {
    this.host = host;
    this.ipset = ipset;
    this.nftables = nftables;
    this.ipvs = ipvs;
    this.linkKind = linkKind;
  }

  /**
   * Moves the JavaScript thread to a new namespace with an address of the node, and opens its parts. Rejects with a NetlinkError
   * without CAP_SYS_ADMIN, and with an Error if the thread is still in its former namespace.
   */
  static async enter(): Promise<Sandbox> {
    const former = readlinkSync('/proc/self/ns/net');
    loadBenchAddon().enterNewNetworkNamespace();
    // Everything below changes the kernel.
    if (readlinkSync('/proc/self/ns/net') === former)
      throw new Error('the network namespace is still the former one');
    // The namespace of a process is that of its main thread; the other threads stay where they are.
    await delay(REMOVAL);
    const options = { netns: process.pid, timeout: 120_000 };
    const host = await openHostKernel(options);
    const ipset = await openIpset(options);
    const nftables = await openNftables(options);
    const ipvs = await openIpvsOrNone(options);
    const { linkKinds } = await host.rtnetlink.capabilities();
    const linkKind = linkKinds.dummy ? 'dummy' : 'bridge';
    const sandbox = new Sandbox({ host, ipset, nftables, ipvs, linkKind });
    await sandbox.#makeNode();
    return sandbox;
  }

  /** The settings of the namespace: those below /proc/sys belong to the thread that opens their files. */
  readonly sysctl: Sysctl = {
    async read(name) {
      try {
        return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async write(name, value) {
      writeFileSync(`/proc/sys/${name}`, value, { flag: 'r+' });
    },
  };

  /** Creates the sets and the link of a workload. */
  async makeRoom({ sets, link }: Pick<Workload, 'sets' | 'link'>): Promise<void> {
    check(await this.ipset.apply(sets.map((set) => ({ do: 'create', set }))));
    if (link !== undefined) {
      check(await this.host.rtnetlink.apply([{ do: 'addLink', name: link, kind: this.linkKind }]));
    }
  }

  /** The numbers that messages contain. */
  async numbers(): Promise<KernelNumbers> {
    const link = (await this.host.rtnetlink.getLink(VIRTUAL_LINK))?.index ?? 0;
    if (!this.ipvs) return { link };
    await using netlink = await openNetlink({ protocol: 'generic' });
    return { link, ipvs: (await netlink.resolveFamily('IPVS')).id };
  }

  /** Removes what was programmed: otherwise the kernel does it during the next run. Closes the parts. */
  async leave(): Promise<void> {
    await this.ipvs?.flush({ confirm: 'delete every virtual service' });
    const link = await this.host.rtnetlink.getLink(VIRTUAL_LINK);
    if (link) check(await this.host.rtnetlink.apply([{ do: 'deleteLink', link: VIRTUAL_LINK }]));
    await this.ipvs?.close();
    for (const { family, name } of await this.nftables.listTables().toArray()) {
      if (name === NFTABLES_TABLE) await this.nftables.deleteTable({ family, name });
    }
    await this.nftables.close();
    await this.ipset.close();
    // Its programs keep the namespace, and must not use time of the next run.
    await this.iptables.close();
    this.host.close();
  }

  async #makeNode(): Promise<void> {
    const up = { up: true };
    check(
      await this.host.rtnetlink.apply([
        // Without it IPv4 has no local routes, and IPVS refuses real servers.
        { do: 'setLink', link: 'lo', settings: up },
        { do: 'addLink', name: NODE_LINK, kind: this.linkKind },
        { do: 'setLink', link: NODE_LINK, settings: up },
        { do: 'addAddress', address: { link: NODE_LINK, address: NODE_ADDRESS, prefix: 24 } },
      ]),
    );
  }
}

async function openIpvsOrNone(options: { netns: number; timeout: number }): Promise<Ipvs | undefined> {
  for (const attempt of ['as it is', 'with its module']) {
    if (attempt === 'with its module') await loadModule('ip_vs');
    try {
      return await openIpvs(options);
    } catch (error) {
      if (!(error instanceof NetlinkError) || error.code !== 'ENOENT') throw error;
    }
  }
  return undefined;
}

/** Throws the first error of a batch. */
export function check(results: readonly (Error | undefined)[]): void {
  for (const error of results) if (error) throw error;
}

/** Collects garbage, so that a run does not pay for the one before it. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
