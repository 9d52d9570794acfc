// The modes in which a fault can be made.
import { FAULTS, type FaultName } from '../core/history.js';
import { type JudgedMode, MODES } from './vandalism.js';

const IPTABLES: readonly JudgedMode[] = ['iptables', 'ipvs'];
/** The machine of ipvs mode, User Mode Linux, is the only one whose clock and limits are the run's own. */
const OWN_KERNEL: readonly JudgedMode[] = ['ipvs'];

const SOME: Readonly<Partial<Record<FaultName, readonly JudgedMode[]>>> = {
  setsFlushed: ['nftables', 'ipvs'],
  setsDestroyed: ['ipvs'],
  virtualServicesDeleted: ['ipvs'],
  addressesDeleted: ['ipvs'],
  conntrackSmall: OWN_KERNEL,
  clockStepped: OWN_KERNEL,
  restoreFails: IPTABLES,
  locksHeld: IPTABLES,
};

/** The faults that can be made in a mode. */
export function faultsOf(mode: JudgedMode): FaultName[] {
  return (Object.keys(FAULTS) as FaultName[]).filter((fault) => (SOME[fault] ?? MODES).includes(mode));
}
