// The part of the Services that the kernel refuses, counted so that one tenant cannot be most of it. Pure.

/** Services of one namespace. */
interface Counts {
  /** Those with plans. */
  planned: number;
  /** Those with unknown items. */
  refused: number;
}

/** Counts the planned and the refused Services of each namespace. */
export class RefusedShare {
  /** The namespaces with planned or refused Services. */
  readonly #namespaces = new Map<string, Counts>();
  /** Number of namespaces with planned Services, and of those of whose Services most are refused. */
  #planned = 0;
  #refused = 0;
  /** Number of planned Services. */
  #services = 0;

  /** A Service has a plan from now on (1), or no longer (-1). */
  planned(service: string, change: 1 | -1): void {
    this.#change(service, ({ planned, refused }) => ({ planned: planned + change, refused }));
  }

  /** A Service has an unknown item from now on (1), or no longer (-1). */
  refused(service: string, change: 1 | -1): void {
    this.#change(service, ({ planned, refused }) => ({ planned, refused: refused + change }));
  }

  /**
   * Whether of most namespaces most Services are refused, and there is more than one Service. A namespace counts as one, so that
   * a tenant who has one cannot decide for the others. The Services of the cluster itself do not count: no tenant owns them, and they
   * hardly change, so that they say little about what the kernel accepts now.
   */
  get isMost(): boolean {
    return this.#services > 1 && 2 * this.#refused > this.#planned;
  }

  #change(service: string, change: (counts: Counts) => Counts): void {
    if (isOfCluster(service)) return;
    const namespace = namespaceOf(service);
    const before = this.#namespaces.get(namespace) ?? { planned: 0, refused: 0 };
    const now = change(before);
    this.#services += now.planned - before.planned;
    this.#planned += Number(now.planned > 0) - Number(before.planned > 0);
    this.#refused += Number(isMostlyRefused(now)) - Number(isMostlyRefused(before));
    if (now.planned === 0 && now.refused === 0) this.#namespaces.delete(namespace);
    else this.#namespaces.set(namespace, now);
  }
}

function isMostlyRefused({ planned, refused }: Counts): boolean {
  return planned > 0 && 2 * refused > planned;
}

function isOfCluster(service: string): boolean {
  return service === 'default/kubernetes' || namespaceOf(service) === 'kube-system';
}

function namespaceOf(service: string): string {
  return service.slice(0, service.indexOf('/'));
}
