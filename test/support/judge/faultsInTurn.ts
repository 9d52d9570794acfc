// A history in which each of some faults happens, one after the other, while endpoints roll.
import {
  FAULTS,
  type FaultName,
  type History,
  type ServiceSpec,
  type Step,
} from '../../judge/core/history.js';

const SPEC: ServiceSpec = {
  ...{ number: 1, families: [4, 6], protocols: ['TCP', 'UDP'], nodePort: true, externalIP: false },
  ...{
    loadBalancer: false,
    internalPolicy: 'Cluster',
    externalPolicy: 'Cluster',
    affinity: 0,
    ranges: false,
  },
};
/** The time of a fault, and that until the next one, in ms. */
const LASTS = 2_000;
const PAUSE = 3_000;

/** Faults that begin and end at the API server, and the change of the mode. */
export const OUTER_FAULTS = (Object.keys(FAULTS) as FaultName[]).filter(
  (fault) => fault.startsWith('server') || fault === 'modeChanged',
);

/** The history: during each fault, one endpoint leaves and another comes. */
export function faultsInTurn(faults: readonly FaultName[]): History {
  const first: Step[] = [
    { after: 0, event: { do: 'setService', service: 'alpha', spec: SPEC } },
    { after: 0, event: endpoints(0) },
    // Longer than the time to which `serverOlder` goes back, so that it has endpoints of the history.
    { after: PAUSE, event: endpoints(1) },
  ];
  const turns = faults.flatMap((fault, i): Step[] => [
    { after: LASTS / 2, event: { do: 'fault', fault, lasts: LASTS } },
    { after: LASTS / 2, event: endpoints(i + 2) },
    { after: PAUSE, event: endpoints(i + 3) },
  ]);
  return { seed: 0, steps: [...first, ...turns] };
}

function endpoints(turn: number): Step['event'] {
  const pods = [turn % 4, (turn + 1) % 4].map((number) => `pod-${number}`);
  const list = pods.map((pod) => ({ pod, condition: 'ready' as const }));
  return { do: 'setEndpoints', service: 'alpha', endpoints: list };
}
