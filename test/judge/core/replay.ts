// A history as a file, which replays it.
import {
  CONDITIONS,
  type Condition,
  type EndpointSpec,
  type Event,
  FAULTS,
  type FaultName,
  type History,
  POLICIES,
  type Policy,
  PROTOCOLS,
  type Protocol,
  type ServiceSpec,
  type Step,
} from './history.js';
import type { Recording } from './observations.js';
import { FAMILIES, type Family, PODS, ZONES, type Zone } from './world.js';

/** The text of a replay file: one line for each step. */
export function replayText({ seed, steps }: History): string {
  const lines = steps.map((step) => `    ${JSON.stringify(step)}`);
  return `{\n  "seed": ${seed},\n  "steps": [\n${lines.join(',\n')}\n  ]\n}\n`;
}

/** All that happened in a run of a history, as JSON for programs: one line for each change, fault, wait and request. */
export function recordingText({ history, ended, ...lists }: Recording): string {
  const { changes, faults, waits = [], observations } = lists;
  const fields = Object.entries({ changes, faults, waits, observations }).map(([name, list]) => {
    return `  "${name}": [\n${list.map((one) => `    ${JSON.stringify(one)}`).join(',\n')}\n  ]`;
  });
  return `{\n  "seed": ${history.seed},\n  "ended": ${ended},\n${fields.join(',\n')}\n}\n`;
}

/** The history of a replay file. An error names the field and its rule: `steps[2].event.service: must be a name`. */
export function parseReplay(text: string): History {
  const root = new Field('', JSON.parse(text));
  return { seed: root.at('seed').integer(0, 2 ** 32), steps: root.at('steps').list(parseStep) };
}

function parseStep(step: Field): Step {
  return { after: step.at('after').integer(0, 3_600_000), event: parseEvent(step.at('event')) };
}

function parseEvent(event: Field): Event {
  const kind = event
    .at('do')
    .oneOf(['setService', 'deleteService', 'setEndpoints', 'deleteEndpoints', 'setNode', 'fault'] as const);
  if (kind === 'setNode') return { do: kind, zone: event.at('zone').oneOf<Zone | ''>([...ZONES, '']) };
  if (kind === 'fault') {
    const fault = event.at('fault').oneOf(Object.keys(FAULTS) as FaultName[]);
    return { do: kind, fault, lasts: event.at('lasts').integer(0, 3_600_000) };
  }
  const service = event.at('service').name();
  if (kind === 'setService') return { do: kind, service, spec: parseSpec(event.at('spec')) };
  if (kind === 'setEndpoints')
    return { do: kind, service, endpoints: event.at('endpoints').list(parseEndpoint) };
  return { do: kind, service };
}

function parseSpec(spec: Field): ServiceSpec {
  return {
    number: spec.at('number').integer(1, 60),
    families: spec.at('families').list((field) => field.oneOf<Family>(FAMILIES), 1),
    protocols: spec.at('protocols').list((field) => field.oneOf<Protocol>(PROTOCOLS), 1),
    nodePort: spec.at('nodePort').truth(),
    externalIP: spec.at('externalIP').truth(),
    loadBalancer: spec.at('loadBalancer').truth(),
    internalPolicy: spec.at('internalPolicy').oneOf<Policy>(POLICIES),
    externalPolicy: spec.at('externalPolicy').oneOf<Policy>(POLICIES),
    affinity: spec.at('affinity').integer(0, 86_400),
    ranges: spec.at('ranges').truth(),
  };
}

function parseEndpoint(endpoint: Field): EndpointSpec {
  const pod = endpoint.at('pod').oneOf(PODS.map(({ name }) => name));
  const condition = endpoint.at('condition').oneOf<Condition>(CONDITIONS);
  const hint = endpoint.at('hint');
  return { pod, condition, ...(hint.value === undefined ? {} : { hint: hint.oneOf<Zone>(ZONES) }) };
}

/** A value in the file, and its path. */
class Field {
  readonly path: string;
  readonly value: unknown;

  constructor(path: string, value: unknown) {
    this.path = path;
    this.value = value;
  }

  at(name: string): Field {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.#wrong('an object');
    const path = this.path === '' ? name : `${this.path}.${name}`;
    return new Field(path, (value as Record<string, unknown>)[name]);
  }

  list<T>(parse: (field: Field) => T, least = 0): T[] {
    const { value } = this;
    if (!Array.isArray(value) || value.length < least) {
      throw this.#wrong(least === 0 ? 'a list' : 'a list with a value');
    }
    return value.map((one, i) => parse(new Field(`${this.path}[${i}]`, one)));
  }

  integer(least: number, most: number): number {
    const { value } = this;
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
      throw this.#wrong(`an integer from ${least} to ${most}`);
    }
    return value as number;
  }

  oneOf<T extends string | number>(values: readonly T[]): T {
    const found = values.find((value) => value === this.value);
    if (found === undefined)
      throw this.#wrong(`one of ${values.map((value) => JSON.stringify(value)).join(', ')}`);
    return found;
  }

  truth(): boolean {
    if (typeof this.value !== 'boolean') throw this.#wrong('true or false');
    return this.value;
  }

  name(): string {
    const { value } = this;
    if (typeof value !== 'string' || !/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(value)) {
      throw this.#wrong('the name of a Service');
    }
    return value;
  }

  #wrong(rule: string): Error {
    return new Error(`${this.path || 'the file'}: must be ${rule}, and is ${JSON.stringify(this.value)}`);
  }
}
