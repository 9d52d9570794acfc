// What services and top list: the virtual services of IPVS, or the frontends in the rules of a mode.
import type { Sample } from './sample.js';
import type { TableOptions } from './table.js';
import type { Order } from './topScreen.js';

/** A listing under the names of Services. */
export interface InventoryReport {
  /** Number of listed frontends. */
  readonly size: number;
  /** The result for `json` and `yaml`: plain values. */
  readonly result: object;
  /** The first line of top: sums of the list, and its order. */
  readonly title: string;
  /** The lines of the table. */
  lines(options: TableOptions): string[];
}

/** A kind of listing. */
export interface Inventory<Listing> {
  /** The name of what is listed, in the singular: `virtual service`. */
  readonly what: string;
  /** The orders that the listing has. */
  readonly orders: readonly Order[];
  /** Reads the kernel. */
  list(): Promise<Listing>;
  report(sample: Sample<Listing>, order: Order): InventoryReport;
}
