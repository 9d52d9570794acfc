// Applies operations, in order. Consecutive operations of one phase on the same part of the kernel are one group.
import { NetlinkError } from '../../../../kernel/errors.js';
import type { IpsetOperation } from '../../../../kernel/ipset/types.js';
import {
  addsAgain,
  type ChangePart,
  changeName,
  isAddedAgain,
} from '../../../../kernel/ipvs/values/serverLists.js';
import type { Family } from '../../../../kernel/net/address.js';
import type { RtnetlinkOperation } from '../../../../kernel/rtnetlink/types.js';
import { TimeSlice } from '../../../../kernel/timeSlice.js';
import type { TableWatch } from '../../nftablesRules/program/watch.js';
import { type Result, resultOf, resultsOf } from '../../shared/program/result.js';
import type { Item } from '../plan/items.js';
import type { KernelCall, Operation } from '../plan/operations.js';
import { EXPIRE_NODEST } from '../plan/planNode.js';
import { applyToSets } from './applyToSets.js';
import { applyToTables, type PlacedChange } from './applyToTables.js';
import { BatchSender, single, type Target } from './batchSender.js';
import type { IpvsKernel } from './kernel.js';

/** Errors of settings that this process cannot write. */
const READ_ONLY: ReadonlySet<string> = new Set(['EROFS', 'EACCES', 'EPERM']);

/**
 * Returns one result per operation, its first error. A failure does not stop later operations.
 *
 * @param tables the transactions of the mode, with rules of nf_tables
 */
export async function apply(
  kernel: IpvsKernel,
  operations: readonly Operation[],
  tables?: TableWatch<Item>,
): Promise<Result[]> {
  const run = new Run(kernel, operations, tables);
  for (let start = 0; start < operations.length; ) start = await run.applyGroup(start);
  return run.results;
}

type CallOn<On extends KernelCall['on']> = Extract<KernelCall, { readonly on: On }>;

/** One list of operations that is being applied. */
class Run {
  readonly results: Result[];
  readonly #kernel: IpvsKernel;
  readonly #tables: TableWatch<Item> | undefined;
  readonly #operations: readonly Operation[];
  /** Keys whose operation failed or whose state is unknown; undefined if no operation waits for one. */
  readonly #failed: Set<string> | undefined;
  readonly #slice = new TimeSlice();

  constructor(kernel: IpvsKernel, operations: readonly Operation[], tables: TableWatch<Item> | undefined) {
    this.#kernel = kernel;
    this.#tables = tables;
    this.#operations = operations;
    this.results = new Array<Result>(operations.length).fill(undefined);
    this.#failed = unknownAmong(operations);
  }

  /** Applies the group that begins with an operation; returns the index after its last operation. */
  async applyGroup(start: number): Promise<number> {
    const end = this.#endOf(start);
    await this.#applyAll(start, end);
    if (this.#failed) {
      for (let index = start; index < end; index++) {
        if (this.results[index]) this.#failed.add(this.#at(index).key);
      }
    }
    if (this.#slice.spend()) await this.#slice.yield();
    return end;
  }

  #applyAll(start: number, end: number): Promise<void> {
    const { ipvs, ipset, rtnetlink } = this.#kernel;
    switch (this.#at(start).call.on) {
      case 'ipvs': {
        const target: Target<ChangePart> = {
          family: 'ipvs',
          apply: (parts) => ipvs.applyChanges(parts),
          nameOf: ({ change, from }, number) => changeName(change, from + number),
        };
        const send = () =>
          this.#send(start, end, target, ({ change }: CallOn<'ipvs'>, from, to) => ({ change, from, to }));
        return this.#keepingConnections(start, end, send);
      }
      case 'ipset': {
        const target = single('ipset', (batch: readonly IpsetOperation[]) => applyToSets(ipset, batch));
        return this.#send(start, end, target, (call: CallOn<'ipset'>) => call.operation);
      }
      case 'rtnetlink': {
        const target = single('rtnetlink', (batch: readonly RtnetlinkOperation[]) => rtnetlink.apply(batch));
        return this.#send(start, end, target, (call: CallOn<'rtnetlink'>) => call.operation);
      }
      case 'iptables':
        return this.#restore(start, end);
      case 'nftables':
        return this.#transact(start, end);
      case 'timeouts':
      case 'sysctl':
        return this.#write(start, end);
    }
  }

  /**
   * A group has one phase: an address is added only after its virtual services. Phases of nf_tables that follow each other are one group: elements and
   * rules change at one moment.
   */
  #endOf(start: number): number {
    const { phase, call } = this.#at(start);
    let end = start + 1;
    for (; end < this.#operations.length; end++) {
      const next = this.#at(end);
      if (next.call.on !== call.on || (next.phase !== phase && call.on !== 'nftables')) break;
    }
    return end;
  }

  #at(index: number): Operation {
    return this.#operations[index] as Operation;
  }

  /**
   * Sends the kernel's operations of a group, except those that are held back.
   *
   * @param unitOf some of the kernel's operations of a call: those with the numbers from `from` to `to` - 1
   */
  async #send<Call extends KernelCall, Unit>(
    start: number,
    end: number,
    target: Target<Unit>,
    unitOf: (call: Call, from: number, to: number) => Unit,
  ): Promise<void> {
    const sender = new BatchSender(target, this.results);
    for (let index = start; index < end; index++) {
      const operation = this.#at(index);
      if (this.#isHeldBack(operation)) {
        this.results[index] = heldBack(operation);
        continue;
      }
      for (let from = 0; from < operation.size; ) {
        const to = endOfUnit(operation, from, sender.room);
        if (to === from) {
          await sender.send();
          continue;
        }
        const isFull = to - from === sender.room;
        const before = sender.add(unitOf(operation.call as Call, from, to), to - from, index);
        if (before) await before;
        // To write the records of a batch is a long step, and all others are short.
        if (isFull ? this.#slice.spend() : this.#slice.spend(1)) await this.#slice.yield();
        from = to;
      }
    }
    await sender.end();
  }

  /**
   * While real servers are deleted and added again, packets of their connections are only dropped, and TCP sends them again. Where settings
   * cannot be written, such a packet ends its connection.
   */
  async #keepingConnections(start: number, end: number, send: () => Promise<void>): Promise<void> {
    const again: number[] = [];
    for (let index = start; index < end; index++) {
      const { call } = this.#at(index);
      if (call.on === 'ipvs' && addsAgain(call.change)) again.push(index);
    }
    if (again.length === 0) return send();
    const expire = (value: '0' | '1') =>
      resultOf('sysctl.write', () => this.#kernel.sysctl.write(EXPIRE_NODEST, value));
    const refused = await expire('0');
    await send();
    if (refused && READ_ONLY.has(refused.code)) return;
    const error = (await expire('1')) ?? refused;
    if (error) for (const index of again) this.results[index] ??= error;
  }

  #isHeldBack({ after }: Operation): boolean {
    return after?.some((key) => this.#failed?.has(key)) ?? false;
  }

  /** Changes the rules of each family by one restore. Both programs run at the same time. */
  async #restore(start: number, end: number): Promise<void> {
    const group = this.#operations.slice(start, end);
    const calls = group.map(({ call }) => call as CallOn<'iptables'>);
    const restoreFamily = async (family: Family) => {
      const changes = calls.filter((call) => call.family === family).map(({ operation }) => operation);
      const restore = () => this.#kernel.iptables.restore(family, changes);
      const results = await resultsOf('iptables.restore', changes.length, restore);
      let next = 0;
      for (const [i, call] of calls.entries()) {
        if (call.family === family) this.results[start + i] = results[next++];
      }
    };
    await Promise.all([...new Set(calls.map((call) => call.family))].map(restoreFamily));
  }

  /** Changes the table of each family by one transaction. */
  async #transact(start: number, end: number): Promise<void> {
    const { nftables } = this.#kernel;
    const placed: PlacedChange[] = [];
    for (let place = start; place < end; place++) {
      const operation = this.#at(place);
      const { family, change } = operation.call as CallOn<'nftables'>;
      if (this.#isHeldBack(operation)) this.results[place] = heldBack(operation);
      else placed.push({ place, family, change });
    }
    if (nftables && this.#tables) await applyToTables({ nftables }, this.#tables, placed, this.results);
  }

  /** Writes settings at the same time. */
  async #write(start: number, end: number): Promise<void> {
    const { ipvs, sysctl } = this.#kernel;
    const write = async (index: number) => {
      const { call } = this.#at(index);
      if (call.on === 'timeouts') {
        const { tcp, tcpFin, udp } = call.timeouts;
        const set = () => ipvs.setTimeouts({ tcp, tcpFin, udp });
        this.results[index] = await resultOf('ipvs.setTimeouts', set);
      } else if (call.on === 'sysctl') {
        this.results[index] = await resultOf('sysctl.write', () => sysctl.write(call.name, call.value));
      }
    };
    await Promise.all(Array.from({ length: end - start }, (_, i) => write(start + i)));
  }
}

/**
 * The number after the last operation that is added to a batch: those of a real server that is added again are in the same one, because
 * packets of its connections are lost in between.
 */
function endOfUnit({ call, size }: Operation, from: number, room: number): number {
  const to = Math.min(size, from + room);
  return to < size && call.on === 'ipvs' && isAddedAgain(call.change, to) ? to - 1 : to;
}

/** Keys in `after` for which there is no operation: their state is unknown. Undefined if no operation has `after`. */
function unknownAmong(operations: readonly Operation[]): Set<string> | undefined {
  let awaited: Set<string> | undefined;
  for (const { after } of operations) {
    if (!after) continue;
    awaited ??= new Set();
    for (const key of after) awaited.add(key);
  }
  if (awaited) for (const { key } of operations) awaited.delete(key);
  return awaited;
}

function heldBack({ key, after = [] }: Operation): NetlinkError {
  const hint = `waits for ${after.join(', ')}`;
  return new NetlinkError({ code: 'ERR_HELD_BACK', operation: 'kernel.apply', target: key, hint });
}
