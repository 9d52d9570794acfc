// Shrinks a failing history: fewer steps, then simpler and sooner ones, as long as it still fails.
import type { EndpointSpec, Event, History, ServiceSpec, Step } from './history.js';

/** Whether a history still shows the violation. */
export type Fails = (history: History) => boolean | Promise<boolean>;

/**
 * The shortest history that was found to fail; undefined if the given one holds when it is played again. What fails by chance cannot be
 * shrunk: each attempt would hold, by chance too.
 *
 * @param tries the most histories that are tried
 */
export async function shrink(history: History, fails: Fails, tries = 400): Promise<History | undefined> {
  if (!(await fails(history))) return undefined;
  let best = history;
  let left = tries - 1;
  const attempt = async (steps: readonly Step[]): Promise<boolean> => {
    if (left <= 0) return false;
    left--;
    const candidate = { ...history, steps };
    if (!(await fails(candidate))) return false;
    best = candidate;
    return true;
  };
  for (let before = -1; before !== weightOf(best) && left > 0; ) {
    before = weightOf(best);
    await removeSteps(() => best.steps, attempt);
    await simplifySteps(() => best.steps, attempt);
  }
  return best;
}

type Attempt = (steps: readonly Step[]) => Promise<boolean>;

/** Removes half of the steps, then a quarter, and at last single ones. */
async function removeSteps(steps: () => readonly Step[], attempt: Attempt): Promise<void> {
  for (let size = Math.ceil(steps().length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = steps().length - size; at > -size; at -= size) {
      const from = Math.max(0, at);
      if (steps().length > 0) await removeRange(steps(), from, Math.min(size, size + at), attempt);
    }
  }
}

/** Removes a range of steps. The step after it comes at its time, or else as soon after the one before. */
async function removeRange(
  steps: readonly Step[],
  from: number,
  size: number,
  attempt: Attempt,
): Promise<void> {
  const rest = [...steps.slice(0, from), ...steps.slice(from + size)];
  if (rest.length === steps.length || (await attempt(rest))) return;
  const next = steps[from + size];
  if (!next) return;
  const time = steps.slice(from, from + size).reduce((sum, { after }) => sum + after, 0);
  await attempt([...rest.slice(0, from), { ...next, after: next.after + time }, ...rest.slice(from + 1)]);
}

async function simplifySteps(steps: () => readonly Step[], attempt: Attempt): Promise<void> {
  for (let i = 0; i < steps().length; i++) {
    let simpler = true;
    while (simpler) {
      simpler = false;
      for (const step of simplerSteps(steps()[i] as Step)) {
        simpler = await attempt(steps().with(i, step));
        if (simpler) break;
      }
    }
  }
}

/** Simpler forms of a step. Each has a smaller weight, so that this ends. */
function simplerSteps(step: Step): Step[] {
  const times = step.after >= 10 ? [0, Math.floor(step.after / 2)] : [];
  return [
    ...simplerEvents(step.event).map((event) => ({ ...step, event })),
    ...times.map((after) => ({ ...step, after })),
  ];
}

function simplerEvents(event: Event): Event[] {
  if (event.do === 'setService') return simplerSpecs(event.spec).map((spec) => ({ ...event, spec }));
  if (event.do === 'setEndpoints')
    return simplerLists(event.endpoints).map((endpoints) => ({ ...event, endpoints }));
  return [];
}

function simplerSpecs(spec: ServiceSpec): ServiceSpec[] {
  const without = <K extends keyof ServiceSpec>(field: K, value: ServiceSpec[K]) =>
    spec[field] === value ? [] : [{ ...spec, [field]: value }];
  return [
    ...without('affinity', 0),
    ...without('ranges', false),
    ...without('loadBalancer', false),
    ...without('externalIP', false),
    ...without('nodePort', false),
    ...without('internalPolicy', 'Cluster'),
    ...without('externalPolicy', 'Cluster'),
    ...(spec.families.length > 1 ? spec.families.map((family) => ({ ...spec, families: [family] })) : []),
    ...(spec.protocols.length > 1
      ? spec.protocols.map((protocol) => ({ ...spec, protocols: [protocol] }))
      : []),
  ];
}

function simplerLists(endpoints: readonly EndpointSpec[]): EndpointSpec[][] {
  const fewer = endpoints.map((_, i) => endpoints.filter((_, j) => j !== i));
  const unhinted = endpoints.map(({ hint: _, ...endpoint }) => endpoint);
  return endpoints.some(({ hint }) => hint !== undefined) ? [...fewer, unhinted] : fewer;
}

/** Less for a simpler history. */
function weightOf({ steps }: History): number {
  return steps.reduce((sum, { after, event }) => sum + 1000 + after + JSON.stringify(event).length, 0);
}
