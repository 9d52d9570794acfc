// The rules of Kubernetes for names. Whatever the API server accepts follows them; names from elsewhere may not. A name that
// follows them is safe in a rule of iptables, on a line of the log and on a terminal.

/** A rule for names. */
export interface NameRule {
  /** Matches each name of a valid length. */
  readonly pattern: RegExp;
  /** Longest name, in characters. */
  readonly longest: number;
  /** The rule in words: `must be a DNS label`. */
  readonly text: string;
}

/** A label of RFC 1123: a name of a namespace, a Service or a port. */
export const DNS_LABEL: NameRule = {
  pattern: /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/,
  longest: 63,
  text: 'must be a DNS label: at most 63 lower-case letters, digits and hyphens',
};

/** A subdomain of RFC 1123: a name of a Node or an EndpointSlice. */
export const DNS_SUBDOMAIN: NameRule = {
  pattern: /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/,
  longest: 253,
  text: 'must be a DNS subdomain: at most 253 lower-case letters, digits, hyphens and periods',
};

/** The value of a label: a zone, or the Service of an EndpointSlice. */
export const LABEL_VALUE: NameRule = {
  pattern: /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/,
  longest: 63,
  text: 'must be the value of a label: at most 63 letters, digits, hyphens, underscores and periods',
};

/** An identifier of an object. The API server makes UUIDs and checks none: any visible characters of ASCII are one. */
export const UID: NameRule = {
  pattern: /^[!-~]+$/,
  longest: 253,
  text: 'must be at most 253 visible characters of ASCII',
};

/** Whether a name follows a rule. The empty name follows none. */
export function isName(text: string, { pattern, longest }: NameRule): boolean {
  return text.length <= longest && pattern.test(text);
}
