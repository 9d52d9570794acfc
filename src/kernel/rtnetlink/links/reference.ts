// How links are named.

/** The name of a link, one of its alternative names (at most 127 bytes, Linux 5.5), or its index. */
export type LinkReference = string | number;
