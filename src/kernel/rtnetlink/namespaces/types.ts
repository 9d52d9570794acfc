// Network namespaces, as JavaScript values. Source of every rule: include/uapi/linux/net_namespace.h, net/core/net_namespace.c,
// ip-netns(8).

/** A network namespace: a path (`/run/netns/blue`), or the id of a process that is in it, 1–4194303. */
export type NetworkNamespace = string | number;

/** A network namespace that gets an id. */
export interface NewNamespaceId {
  readonly netns: NetworkNamespace;
  /** 0–2147483647. Default: one that the kernel selects. */
  readonly id?: number;
}

/** A network namespace with a name. */
export interface NamedNamespace {
  /** 1–255 bytes without `/`; neither `.` nor `..`. */
  readonly name: string;
  /** Its file, `/run/netns/NAME`: a value for the option `netns`. */
  readonly path: string;
}
