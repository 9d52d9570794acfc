// The names of virtual services: from the running agent, from manifests, or from the API server.
import type { VirtualServiceId } from '../../../kernel/ipvs/types.js';
import { type Family, familyOf, joinHostPort } from '../../../kernel/net/address.js';
import type { IpProtocol } from '../../../kernel/net/protocol.js';
import type { NamedFrontend } from '../../../proxy/services/namedFrontends.js';
import type { FrontendKind } from '../../../proxy/services/types.js';

/** The origin of names. */
export interface NamesOrigin {
  readonly source: 'agent' | 'manifests' | 'API server' | 'rules' | 'none';
  /** Why there are no names, if the source is `none`. */
  readonly reason?: string;
}

/** The names of a virtual service; empty if it is unknown. */
export interface ServiceNameParts {
  /** `namespace/name` of its Service. */
  readonly service?: string;
  /** Name of the Service port; absent also if the port has no name. */
  readonly portName?: string;
  readonly kind?: FrontendKind;
}

/** What is known of a frontend besides the kernel. */
interface KnownFrontend extends ServiceNameParts {
  /** Settings of its Service that no object in the kernel shows. Absent: none, or they are unknown. */
  readonly settings?: readonly string[];
}

/** The names of all virtual services. */
export interface ServiceNames {
  readonly origin: NamesOrigin;
  of(id: VirtualServiceId): KnownFrontend;
  /** The frontends with one of the texts in their name or address. */
  matching(texts: readonly string[]): readonly NamedFrontend[];
}

/** What identifies a virtual service in the kernel: an address, or a firewall mark. */
export interface Identity {
  readonly address?: string;
  readonly port?: number;
  readonly protocol?: IpProtocol;
  readonly firewallMark?: number;
  readonly family?: Family;
}

/** `10.96.0.80:80/tcp`, or `fwmark 7 IPv4`. */
export function virtualServiceName({ address, port = 0, protocol, firewallMark, family }: Identity): string {
  if (address !== undefined) return `${joinHostPort(address, port)}/${protocol}`;
  return `fwmark ${firewallMark} IPv${family}`;
}

/** `demo/web:http`; empty if the Service is unknown. */
export function serviceName({ service, portName }: ServiceNameParts): string {
  if (service === undefined) return '';
  return portName === undefined ? service : `${service}:${portName}`;
}

/** Numbers in names are compared as numbers. */
export const { compare: compareText } = new Intl.Collator('en', { numeric: true });

/** Sorts by name and address; rows without a name are last. */
export function sortedByName<Row extends ServiceNameParts>(
  rows: readonly Row[],
  addressOf: (row: Row) => string,
): Row[] {
  const isNamed = ({ service }: Row) => Number(service !== undefined);
  const key = (row: Row) => `${serviceName(row)} ${addressOf(row)}`;
  return rows.toSorted((a, b) => isNamed(b) - isNamed(a) || compareText(key(a), key(b)));
}

/** The names of these frontends. */
export function namesOf(origin: NamesOrigin, frontends: readonly NamedFrontend[]): ServiceNames {
  const byAddress = new Map<string, NamedFrontend>();
  const byNodePort = new Map<string, NamedFrontend>();
  for (const frontend of frontends) {
    const { kind, family, port, protocol } = frontend;
    if (kind === 'nodePort') byNodePort.set(nodePortName(family, port, protocol), frontend);
    else byAddress.set(virtualServiceName(frontend), frontend);
  }
  return {
    origin,
    matching: (texts) =>
      frontends.filter((frontend) => {
        const { portName, kind, family, port, protocol } = frontend;
        const name = serviceName({ service: frontend.service, ...(portName === '' ? {} : { portName }) });
        const any = family === 4 ? '*' : '[*]';
        const address = kind === 'nodePort' ? `${any}:${port}/${protocol}` : virtualServiceName(frontend);
        return texts.some((text) => `${name} ${address}`.includes(text));
      }),
    of(id) {
      if (!('address' in id)) return {};
      const { address, port, protocol } = id;
      const found =
        byAddress.get(virtualServiceName({ address, port, protocol })) ??
        byNodePort.get(nodePortName(familyOf(address), port, protocol));
      if (!found) return {};
      const { service, portName, kind, settings } = found;
      return { service, ...(portName === '' ? {} : { portName }), kind, ...(settings && { settings }) };
    },
  };
}

function nodePortName(family: Family, port: number, protocol: IpProtocol): string {
  return `IPv${family} ${port}/${protocol}`;
}
