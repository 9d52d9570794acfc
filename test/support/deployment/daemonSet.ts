// The parts of a DaemonSet that tests use, read from YAML.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../paths.js';

/** A container of a pod. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly valueFrom: { readonly fieldRef: { fieldPath: string } };
  }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>;
    readonly limits?: Readonly<Record<string, string>>;
  };
  readonly securityContext: {
    readonly privileged?: boolean;
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly seccompProfile?: { readonly type: string; readonly localhostProfile?: string };
    readonly appArmorProfile?: { readonly type: string; readonly localhostProfile?: string };
    readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
  };
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly initialDelaySeconds?: number;
}

/** A volume: files of a ConfigMap, or a file or folder of the node. */
export interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
  readonly hostPath?: { readonly path: string; readonly type?: string };
}

/** A pod's specification. */
export interface PodSpec {
  readonly serviceAccountName: string;
  readonly priorityClassName: string;
  readonly hostNetwork: boolean;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly tolerations: readonly object[];
  readonly initContainers?: readonly Container[];
  readonly containers: readonly [Container, ...Container[]];
  readonly volumes: readonly Volume[];
}

/** A DaemonSet. */
export interface DaemonSet {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly updateStrategy: { readonly type: string };
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: PodSpec;
    };
  };
}

/** The only document of a file of deploy/. */
export function readDeployed<Document>(path: string): Document {
  return parse(readFileSync(join(ROOT, 'deploy', path), 'utf8')) as Document;
}

/** All documents of a file of deploy/. */
export function readAllDeployed<Document>(path: string): Document[] {
  const documents = parseAllDocuments(readFileSync(join(ROOT, 'deploy', path), 'utf8'));
  return documents.map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return document.toJS() as Document;
  });
}

/**
 * Applies a strategic merge patch to a pod's specification, with the features that our patches use: lists of
 * containers, volumes and variables merge by name, and mounts by path; objects merge by field; null removes a field;
 * other values are replaced; `$patch: delete` removes an item of a list.
 */
export function patched<Value>(base: Value, patch: unknown): Value {
  return merge(base, patch) as Value;
}

const LIST_KEYS = ['mountPath', 'name'];

function merge(base: unknown, patch: unknown): unknown {
  if (isList(base) && isList(patch)) return mergeLists(base, patch);
  if (!isObject(base) || !isObject(patch)) return patch;
  const merged = { ...base };
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = field in base ? merge(base[field], value) : value;
  }
  return merged;
}

function mergeLists(base: readonly unknown[], patch: readonly unknown[]): readonly unknown[] {
  const key = LIST_KEYS.find((name) => patch.every((item) => isObject(item) && name in item));
  if (key === undefined) return patch;
  const same = (one: unknown, other: unknown) => (one as Fields)[key] === (other as Fields)[key];
  const deleted = (item: unknown) => (item as Fields | undefined)?.['$patch'] === 'delete';
  return [
    ...patch.filter((item) => !base.some((old) => same(old, item))),
    ...base.flatMap((old) => {
      const item = patch.find((item) => same(old, item));
      return deleted(item) ? [] : [merge(old, item ?? {})];
    }),
  ];
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
