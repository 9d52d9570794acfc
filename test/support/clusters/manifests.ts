// Short manifests for tests.

/** The Node node-a, whose node IP and pod network these are. */
export const NODE = `apiVersion: v1
kind: Node
metadata: {name: node-a, uid: 8d9c}
spec: {podCIDRs: [10.244.1.0/24]}
status: {addresses: [{type: InternalIP, address: 192.168.50.10}]}
---
`;

/** A Service in namespace demo with one TCP port 80; `extra` is YAML at the level of spec's fields. */
export const service = (name: string, ip: string, extra = '') => `
apiVersion: v1
kind: Service
metadata: {namespace: demo, name: ${name}}
spec:
  clusterIP: ${ip}
  ports: [{port: 80}]
${extra}
---
`;

/** Its EndpointSlice, port 8080. An endpoint is an address, or an address and conditions: `10.0.0.1 terminating`. */
export const slice = (name: string, ...endpoints: string[]) => `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {namespace: demo, name: ${name}, labels: {kubernetes.io/service-name: ${name}}}
addressType: IPv4
ports: [{port: 8080}]
endpoints: [${endpoints.map(endpoint).join(', ')}]
---
`;

const CONDITIONS: Readonly<Record<string, string>> = {
  '': '{}',
  terminating: '{ready: false, serving: true, terminating: true}',
  unready: '{ready: false, serving: false}',
};

function endpoint(text: string): string {
  const [address, state = ''] = text.split(' ');
  return `{addresses: [${address}], conditions: ${CONDITIONS[state]}}`;
}

/** A host with one address, and the default configuration. */
export const HOST = {
  configuration: {},
  interfaces: [{ link: 'eth0', address: '192.168.50.10', prefix: 24 }],
};
