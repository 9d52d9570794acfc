// The command services: the virtual services of this node, under the names of their Services.
import { setTimeout as wait } from 'node:timers/promises';
import { type Ipvs, openIpvs } from '../../kernel/ipvs/index.js';
import { AnswerLimit } from '../answerLimit.js';
import type { CommandRunner } from '../command.js';
import { type Output, writeReport } from '../output/output.js';
import { count } from '../summary.js';
import type { ServiceNames } from './names.js';
import { type ReadNames, readNames } from './readNames.js';
import { servicesReport } from './report.js';
import { matching, serviceLines } from './table.js';
import { requireVirtualServices } from './virtualServices.js';

/** `services`. */
export const runServices: CommandRunner = async ({ args, options, flags, output }) => {
  await requireVirtualServices(flags);
  const read = await readNames(flags, new AnswerLimit(Number(options['timeout'])));
  noteNames(read, output);
  const ipvs = await openIpvs();
  try {
    await printServices({
      ipvs,
      names: read.names,
      texts: args,
      interval: Number(options['interval']),
      output,
    });
  } finally {
    await ipvs.close();
  }
  return 0;
};

/** Writes to standard error why there are no names, and that some may be missing. */
export function noteNames({ names, problems }: ReadNames, output: Output): void {
  if (names.origin.reason !== undefined) output.note(`names of Services are unknown: ${names.origin.reason}`);
  if (problems > 0) {
    const found = count(problems, 'problem');
    output.note(`some names may be missing: the objects have ${found}, see kube-netlink-proxy check`);
  }
}

/** The parts of the list. */
export interface ServicesParts {
  readonly ipvs: Pick<Ipvs, 'list'>;
  readonly names: ServiceNames;
  /** Show only virtual services that have one of these texts; none: all. */
  readonly texts: readonly string[];
  /** Time over which rates are measured, in s; 0 for the kernel's estimates. */
  readonly interval: number;
  readonly output: Output;
}

/** Lists the virtual services, twice if rates are measured, and prints them. */
export async function printServices({ ipvs, names, texts, interval, output }: ServicesParts): Promise<void> {
  const start = performance.now();
  const before = interval > 0 ? await ipvs.list() : undefined;
  if (before) await wait(interval * 1000);
  const measured = (performance.now() - start) / 1000;
  const report = servicesReport({ before, after: await ipvs.list(), interval: measured }, names);
  const virtualServices = matching(report.virtualServices, texts);
  writeReport(output, { ...report, virtualServices }, (wide) => {
    if (virtualServices.length > 0) {
      return serviceLines(virtualServices, { wide, realServers: true, style: output.style });
    }
    return [
      texts.length > 0 ? 'no virtual service has such a name or address' : 'there are no virtual services',
    ];
  });
}
