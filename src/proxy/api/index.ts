// Objects from Kubernetes for createProxy: kube-netlink-proxy/kubernetes.

export type { BackoffBounds } from '../backoff.js';
export {
  ApiSource,
  type ApiSourceOptions,
  type ApiTrouble,
  type KubeConfigSourceOptions,
} from './apiSource.js';
export { ApiClient, type ApiClientOptions, type ApiTimeouts, type ListPage, type Query } from './client.js';
export {
  type ApiConnection,
  type ConnectionOptions,
  type Credentials,
  connectToApi,
  type TlsOptions,
} from './connection.js';
export type { ContactState, ResourceContact } from './contact.js';
export { ApiError, type ApiErrorFacts } from './error.js';
export type { KubeConfigParts } from './kubeConfigConnection.js';
export type { NodeCondition } from './nodeFeed.js';
export { RATE } from './rateLimit.js';
export type { ReflectorTimes } from './reflector.js';
export type { Resource } from './resources.js';
export type { Pauses } from './retryPace.js';
export type { CheckTimes } from './versionCheck.js';
