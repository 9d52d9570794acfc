// Verdicts ↔ their codes: NF_DROP, NF_ACCEPT (include/uapi/linux/netfilter.h) and `enum nft_verdicts`, as 32 bits.
import type { Verdict } from './types.js';

const CODES: Readonly<Record<Verdict['verdict'], number>> = {
  drop: 0,
  accept: 1,
  continue: 0xffff_ffff,
  break: 0xffff_fffe,
  jump: 0xffff_fffd,
  goto: 0xffff_fffc,
  return: 0xffff_fffb,
};
const NAMES: ReadonlyMap<number, Verdict['verdict']> = new Map(
  Object.entries(CODES).map(([name, code]) => [code, name as Verdict['verdict']]),
);

/** The names of all verdicts. */
export const VERDICTS: readonly Verdict['verdict'][] = [...NAMES.values()];

/** The code of a verdict; undefined if there is no such verdict. */
export function codeOfVerdict(verdict: unknown): number | undefined {
  return typeof verdict === 'string' && Object.hasOwn(CODES, verdict)
    ? CODES[verdict as Verdict['verdict']]
    : undefined;
}

/** The verdict with this code; undefined for any other, and if one with a chain has none. */
export function verdictOfCode(code: number, chain: string | undefined): Verdict | undefined {
  const verdict = NAMES.get(code);
  if (verdict === undefined) return undefined;
  if (verdict !== 'jump' && verdict !== 'goto') return { verdict };
  return chain === undefined ? undefined : { verdict, chain };
}
