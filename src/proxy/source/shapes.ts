// The checks of what sources report to.
import { FUNCTION, optional, partOf, type Shape } from '../../kernel/shapes.js';
import type { SourceEvents } from './source.js';

/** The check of the receiver of a source's reports. */
export const SOURCE_EVENTS = partOf({
  changed: FUNCTION,
  problems: FUNCTION,
  synced: FUNCTION,
  incomplete: optional(FUNCTION),
  mended: optional(FUNCTION),
} satisfies Shape<SourceEvents>);
