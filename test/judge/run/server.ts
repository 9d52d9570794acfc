// The API server of a run, with the faults of histories.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeBody, sendStatus, statusObject } from '../../../bench/apiServer/responses.js';
import { eventLine, type ReceivedRequest, type Watcher } from '../../../bench/apiServer/server.js';
import { ApiServer } from '../../support/apiServer/server.js';
import type { FaultName } from '../core/history.js';
import type { JudgedObject } from '../core/objects.js';
import { StoredObjects } from './storedObjects.js';

/** Faults of a server that listens. */
export type ServerFault = Exclude<Extract<FaultName, `server${string}`>, 'serverDown'>;

/** What a slow server does: delay of each answer and event, and of each portion of an answer, in ms; size of a portion, in bytes; items of a page. */
const SLOW = { late: 1_000, between: 50, portion: 1_024, page: '1' };

/** What a failing server answers, with the time of Retry-After, in s. */
const REFUSALS = {
  serverErrors: { status: 500, reason: 'InternalError' },
  serverForbidden: { status: 403, reason: 'Forbidden' },
  serverThrottled: { status: 429, reason: 'TooManyRequests', retryAfter: 1 },
} as const satisfies Partial<Record<ServerFault, object>>;

/** An API server at an address that the judged node reaches. */
export class JudgeServer extends ApiServer {
  protected override readonly address: string;
  readonly #objects = new StoredObjects(this.store);
  #fault: ServerFault | undefined;
  /** Watches that were refused as too old. */
  #expired = 0;

  constructor(address: string) {
    super();
    this.address = address;
  }

  /** Stores these objects, by kind and name, and deletes all others. */
  hold(wanted: ReadonlyMap<string, JudgedObject>): void {
    this.#objects.hold(wanted);
    if (this.#fault === 'serverCompacting') this.store.compact();
  }

  /** No fault goes back to what was stored before. */
  forgetPast(): void {
    this.#objects.forgetPast();
  }

  /**
   * Begins a fault; there is none under way.
   *
   * @param lasts its time, in ms
   * @returns for `serverOlder`, the time for which the restored objects have been stored, in ms
   */
  begin(fault: ServerFault, lasts: number): number | undefined {
    this.#fault = fault;
    if (fault === 'serverSilent') this.freeze();
    else if (fault === 'serverCompacting') this.#expireWatches();
    else if (fault === 'serverOlder') {
      const age = this.#objects.goBack(lasts);
      this.resetConnections();
      return age;
    } else if (fault !== 'serverSlow') this.resetConnections();
    return undefined;
  }

  /** Ends the fault. Clients must connect again, unless the server was slow. */
  recover(): void {
    const fault = this.#fault;
    this.#fault = undefined;
    this.#objects.goForward();
    this.thaw();
    if (fault !== 'serverSlow') this.resetConnections();
  }

  protected override async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fault = this.#fault;
    if (fault === 'serverErrors' || fault === 'serverForbidden' || fault === 'serverThrottled') {
      const refusal = REFUSALS[fault];
      const retryAfter = 'retryAfter' in refusal ? refusal.retryAfter : undefined;
      return sendStatus(response, refusal.status, refusal.reason, retryAfter);
    }
    if (fault === 'serverSlow') await delay(SLOW.late);
    return super.answer(request, response);
  }

  protected override async route(request: ReceivedRequest, response: ServerResponse): Promise<void> {
    const { query } = request;
    if (query['watch'] === 'true' && this.#isTooOld(query)) return this.#refuseWatch(response);
    const small = this.#fault === 'serverSlow' && query['limit'] !== undefined;
    return super.route(small ? { ...request, query: { ...query, limit: SLOW.page } } : request, response);
  }

  protected override isPaged(query: ReceivedRequest['query']): boolean {
    return this.#fault === 'serverSlow' || super.isPaged(query);
  }

  protected override sendBody(response: ServerResponse, status: number, body: string): void {
    if (this.#fault === 'serverSlow') void sendInPortions(response, status, body);
    else super.sendBody(response, status, body);
  }

  /** Events keep their order when a slow server becomes a quick one. */
  protected override openWatch(response: ServerResponse): Watcher['send'] {
    const send = super.openWatch(response);
    const waiting: object[] = [];
    const sendFirst = () => {
      const event = waiting.shift();
      if (event && !response.writableEnded && !response.destroyed) send(event);
    };
    return (event) => {
      const isSlow = this.#fault === 'serverSlow';
      if (!isSlow && waiting.length === 0) return send(event);
      waiting.push(event);
      setTimeout(sendFirst, isSlow ? SLOW.late : 0);
    };
  }

  /** Whether a watch must be refused. An older server has not had a later version: it refuses it too, so that clients list. */
  #isTooOld(query: ReceivedRequest['query']): boolean {
    if (this.#fault === 'serverCompacting') return true;
    return this.#objects.isOlder && Number(query['resourceVersion']) > this.store.version;
  }

  /** A server refuses a watch that is too old with a status or, after a good one, with an event. */
  #refuseWatch(response: ServerResponse): void {
    if (this.#expired++ % 2 === 0) {
      sendStatus(response, 410, 'Expired');
      return;
    }
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(eventLine(EXPIRED));
  }

  #expireWatches(): void {
    this.store.compact();
    for (const { response, send, timer } of this.watchers) {
      if (response.writableEnded) continue;
      send(EXPIRED);
      clearTimeout(timer);
      response.end();
    }
  }
}

const EXPIRED = { type: 'ERROR', object: statusObject(410, 'Expired') };

/** Sends a body slowly, unless its client leaves. */
async function sendInPortions(response: ServerResponse, status: number, body: string): Promise<void> {
  const { bytes, headers } = encodeBody(response, body);
  if (response.destroyed) return;
  response.writeHead(status, headers);
  for (let at = 0; at < bytes.length; at += SLOW.portion) {
    response.write(bytes.subarray(at, at + SLOW.portion));
    await delay(SLOW.between);
    if (response.destroyed) return;
  }
  response.end();
}
