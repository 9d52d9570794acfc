// The validation of a new event of events.k8s.io/v1 in kube-apiserver: ValidateEventCreate in
// pkg/apis/core/validation/events.go.

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** The rules that a new event in a namespace breaks. */
export function faultsOfEvent(text: string, namespace: string): string[] {
  const event = JSON.parse(text) as Record<string, unknown>;
  const metadata = event['metadata'] as Record<string, string>;
  const regarding = event['regarding'] as Record<string, string>;
  const within = (field: string, most: number, least = 1) => {
    const length = Buffer.byteLength(String(event[field] ?? ''));
    return length >= least && length <= most;
  };
  const rules: [rule: string, kept: boolean][] = [
    ['apiVersion', event['apiVersion'] === 'events.k8s.io/v1' && event['kind'] === 'Event'],
    ['metadata.name', SUBDOMAIN.test(String(metadata['name'])) && String(metadata['name']).length <= 253],
    ['metadata.namespace', metadata['namespace'] === namespace],
    [
      'regarding.namespace',
      regarding['namespace'] === undefined
        ? ['default', 'kube-system'].includes(namespace)
        : regarding['namespace'] === namespace,
    ],
    ['eventTime', MICRO_TIME.test(String(event['eventTime']))],
    ['reportingController', within('reportingController', 63)],
    ['reportingInstance', within('reportingInstance', 128)],
    ['action', within('action', 128)],
    ['reason', within('reason', 128)],
    ['note', within('note', 1024, 0)],
    ['type', ['Normal', 'Warning'].includes(String(event['type']))],
    ['no deprecated field', !Object.keys(event).some((field) => field.startsWith('deprecated'))],
  ];
  return rules.filter(([, kept]) => !kept).map(([rule]) => rule);
}
