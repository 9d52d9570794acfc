// The API server of a run, with the faults of histories.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendStatus } from '../../../bench/apiServer/responses.js';
import { ApiServer } from '../../support/apiServer/server.js';

/** An API server at an address that the judged node reaches. */
export class JudgeServer extends ApiServer {
  protected override readonly address: string;
  #fails = false;

  constructor(address: string) {
    super();
    this.address = address;
  }

  /** Answers 500 to every request, and ends the open connections. */
  failAll(): void {
    this.#fails = true;
    this.resetConnections();
  }

  /** Answers again. */
  recover(): void {
    this.#fails = false;
    this.thaw();
    // Connections that were silent stay so: clients must connect again.
    this.resetConnections();
  }

  protected override async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#fails) sendStatus(response, 500, 'InternalError');
    else await super.answer(request, response);
  }
}
