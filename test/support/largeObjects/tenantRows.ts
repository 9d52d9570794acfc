// The lists of a tenant in the tests of agents, with their lengths.

/** Parts of each list: as many as the API accepts, or 1 MB of JSON. */
export const TENANT_ROWS: Readonly<Record<string, number>> = {
  ports: 20_000,
  'nil ports': 20_000,
  externalIPs: 20_000,
  'externalIPs of four ports': 20_000,
  'contested externalIPs, the winner first': 20_000,
  'contested externalIPs, the winner last': 20_000,
  'equal externalIPs': 20_000,
  'load-balancer ingress': 20_000,
  'source ranges': 20_000,
  endpoints: 20_000,
  'endpoints with long names and hints': 20_000,
  'slices of one Service': 10_000,
  labels: 20_000,
  annotations: 20_000,
  managedFields: 20_000,
};

/** The largest objects that the API server stores (1.5 MB), and that the proxy programs (100 000 frontends). */
export const LARGEST_ROWS: Readonly<Record<string, number>> = {
  ports: 50_000,
  externalIPs: 99_000,
  'contested externalIPs, the winner last': 99_000,
  'load-balancer ingress': 75_000,
  'source ranges': 90_000,
};
