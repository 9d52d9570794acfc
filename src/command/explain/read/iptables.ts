// Explains packets in iptables mode: reads the state on which their path depends. Changes nothing.

import { familyOf } from '../../../kernel/net/address.js';
import type { IptablesOptions } from '../../../proxy/modes/iptables/plan/options.js';
import { ROUTE_LOCALNET } from '../../../proxy/modes/iptables/plan/planNode.js';
import { openProcNet } from '../../kernel/procNet/index.js';
import { openWithOptions } from '../../modes/iptables/open.js';
import type { ModeSettings } from '../../modes/shared/definition.js';
import type { Explainer, Explanation, PacketQuestion } from '../explanation.js';
import { explainPacket } from '../iptables/explainPacket.js';
import { type PathKernel, readPathFacts } from './facts.js';
import { openChainReader } from './foreignChains.js';

/** Opens the kernel. Rejects with the NetlinkError of the part that cannot be opened. */
export async function open(settings: ModeSettings): Promise<Explainer> {
  const { kernel, options } = await openWithOptions(settings);
  const nftables = await openChainReader();
  const read = { ...kernel, procNet: openProcNet(), ...(nftables && { nftables }) };
  return {
    explain: (question) => explain(read, options, question),
    close: () => {
      kernel.close();
      void nftables?.close();
    },
  };
}

/** Explains a packet, as {@link Explainer.explain}. */
export async function explain(
  kernel: PathKernel,
  options: IptablesOptions,
  question: PacketQuestion,
): Promise<Explanation> {
  const facts = await readPathFacts(kernel, familyOf(question.address), [ROUTE_LOCALNET]);
  return explainPacket(facts, question, options);
}
