// Objects from Kubernetes for createProxy: kube-netlink-proxy/kubernetes.
export {
  ApiSource,
  type ApiSourceOptions,
  type ApiTrouble,
  type KubeConfigSourceOptions,
} from './apiSource.js';
export { ApiClient, type ApiClientOptions } from './client.js';
export { type ApiConnection, type ConnectionOptions, connectToApi } from './connection.js';
export { ApiError } from './error.js';
export { InformerSource, type InformerSourceOptions } from './informerSource.js';
export type { KubeConfigParts } from './kubeConfigConnection.js';
