// What of ipset a machine has: the kernel's types, and libipset.
import { basename } from 'node:path';
import type { NativeIpsetClient } from '../shared/addon.js';
import { type Calls, unless } from '../shared/calls.js';
import { RecordReader } from '../shared/records/recordReader.js';
import type { CallOptions } from '../shared/types.js';
import { TYPE } from './layouts.js';
import { attemptToRead, MISSING_LIBRARY, MISSING_MODULE } from './names.js';
import type { IpsetCapabilities, IpsetOperation, LoadedLibrary, SetType, SupportedType } from './types.js';

/** Reads type records. */
export function readTypes(records: Uint8Array): SupportedType[] {
  const types: SupportedType[] = [];
  for (const reader = new RecordReader(records); reader.hasMore; reader.skip(TYPE.SIZE)) {
    types.push({
      name: reader.text(TYPE.name) as SetType,
      revisions: [reader.u8(TYPE.leastRevision), reader.u8(TYPE.greatestRevision)],
    });
  }
  return types;
}

/** The library in the file with this path. */
function libraryOf(path: string): LoadedLibrary {
  return { path, version: basename(path).replace(/^libipset\.so\.?/, '') };
}

/** Asks kernel and libipset. A kernel without ip_set answers EINVAL to everything. */
export async function capabilitiesOf(
  calls: Calls<NativeIpsetClient, IpsetOperation>,
  options: CallOptions,
): Promise<IpsetCapabilities> {
  const attempt = attemptToRead('capabilities');
  const versions = await unless(
    'EINVAL',
    calls.run(attempt, (client) => client.protocol(), options),
  );
  const types = versions && (await calls.run(attempt, (client) => client.types(), options));
  const path = await unless(
    'ERR_LIBRARY',
    calls.run(attempt, (client) => client.library(), options),
  );
  const hints = [...(versions ? [] : [MISSING_MODULE]), ...(path ? [] : [MISSING_LIBRARY])];
  const [least = 0, greatest = 0] = versions ?? [];
  return {
    ...(versions && { protocol: [least, greatest] as const }),
    types: readTypes(types ?? new Uint8Array()),
    ...(path && { library: libraryOf(new TextDecoder().decode(path)) }),
    ...(hints.length > 0 && { hint: hints.join('; ') }),
  };
}
