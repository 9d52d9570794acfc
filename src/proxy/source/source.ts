// Sources of objects. A source reports changes, and once that all objects of the start have been reported.
import type { Problem } from '../../kernel/errors.js';
import type { ObjectChange } from '../objects/types.js';

/** Reports of a source. Calls follow one another, never from within `start`'s caller. */
export interface SourceEvents {
  /** Objects that were added, changed or deleted. */
  changed(changes: readonly ObjectChange[]): void;
  /** All objects that existed at the start have been reported; called once. Nothing may be removed from the kernel before. */
  synced(): void;
  /**
   * Names of the files that cannot be read, whenever they change; none once all are readable and their objects have been
   * reported. Meanwhile a missing object may be in one of these files, and no object is reported as deleted.
   */
  incomplete?(unread: readonly string[]): void;
  /** Data that is unusable, each problem once until it is solved; all other data is used. */
  problems(problems: readonly Problem[]): void;
  /** Problems that were reported and are solved: the object was corrected or deleted. */
  mended?(problems: readonly Problem[]): void;
}

/** A source of objects. */
export interface Source {
  /** Reads and reports all objects, and then every change, unless the source was made not to follow. */
  start(events: SourceEvents): Promise<void>;
  /** Ends the reports. */
  stop(): void;
}
