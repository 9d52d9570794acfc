// How operations become records, which the addon's client and the fake have in common.
import type { Packing } from '../shared/batch.js';
import { verbOf } from '../shared/reported.js';
import { OPERATION } from './layouts.js';
import { attemptOf } from './names.js';
import { writeOperation } from './records.js';
import type { NewLink, NewLinkSettings, RtnetlinkOperation } from './types.js';

/** Operations of rtnetlink. */
export const PACKING: Packing<RtnetlinkOperation> = {
  family: 'rtnetlink',
  recordSize: OPERATION.SIZE,
  write: writeOperation,
  attempt: attemptOf,
  nameOf: verbOf,
};

/** The operation of a call of addLink. */
export function addLinkOperation(
  name: string,
  kind: string,
  settings: NewLinkSettings | undefined,
): RtnetlinkOperation {
  // The signatures of addLink have the settings that belong to each kind.
  const link = { kind, ...(settings !== undefined && { settings }) } as NewLink;
  return { do: 'addLink', name, ...link };
}
