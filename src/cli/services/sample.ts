// What rates are computed from.

/** Two listings, and the time between them in s. */
export interface Sample<Listing> {
  /** Absent: no rates were measured. */
  readonly before: Listing | undefined;
  readonly after: Listing;
  readonly interval: number;
}
