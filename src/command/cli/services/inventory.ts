// What services and top list: the virtual services of IPVS, or the frontends in the rules of a mode.
import { count } from '../summary.js';
import { type ServiceNameParts, serviceName } from './names.js';
import type { Sample } from './report.js';
import type { TableOptions } from './table.js';
import { ORDERS, type Order, TITLES } from './topScreen.js';

/** A listing under the names of Services. */
interface InventoryReport {
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

/** What a kind of listing has of its own. */
export interface InventoryKind<Listing, Row extends ServiceNameParts, Field extends string>
  extends Pick<Inventory<Listing>, 'what' | 'list'> {
  /** The field of its report that has the rows, by name. */
  readonly field: Field;
  report(sample: Sample<Listing>): { readonly [name in Field]: readonly Row[] };
  addressOf(row: Row): string;
  /** The numbers of the orders other than that by name: the largest is first. */
  readonly orders: { readonly [order in Order]?: (row: Row) => number };
  /** Sums of rows, for the first line of top. */
  sums(rows: readonly Row[]): readonly string[];
  lines(rows: readonly Row[], options: TableOptions): string[];
}

/**
 * The inventory of a kind.
 *
 * @param texts show only rows that have one of these texts in their name or address; none: all
 */
export function inventoryOf<Listing, Row extends ServiceNameParts, Field extends string>(
  kind: InventoryKind<Listing, Row, Field>,
  texts: readonly string[],
): Inventory<Listing> {
  const { what, field, orders, list } = kind;
  return {
    what,
    orders: ORDERS.filter((order) => order === 'name' || order in orders),
    list,
    report(sample, order) {
      const report = kind.report(sample);
      const found = matching(report[field], texts, kind.addressOf);
      const number = orders[order];
      // Equal rows keep their order, by name.
      const rows = number ? found.toSorted((a, b) => number(b) - number(a)) : found;
      return {
        size: rows.length,
        result: { ...report, [field]: rows },
        title: titleOf(kind, rows, order),
        lines: (options) => kind.lines(rows, options),
      };
    },
  };
}

/** The rows that have one of the texts in their name or address; all, if there is no text. */
export function matching<Row extends ServiceNameParts>(
  rows: readonly Row[],
  texts: readonly string[],
  addressOf: (row: Row) => string,
): readonly Row[] {
  if (texts.length === 0) return rows;
  return rows.filter((row) => {
    const shown = `${serviceName(row)} ${addressOf(row)}`;
    return texts.some((text) => shown.includes(text));
  });
}

/** The first line of top: sums of the list, and its order. */
function titleOf<Row extends ServiceNameParts>(
  { what, sums }: Pick<InventoryKind<unknown, Row, string>, 'what' | 'sums'>,
  rows: readonly Row[],
  order: Order,
): string {
  const names = new Set(rows.map(serviceName).filter(Boolean)).size;
  const listed = `${count(rows.length, what)} of ${count(names, 'Service port')}`;
  return `${[listed, ...sums(rows)].join(', ')}; by ${TITLES[order]}`;
}

/** The sum of a number of each row. */
export function sumOf<Row>(rows: readonly Row[], number: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + number(row), 0);
}
