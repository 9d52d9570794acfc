// The flags of messages: include/uapi/linux/netlink.h (NLM_F_). Some bits have another name in each kind of request.

/** `NLM_F_REQUEST`: a request to the kernel. The library adds it. */
export const NLM_F_REQUEST = 0x1;
/** `NLM_F_MULTI`: one of the replies to a request to list. */
export const NLM_F_MULTI = 0x2;
/** `NLM_F_ACK`: the request is acknowledged. The library adds it. */
export const NLM_F_ACK = 0x4;
/** `NLM_F_ECHO`: the notifications of a change are also sent to the program that makes it, as replies. */
export const NLM_F_ECHO = 0x8;
/** `NLM_F_DUMP_INTR`, of a reply: the listed objects changed meanwhile. `dump()` then repeats the request. */
export const NLM_F_DUMP_INTR = 0x10;
/** `NLM_F_DUMP_FILTERED`, of a reply: the kernel applied the filter of the request. Linux 4.6. */
export const NLM_F_DUMP_FILTERED = 0x20;

/** `NLM_F_ROOT`, of a request that gets: all objects. */
export const NLM_F_ROOT = 0x100;
/** `NLM_F_MATCH`, of a request that gets: all objects that match. */
export const NLM_F_MATCH = 0x200;
/** `NLM_F_ATOMIC`, of a request that gets: an atomic listing, which few families have. */
export const NLM_F_ATOMIC = 0x400;
/** `NLM_F_DUMP`, of a request that gets: a listing (`NLM_F_ROOT` and `NLM_F_MATCH`). `dump()` adds it. */
export const NLM_F_DUMP = NLM_F_ROOT | NLM_F_MATCH;

/** `NLM_F_REPLACE`, of a request that creates: an object that is there is replaced. */
export const NLM_F_REPLACE = 0x100;
/** `NLM_F_EXCL`, of a request that creates: `EEXIST` if the object is there. */
export const NLM_F_EXCL = 0x200;
/** `NLM_F_CREATE`, of a request that creates: the object is created if it is not there. */
export const NLM_F_CREATE = 0x400;
/** `NLM_F_APPEND`, of a request that creates: the object is added behind those that are there. */
export const NLM_F_APPEND = 0x800;

/** `NLM_F_NONREC`, of a request that deletes: only an object that has no others in it. Linux 4.16. */
export const NLM_F_NONREC = 0x100;
/** `NLM_F_BULK`, of a request that deletes: all objects that match. Linux 5.19; a few families have it. */
export const NLM_F_BULK = 0x200;
