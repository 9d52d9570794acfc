// kube-proxy's state of ipvs mode on each node of a cluster, after the recording of one node: programmed with the tools, and compared.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NodePlace } from '../../laboratory/places.js';
import { ask, witness } from '../namespaces/witnesses.js';
import { differences } from './oracle.js';

const FILES = ['ipvsadm', 'ipset', 'iptables', 'ip6tables', 'address', 'sysctl'] as const;

/** The recorded node's addresses, and its endpoint: the only one of which it has hairpin entries. */
export interface RecordedAddresses {
  readonly node: string;
  /** Another address of the recorded node; here, each node has that of its pods' gateway. */
  readonly other: string;
  readonly localEndpoint: string;
}

/** The recorded state as it is on one node. */
export class RecordedNode {
  readonly #folder = mkdtempSync(join(tmpdir(), 'knp-recorded-'));
  readonly #namespace: string;

  /**
   * @param step folder of the recording
   * @param endpoint the endpoint on this node, if it has one
   */
  constructor(
    step: string,
    recorded: RecordedAddresses,
    place: NodePlace,
    namespace: string,
    endpoint?: string,
  ) {
    this.#namespace = namespace;
    for (const file of FILES) {
      const text = readFileSync(join(step, `${file}.txt`), 'utf8')
        .replaceAll(recorded.node, place.ipv4)
        .replaceAll(recorded.other, place.podGateway.ipv4);
      writeFileSync(this.#path(file), withHairpin(text, recorded, endpoint));
    }
  }

  /** As kube-proxy left it. */
  program(): void {
    const addresses = [...readFileSync(this.#path('address'), 'utf8').matchAll(/^inet6? (\S+)/gm)];
    const added = addresses.map(([, address]) => `ip address add ${address} dev kube-ipvs0\n`).join('');
    this.#run(`ip link add kube-ipvs0 type dummy
${added}ipset restore <${this.#path('ipset')}
ipvsadm -R <${this.#path('ipvsadm')}
iptables-restore <${this.#path('iptables')}
ip6tables-restore <${this.#path('ip6tables')}
sed 's| = |=|' ${this.#path('sysctl')} | xargs sysctl -q -w`);
  }

  /** A start of kube-proxy: it writes its sets and chains again, under their names. */
  programAgain(): void {
    const own = (program: string) =>
      `grep -e '^\\*' -e '^:KUBE-' -e '^-A KUBE-' -e COMMIT ${this.#path(program)} | ${program}-restore --noflush`;
    this.#run(`ipset restore -exist <${this.#path('ipset')}\n${own('iptables')}\n${own('ip6tables')}`);
  }

  /** What differs from it now. */
  differences(): string[] {
    const settings = [...readFileSync(this.#path('sysctl'), 'utf8').matchAll(/^(\S+) =/gm)];
    const sysctl = ask(this.#namespace, 'sysctl', ...settings.map(([, name]) => name as string));
    return differences(this.#folder, { ...witness(this.#namespace), sysctl });
  }

  close(): void {
    rmSync(this.#folder, { recursive: true });
  }

  #path(file: string): string {
    return join(this.#folder, `${file}.txt`);
  }

  #run(script: string): void {
    ask(this.#namespace, 'sh', '-ec', script);
  }
}

/** Without an endpoint on the node, kube-proxy has neither entries nor a rule for them. */
function withHairpin(text: string, { localEndpoint }: RecordedAddresses, endpoint?: string): string {
  const isHairpin = (line: string) => /^add KUBE-LOOP-BACK |--match-set KUBE-LOOP-BACK /.test(line);
  return text
    .split('\n')
    .filter((line) => endpoint !== undefined || !isHairpin(line))
    .map((line) => (isHairpin(line) ? line.replaceAll(localEndpoint, endpoint ?? '') : line))
    .join('\n');
}
