// Objects from informers of @kubernetes/client-node, for programs that have them already. Programs that do not are better
// served by ApiSource, which opens a broken watch again, asks for bookmarks, and reports data that it cannot read.
import { Backoff, type BackoffBounds } from '../backoff.js';
import type { Untyped } from '../input/fields.js';
import { Interning } from '../objects/interning.js';
import type { ObjectChange } from '../objects/types.js';
import { checkArgument, object } from '../shapes.js';
import { SOURCE_EVENTS } from '../source/shapes.js';
import type { Source, SourceEvents } from '../source/source.js';
import type { ApiTrouble } from './apiSource.js';
import { asApiError } from './error.js';
import { KnownObjects } from './knownObjects.js';
import { ENDPOINT_SLICES, nodes, type Resource, SERVICES } from './resources.js';
import { BACKOFF } from './retryPace.js';
import { INFORMER_SOURCE_OPTIONS } from './shapes.js';

/** The part of an `Informer` that is used: a program that has none needs no types of the library. */
export interface ObjectInformer {
  on(verb: 'add' | 'update' | 'delete', callback: (object: InformedObject) => void): void;
  on(verb: 'error', callback: (error?: unknown) => void): void;
  off(verb: 'add' | 'update' | 'delete', callback: (object: InformedObject) => void): void;
  off(verb: 'error', callback: (error?: unknown) => void): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A Service, an EndpointSlice or a Node, as an informer has it: items of a list have neither of the two fields. */
export interface InformedObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
}

/** Options of a source over informers. */
export interface InformerSourceOptions {
  /**
   * As `makeInformer` makes them, not started: an informer that is started twice has two watches, which end each other.
   * kube-proxy's selectors spare traffic; objects that they leave out do no harm.
   */
  readonly informers: {
    readonly services: ObjectInformer;
    readonly endpointSlices: ObjectInformer;
    /** The Node of this node, or all. */
    readonly nodes: ObjectInformer;
  };
  readonly trouble: (trouble: ApiTrouble) => void;
  /** Bounds of the delay before an informer that has failed is started again; default 800 ms to 30 s. */
  readonly backoff?: BackoffBounds;
}

const OPTIONS = object<InformerSourceOptions>(INFORMER_SOURCE_OPTIONS);

/**
 * The objects of three informers. An informer ends at the first error; it is started again, and continues from where it
 * was. An event that the library cannot parse is lost without notice until the next list.
 */
export class InformerSource implements Source {
  readonly #options: InformerSourceOptions;
  readonly #end = new AbortController();
  readonly #interning = new Interning();

  constructor(options: InformerSourceOptions) {
    checkArgument('InformerSource', 'options', options, OPTIONS);
    this.#options = options;
  }

  /** Resolves once Services and EndpointSlices have been reported, or the source was stopped; never rejects. */
  async start(events: SourceEvents): Promise<void> {
    checkArgument('InformerSource.start', 'events', events, SOURCE_EVENTS);
    const { services, endpointSlices, nodes: ofNodes } = this.#options.informers;
    const barrier = [
      this.#follow(services, SERVICES, events),
      this.#follow(endpointSlices, ENDPOINT_SLICES, events),
    ];
    this.#follow(ofNodes, nodes(), events);
    await Promise.all(barrier);
    if (!this.#end.signal.aborted) events.synced();
  }

  stop(): void {
    this.#end.abort();
  }

  /** Follows one informer until the end. Resolves once its list has been reported. */
  async #follow(informer: ObjectInformer, resource: Resource, events: SourceEvents): Promise<void> {
    // Calls never come from within the caller of `start`.
    await Promise.resolve();
    const { signal } = this.#end;
    if (signal.aborted) return;
    const known = new KnownObjects(resource, this.#interning, events);
    const { apiVersion, kind } = resource;
    const raw = (model: InformedObject): Untyped => ({
      ...model,
      apiVersion: model.apiVersion ?? apiVersion,
      kind: model.kind ?? kind,
    });
    const report = (changes: readonly ObjectChange[]) => {
      if (changes.length > 0) events.changed(changes);
    };
    const set = (model: InformedObject) => {
      const change = known.changed(raw(model));
      if (change) report([change]);
    };
    const deleted = (model: InformedObject) => report(known.deleted(raw(model)));
    informer.on('add', set);
    informer.on('update', set);
    informer.on('delete', deleted);
    signal.addEventListener('abort', () => {
      informer.off('add', set);
      informer.off('update', set);
      informer.off('delete', deleted);
    });
    await this.#keepRunning(informer, resource);
  }

  /** Starts an informer, and again after each error, until the end. Resolves once it has listed, or at the end. */
  #keepRunning(informer: ObjectInformer, { name: resource }: Resource): Promise<void> {
    const { backoff: bounds = BACKOFF, trouble } = this.#options;
    const { signal } = this.#end;
    const backoff = new Backoff(bounds, Math.random);
    return new Promise((listed) => {
      let timer: NodeJS.Timeout | undefined;
      const failed = (thrown: unknown) => {
        // One failure may be reported twice: by the watch, and by the start that opened it.
        if (timer || signal.aborted) return;
        const retryIn = backoff.next();
        timer = setTimeout(start, retryIn);
        trouble({ resource, error: asApiError(thrown, `informer of ${resource}`), retryIn });
      };
      const start = async () => {
        timer = undefined;
        try {
          await informer.start();
        } catch (error) {
          failed(error);
        }
        // A stop while the watch was being opened had no effect on it.
        if (signal.aborted) void informer.stop();
        // The start of an informer whose list fails resolves, after it has reported the error.
        if (timer) return;
        backoff.reset();
        listed();
      };
      informer.on('error', failed);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        informer.off('error', failed);
        void informer.stop();
        listed();
      });
      void start();
    });
  }
}
