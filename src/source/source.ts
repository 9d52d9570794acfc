// Sources of objects. A source reports changes, and once that it has reported everything that there was at the start.
import type { Problem } from '../errors.js';
import type { ObjectChange } from '../objects/types.js';

/** Reports of a source. Calls follow one another, never from within `start`'s caller. */
export interface SourceEvents {
  /** Objects that appeared, changed or went. */
  changed(changes: readonly ObjectChange[]): void;
  /** Everything that existed at the start was reported; called once. Nothing may be removed from the kernel before. */
  synced(): void;
  /**
   * Not everything can be read: names of what cannot, whenever they change; none once everything can. Meanwhile what is
   * missing may only be unread, and no object is reported as deleted.
   */
  incomplete?(unread: readonly string[]): void;
  /** Data that cannot be used, each problem once for as long as it stands; everything else is used. */
  problems(problems: readonly Problem[]): void;
  /** Problems, as they were reported, that stand no more: the object was put right, or is gone. */
  mended?(problems: readonly Problem[]): void;
}

/** A supply of objects. */
export interface Source {
  /** Reads everything there is, reports it, and follows changes from then on, unless it is made not to. */
  start(events: SourceEvents): Promise<void>;
  /** Follows no more. */
  stop(): void;
}
