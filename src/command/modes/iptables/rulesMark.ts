// A mark of all rules of iptables that changes with them, where the kernel has one: the generation of the ruleset of nf_tables.
import { basename } from 'node:path';
import type { Nftables } from '../../../kernel/nftables/types.js';
import { programFile } from '../../../kernel/shared/programs/program.js';

/** The file behind all programs of iptables with the backend nf_tables. */
const NF_TABLES = 'xtables-nft-multi';

type Opened = Pick<Nftables, 'generation' | 'close'>;

/** Reads marks until closed. */
export class RulesMark {
  readonly #open: () => Promise<Opened>;
  readonly #fileOf: (program: string) => Promise<string | undefined>;
  #nftables: Promise<Opened> | undefined;

  /** @param open for tests; by default, nf_tables of this process's network namespace */
  constructor(
    open: () => Promise<Opened> = async () =>
      (await import('../../../kernel/nftables/open.js')).openNftables(),
    fileOf = programFile,
  ) {
    this.#open = open;
    this.#fileOf = fileOf;
  }

  /**
   * The mark; undefined if the rules are in the tables of iptables-legacy, which count no changes, or if a family has a program of which this is not
   * known. Rejects with a NetlinkError.
   */
  async read(): Promise<string | undefined> {
    for (const program of ['iptables-save', 'ip6tables-save']) {
      const file = await this.#fileOf(program);
      if (file === undefined || basename(file) !== NF_TABLES) return undefined;
    }
    // Audits and the looks for flushed tables read it at the same time.
    this.#nftables ??= this.#open().catch((error) => {
      this.#nftables = undefined;
      throw error;
    });
    return String((await (await this.#nftables).generation()).id);
  }

  close(): void {
    this.#nftables?.then((nftables) => nftables.close()).catch(() => {});
  }
}
