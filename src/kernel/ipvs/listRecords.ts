// Lists of real servers ↔ records of the addon, without an object or a text for each real server.
import { type Family, familyOf } from '../net/address.js';
import type { AddressPorts } from '../net/addressPorts.js';
import type { NativeClient } from '../shared/addon.js';
import { invalidOperation } from '../shared/arguments.js';
import type { Calls } from '../shared/calls.js';
import { type Attempt, toNetlinkError, withoutStack } from '../shared/failures.js';
import type { Reading } from '../shared/listing.js';
import { RecordReader } from '../shared/records/recordReader.js';
import { RecordWriter } from '../shared/records/recordWriter.js';
import { type ReportedBatch, reportedBatch } from '../shared/reported.js';
import type { OperationResult } from '../shared/types.js';
import { FORWARDING, OPERATION, SERVER } from './layouts.js';
import { attemptOf } from './names.js';
import { writeOperation } from './operations.js';
import { readServer, skipService } from './records.js';
import type { AddressId, IpvsOperation } from './types.js';
import {
  type ChangeOperation,
  type ChangePart,
  COMMON_SETTINGS,
  changeName,
  changeOperation,
  operationsOf,
  type RealServers,
  RealServersBuilder,
  type ServiceChange,
} from './values/serverLists.js';

/** Reads the real servers of each of these virtual services, which are in a listing in this order. */
export function* readServerLists(bytes: Uint8Array, ids: readonly AddressId[]): Reading<RealServers> {
  const reader = new RecordReader(bytes);
  for (const { address } of ids) {
    const family = familyOf(address);
    const builder = new RealServersBuilder(family);
    for (let left = skipService(reader); left > 0; left--) {
      if (reader.u8(SERVER.family) === family && isCommon(reader)) {
        builder.common.addBytes(bytes, reader.placeOf(SERVER.address), reader.u16(SERVER.port));
      } else {
        builder.add(readServer(reader, 0));
      }
      reader.skip(SERVER.SIZE);
    }
    yield builder.build();
  }
}

function isCommon(reader: RecordReader): boolean {
  return (
    reader.u32(SERVER.weight) === 1 &&
    reader.u8(SERVER.forwarding) === FORWARDING.masquerade &&
    reader.u32(SERVER.upperThreshold) === 0 &&
    reader.u32(SERVER.lowerThreshold) === 0
  );
}

/** Makes changes as one batch: see `ServerLists` in `serverLists.ts`. An invalid operation is not sent. */
export function applyParts<Client extends NativeClient>(
  calls: Calls<Client, IpvsOperation>,
  parts: readonly ChangePart[],
): Promise<OperationResult[]> {
  const batch = new PartsBatch(parts);
  return reportedBatch(calls, batch, async () => {
    const failures = await calls.run({ operation: 'ipvs.apply' }, (client) => client.apply(batch.records()));
    for (const failure of failures)
      batch.fail(failure.index, (attempt) => withoutStack(() => toNetlinkError(failure, attempt)));
    return batch.results;
  });
}

/** The operation of a list of real servers, without the address and port, which its records get from the list. */
function listOperation({ service }: ServiceChange, isAdded: boolean, family: Family): ChangeOperation {
  const id = { address: family === 4 ? '0.0.0.0' : '::', port: 1 };
  return isAdded
    ? { do: 'addRealServer', service, realServer: { ...COMMON_SETTINGS, ...id } }
    : { do: 'deleteRealServer', service, realServer: id };
}

/** The records and the results of a batch. */
export class PartsBatch implements ReportedBatch<IpvsOperation> {
  readonly results: OperationResult[] = [];
  readonly #parts: readonly ChangePart[];
  readonly #writer: RecordWriter;
  /** The place of the operation of each record in the batch. */
  readonly #sent: number[] = [];

  constructor(parts: readonly ChangePart[]) {
    const size = parts.reduce((sum, { from, to }) => sum + to - from, 0);
    this.#parts = parts;
    this.#writer = new RecordWriter(OPERATION.SIZE, size);
    for (const part of parts) this.#writePart(part);
  }

  records(): Uint8Array {
    return this.#writer.records();
  }

  /** Sets the result of the operation of a record. */
  fail(record: number, errorOf: (attempt: Attempt) => OperationResult): void {
    const place = this.#sent[record];
    const operation = place === undefined ? undefined : this.#operationAt(place);
    if (place !== undefined && operation) this.results[place] = errorOf(attemptOf(operation));
  }

  operations(): ChangeOperation[] {
    return this.#parts.flatMap(operationsOf);
  }

  names(): string[] {
    const names: string[] = [];
    for (const { change, from, to } of this.#parts) {
      for (let number = from; number < to; number++) names.push(changeName(change, number));
    }
    return names;
  }

  #operationAt(place: number): ChangeOperation | undefined {
    let rest = place;
    for (const { change, from, to } of this.#parts) {
      if (rest < to - from) return changeOperation(change, from + rest);
      rest -= to - from;
    }
    return undefined;
  }

  #writePart({ change, from, to }: ChangePart): void {
    const { verb, added, order, deleted } = change;
    const afterService = verb === undefined ? 0 : 1;
    const afterAdded = afterService + added.size;
    const afterDeleted = afterAdded + deleted.size;
    let isRepeated = false;
    for (let number = from; number < to; number++) {
      if (number < afterService || number >= afterDeleted) {
        this.#write(change, number, changeOperation(change, number));
        continue;
      }
      // The records of a list differ only in address and port.
      if (number === afterService || number === afterAdded) isRepeated = false;
      const isAdded = number < afterAdded;
      const index = number - (isAdded ? afterService : afterAdded);
      const place = isAdded ? (order?.[index] ?? index) : index;
      const list = isAdded ? added : deleted;
      const first = isRepeated ? undefined : listOperation(change, isAdded, list.family);
      isRepeated = this.#write(change, number, first, list, place);
    }
  }

  /**
   * Writes the record of an operation, or without one the record before it again, and then the address and port at a place of a
   * list. Returns false if it is invalid.
   */
  #write(
    change: ServiceChange,
    number: number,
    operation: ChangeOperation | undefined,
    list?: AddressPorts,
    place = 0,
  ): boolean {
    if (operation) writeOperation(operation, this.#writer);
    else this.#writer.repeatRecord();
    if (list) this.#writer.listed(list, place, SERVER.address, SERVER.port, OPERATION.argument);
    const invalid = this.#writer.finish();
    if (invalid) {
      const attempt = attemptOf(changeOperation(change, number));
      this.results.push(withoutStack(() => invalidOperation(attempt, invalid)));
    } else {
      this.#sent.push(this.results.length);
      this.results.push(undefined);
    }
    return !invalid;
  }
}
